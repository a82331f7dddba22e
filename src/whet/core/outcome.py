"""What the processes of a trial did: facts only, no judgement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import cast

from whet.core.failure import Failure, FailureKind, FailureSignature, Frame
from whet.core.limits import LimitMet
from whet.core.observations.evidence import Evidence
from whet.core.observations.resources import ResourceUse
from whet.core.output import NO_OUTPUT, Output
from whet.core.text.json_record import APART, Codec, Record, kept_by, sparse
from whet.core.text.record import JsonObject, integer, record, records, text
from whet.core.value_class import value_class

TIMEOUT_EXIT_CODE = 124  # that of coreutils' timeout


@value_class(kw_only=True)
class ProcessExit(Record):
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


def _needs_streams(_data: JsonObject, name: str) -> object:
    raise TypeError(f"`{name}` is stored by digest: read it with `Outcome.of_record`")


_STREAM = Codec(
    lambda stream: {
        "digest": cast("Output", stream).digest,
        "size_bytes": cast("Output", stream).size_bytes,
    },
    _needs_streams,
)
_STACKS = Codec(
    lambda stacks: [
        {"frames": [frame.to_json() for frame in stack]}
        for stack in cast("Sequence[Sequence[Frame]]", stacks)
    ],
    lambda data, name: tuple(
        tuple(Frame.from_json(frame) for frame in records(stack, "frames"))
        for stack in records(data, name)
    ),
)


@value_class(kw_only=True)
class Outcome(Record):
    """What the processes of one trial did.

    Attributes:
        exit_code: exit code of the command, or None if a signal or whet's limit ended it.
        signal: number of the signal that ended the command, or None.
        timed_out: whet killed the trial because its time was up.
        interrupted: whet killed the trial because the user or a search gave it up.
        overran_output: whet killed the trial because it wrote more than its limit.
        hung_seconds: time without output after which whet killed it (`timed_out`); or None.
        failed_reset: the reset step that failed, so that the command never ran, or None.
        wall_seconds: from the start of the command to its end; reset steps not counted.
        cpu_seconds: user and system time of the whole process tree.
        queued_seconds: how long the command's main thread was ready to run and had no processor;
            0 also where the kernel doesn't say.
        peak_rss_bytes: highest resident memory of the whole process tree seen at one moment.
        stdout: captured standard output.
        stderr: captured standard error.
        processes: how each process known to whet ended; the command first.
        measurements: numbers that the program reported, by name.
        stacks: samples of the Python stack taken before a timeout's kill, innermost frame last.
        notes: what could not be observed, in sentences.
        resumed_from: place of the frozen copy that the command ran on from, such as
            ``train.py:31``; empty if it ran from its start. Times count from there.
        looks: digest of what it looked at in its checkout (`whet.core.observations.file_accesses`); empty: not noted.
        limits_met: limits that stood in its way.
        limited_by: how its limits were enforced, such as ``memory 64 MiB by cgroup v1``.
        killed_on_request: whet killed it because the user asked for that, as `whet watch --when` does.
        filled_group: the kernel killed the command because the control group around whet was full.
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
    hung_seconds: float | None = sparse(None)
    failed_reset: str | None = None
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_bytes: int = 0
    queued_seconds: float = sparse(0.0)
    stdout: Output = kept_by(_STREAM, NO_OUTPUT)
    stderr: Output = kept_by(_STREAM, NO_OUTPUT)
    processes: tuple[ProcessExit, ...] = ()
    measurements: Mapping[str, float] = field(default_factory=dict[str, float])
    stacks: tuple[tuple[Frame, ...], ...] = kept_by(_STACKS, ())
    notes: tuple[str, ...] = ()
    resumed_from: str = ""
    looks: str = sparse("")
    limits_met: tuple[LimitMet, ...] = ()
    limited_by: tuple[str, ...] = ()
    killed_on_request: bool = sparse(default=False)
    filled_group: bool = sparse(default=False)
    failure: Failure | None = None
    resources: ResourceUse | None = field(default=None, compare=False, metadata=APART)
    evidence: tuple[Evidence, ...] = field(default=(), metadata=APART)

    @property
    def summary(self) -> str:
        """What failed and where; the exit code where nothing says that."""
        failure = self.failure
        return (
            f"exit {self.shell_exit_code}" if failure is None else f"{failure.summary}{failure.at}"
        )

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

    @classmethod
    def of_record(cls, data: JsonObject, output_of: Callable[[str, int], Output]) -> "Outcome":
        """Return the outcome that ``to_json`` wrote; the captured streams stand there by digest.

        Args:
            data: what ``to_json`` returned.
            output_of: finds a captured stream by its digest and its size in bytes.

        Raises:
            MalformedRecordError: if it is something else.
        """
        streams = {name: record(data, name) for name in ("stdout", "stderr")}
        return cls.from_json(
            data,
            **{
                name: output_of(text(each, "digest"), integer(each, "size_bytes"))
                for name, each in streams.items()
            },
        )
