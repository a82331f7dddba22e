"""What the processes of a trial did: facts only, no judgement."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.limits import LimitMet
from whet.core.observations.evidence import Evidence
from whet.core.observations.resources import ResourceUse
from whet.core.output import NO_OUTPUT, Output
from whet.core.text.record import (
    JsonObject,
    boolean,
    integer,
    number,
    number_map,
    optional_integer,
    optional_number,
    optional_record,
    optional_text,
    record,
    records,
    text,
    texts,
)

TIMEOUT_EXIT_CODE = 124  # that of coreutils' timeout


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessExit:
    """How one process of the trial ended.

    Attributes:
        pid: its number on ``host``.
        host: where it ran.
        rank: its place in a distributed job, if it said one.
        exit_code: its exit code, or None if a signal ended it.
        signal: number of the signal that ended it, or None.
        was_left_behind: it outlived the trial's command and was killed by whet.
    """

    pid: int
    host: str
    rank: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    was_left_behind: bool = False


def _no_numbers() -> dict[str, float]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the processes of one trial did.

    Attributes:
        exit_code: exit code of the command, or None if a signal or whet's limit ended it.
        signal: number of the signal that ended the command, or None.
        timed_out: whet killed the trial because its time was up.
        interrupted: whet killed the trial because the user or a search gave it up.
        overran_output: whet killed the trial because it wrote more than its limit.
        hung_seconds: it was killed, `timed_out`, because it had written nothing for so long; or None.
        failed_reset: the reset step that failed, so that the command never ran, or None.
        wall_seconds: from the start of the command to its end; reset steps not counted.
        cpu_seconds: user and system time of the whole process tree.
        peak_rss_bytes: highest resident memory of the whole process tree seen at one moment.
        stdout: captured standard output.
        stderr: captured standard error.
        processes: how each process known to whet ended; the command first.
        measurements: numbers that the program reported, by name.
        stacks: samples of the Python stack taken before a timeout's kill, innermost frame last.
        notes: what could not be observed, in sentences.
        resumed_from: place of the frozen copy that the command ran on from, such as
            ``train.py:31``; empty if it ran from its start. Times count from there.
        looks: digest of what it looked at in its checkout (`whet.core.observations.looks`); empty: not noted.
        limits_met: limits that stood in its way.
        limited_by: how its limits were enforced, such as ``memory 64 MiB by cgroup v1``.
        failure: the classified symptom, or None.
        resources: what was used while it ran; None: too short to be looked at, or not at hand. It
            is a record beside the outcome, and no part of its JSON.
        evidence: what else was observed; kept beside the outcome, not in it.
    """

    exit_code: int | None = 0
    signal: int | None = None
    timed_out: bool = False
    interrupted: bool = False
    overran_output: bool = False
    hung_seconds: float | None = None
    failed_reset: str | None = None
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_bytes: int = 0
    stdout: Output = NO_OUTPUT
    stderr: Output = NO_OUTPUT
    processes: tuple[ProcessExit, ...] = ()
    measurements: Mapping[str, float] = field(default_factory=_no_numbers)
    stacks: tuple[tuple[Frame, ...], ...] = ()
    notes: tuple[str, ...] = ()
    resumed_from: str = ""
    looks: str = ""
    limits_met: tuple[LimitMet, ...] = ()
    limited_by: tuple[str, ...] = ()
    failure: Failure | None = None
    resources: ResourceUse | None = field(default=None, compare=False)
    evidence: tuple[Evidence, ...] = ()

    @property
    def shell_exit_code(self) -> int:
        """The exit code as a shell shows it: 128+n for a signal, 124 for whet's timeout."""
        if self.timed_out:
            return TIMEOUT_EXIT_CODE
        if self.signal is not None:
            return 128 + self.signal
        return 0 if self.exit_code is None else self.exit_code

    @property
    def signature(self) -> FailureSignature | None:
        """Which bug this outcome shows, if any."""
        return None if self.failure is None else self.failure.signature

    @property
    def failed_by(self) -> FailureKind | None:
        """The kind of failure, if any."""
        return None if self.failure is None else self.failure.kind

    def with_failure(self, failure: Failure | None) -> "Outcome":
        """Return this outcome with its symptom classified."""
        return replace(self, failure=failure)

    def to_json(self) -> dict[str, object]:
        """Return this outcome as JSON data; the captured streams stand there by digest."""
        return {
            "exit_code": self.exit_code,
            "signal": self.signal,
            "timed_out": self.timed_out,
            "interrupted": self.interrupted,
            "overran_output": self.overran_output,
            **({} if self.hung_seconds is None else {"hung_seconds": self.hung_seconds}),
            "failed_reset": self.failed_reset,
            "wall_seconds": self.wall_seconds,
            "cpu_seconds": self.cpu_seconds,
            "peak_rss_bytes": self.peak_rss_bytes,
            "stdout": {"digest": self.stdout.digest, "size_bytes": self.stdout.size_bytes},
            "stderr": {"digest": self.stderr.digest, "size_bytes": self.stderr.size_bytes},
            "processes": [_process_to_json(process) for process in self.processes],
            "measurements": dict(self.measurements),
            "stacks": [{"frames": [frame.to_json() for frame in stack]} for stack in self.stacks],
            "notes": list(self.notes),
            "resumed_from": self.resumed_from,
            **({"looks": self.looks} if self.looks else {}),
            "limits_met": [met.to_json() for met in self.limits_met],
            "limited_by": list(self.limited_by),
            "failure": None if self.failure is None else self.failure.to_json(),
        }

    @classmethod
    def from_json(cls, data: JsonObject, output_of: Callable[[str, int], Output]) -> "Outcome":
        """Return the outcome that ``to_json`` wrote.

        Args:
            data: what ``to_json`` returned.
            output_of: finds a captured stream by its digest and its size in bytes.
        """
        failure = optional_record(data, "failure")
        return cls(
            exit_code=optional_integer(data, "exit_code"),
            signal=optional_integer(data, "signal"),
            timed_out=boolean(data, "timed_out"),
            interrupted=boolean(data, "interrupted"),
            overran_output=boolean(data, "overran_output"),
            hung_seconds=optional_number(data, "hung_seconds"),
            failed_reset=optional_text(data, "failed_reset"),
            wall_seconds=number(data, "wall_seconds"),
            cpu_seconds=number(data, "cpu_seconds"),
            peak_rss_bytes=integer(data, "peak_rss_bytes"),
            stdout=_stream(record(data, "stdout"), output_of),
            stderr=_stream(record(data, "stderr"), output_of),
            processes=tuple(_process_from_json(item) for item in records(data, "processes")),
            measurements=number_map(data, "measurements"),
            stacks=tuple(
                tuple(Frame.from_json(frame) for frame in records(stack, "frames"))
                for stack in records(data, "stacks")
            ),
            notes=texts(data, "notes"),
            resumed_from=text(data, "resumed_from") if "resumed_from" in data else "",
            looks=text(data, "looks") if "looks" in data else "",
            limits_met=tuple(map(LimitMet.from_json, records(data, "limits_met")))
            if "limits_met" in data
            else (),
            limited_by=texts(data, "limited_by") if "limited_by" in data else (),
            failure=None if failure is None else Failure.from_json(failure),
        )


def _stream(data: JsonObject, output_of: Callable[[str, int], Output]) -> Output:
    return output_of(text(data, "digest"), integer(data, "size_bytes"))


def _process_to_json(process: ProcessExit) -> dict[str, object]:
    return {
        "pid": process.pid,
        "host": process.host,
        "rank": process.rank,
        "exit_code": process.exit_code,
        "signal": process.signal,
        "was_left_behind": process.was_left_behind,
    }


def _process_from_json(data: JsonObject) -> ProcessExit:
    return ProcessExit(
        pid=integer(data, "pid"),
        host=text(data, "host"),
        rank=optional_integer(data, "rank"),
        exit_code=optional_integer(data, "exit_code"),
        signal=optional_integer(data, "signal"),
        was_left_behind=boolean(data, "was_left_behind"),
    )
