"""A place that runs trials one after the other: a spawner and the thread that uses it."""

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from whet.core.errors import HostFailure, InternalFault, WhetError
from whet.core.limits import Limits
from whet.core.observations.resources import ProcessPeak, ResourceUse
from whet.core.outcome import Outcome, ProcessExit
from whet.core.output import Output
from whet.host.inspect.samples import Stacks
from whet.host.kernel.counters import COUNTED
from whet.host.limits.around import NOTHING_AROUND, Around
from whet.host.limits.enforcer import End
from whet.host.limits.out_of_memory_notice import tell_of_felled
from whet.host.limits.program import Program
from whet.host.process.channel import as_failed, as_text
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.console import Console
from whet.host.process.control import Control
from whet.host.process.messages import Ended, Freezing, Looked, Noted, as_ended
from whet.host.process.terminal import PseudoTerminal
from whet.host.spawner.out_of_memory_killer import HELD
from whet.host.trial.capture import Capture, Capturing
from whet.host.trial.hang_detector import Idleness
from whet.host.trial.program_streams import Keyboard, ProgramStreams
from whet.host.trial.relay import Answer, KillReason, Relay
from whet.host.trial.spawner_process import SpawnerProcess
from whet.host.trial.start_error import check_words, start_error

if TYPE_CHECKING:  # only a warm run is staged
    from whet.host.trial.process_snapshots import Staged

_Held = TypeVar("_Held")

_BUFFER_BYTES = 1 << 20
_SHORT = ("[Errno 11]", "[Errno 12]", "[Errno 24]", "MemoryError", "can't start new thread")
_CUT_OFF = (
    "whet's process that ran the command was killed, which ended the command:"
    " by the command itself (`kill -9 $PPID`), or from outside"
)
_STREAMS = {
    "stdout": "standard output",
    "stderr": "standard error",
    "reset": "the output of the reset steps",
}


class Slot:
    """Runs programs one at a time, each as one operation with its reset steps.

    Used by one thread. The spawner is started at once, so that it comes up beside whatever
    else there is to do; one that died is replaced for the next program.

    Attributes:
        looked: what the last program looked at; None unless it was to be noted.
        started_at: `time.monotonic` when the last program started, or ran on; 0: unknown.
        is_plain: its spawner runs where whet does, and holds nothing: another executor may have it.
    """

    def __init__(self, cleanup_journal: CleanupJournal, scratch: Path) -> None:
        self._cleanup_journal = cleanup_journal
        self._scratch = scratch
        self._buffer = bytearray(_BUFFER_BYTES)
        self._spawner = SpawnerProcess(cleanup_journal)
        self.looked: Looked | None = None
        self.started_at = 0.0
        self._proven: Limits | None = None
        self._held = ExitStack()
        self.is_plain = True

    def run(
        self,
        program: Program,
        control: Control,
        keep: Callable[[Capture], Output],
        *,
        console: Console | None = None,
        take_stacks: Callable[[int], Stacks] | None = None,
        staged: "Staged | None" = None,
    ) -> Outcome:
        """Run a program to its end, and all that it started but its frozen copies.

        Args:
            program: what to run.
            control: requests from other threads, such as to give it up.
            keep: takes each finished stream.
            console: where it is shown while it runs.
            take_stacks: looks into the process just before a timeout's kill.
            staged: how it leaves frozen copies, and which one it runs on from.

        Raises:
            DivergedError: if the copy's past isn't that of the changed script.
            WhetError: if it can't be started, or the system fails.
        """
        check_words(program.command, program.environment, program.cwd)
        self._spawner = self._ready_for(program.limits)
        self.looked, self.started_at = None, 0.0
        spent_seconds = 0.0
        if staged is not None:
            program = staged.on(program)
            spent_seconds = 0.0 if staged.since is None else staged.since.seconds
        stacks: list[Stacks] = []
        program_streams = self._wire(program, console)
        is_stepped = staged is not None and staged.is_stepped
        # A shell manages the jobs of its own terminal, and asks for it by its errors.
        is_one = is_stepped or program.limits.spares_command
        if console and (console.joins_errors or (is_one and console.shows_errors_in_terminal)):
            program_streams.join_errors()  # what is typed and what is said, in one order
        relay = Relay(
            channel=self._spawner.channel,
            program_streams=program_streams,
            control=control,
            console=console,
            wall_seconds=_left(program.limits.wall_seconds, spent_seconds),
            hang_seconds=program.hang_seconds,
            idleness=Idleness() if program.hangs_if_idle else None,
            before_kill=lambda pid: stacks.append(take_stacks(pid)) if take_stacks else None,
            on_full=lambda noted: self._tell_of_felled(program, noted, console, take_stacks),
            on_copy=None if staged is None else staged.note,
            on_halt=None if staged is None else staged.halt,
            on_blocker=None if staged is None else staged.hinder,
            on_done=None if staged is None else staged.note_done,
            on_told=None if staged is None else staged.effects.append,
            on_looks=self._note_looks,
            on_reset=None if staged is None else staged.note_reset,
            still_fits=(lambda: True) if staged is None else staged.still_fits,
            errors_first=staged is not None and staged.stops_at_failure,
            is_shell=program.limits.spares_command,
            past=() if staged is None or staged.since is None else staged.since.past,
        )
        if staged is not None:
            program_streams.keep_past()
        try:
            with self._around(program).beside(program.beside) as around:
                kind, body = self._watch(program, program_streams, relay, staged, around)
                if kind == "refused" or (kind == "failed" and staged is not None and staged.since):
                    from whet.host.trial.process_snapshots import DivergedError

                    raise DivergedError
                if kind == "failed":
                    raise start_error(as_failed(body), program.command, program.cwd)
                if kind == "fault":
                    raise _fault(as_text(body))
                ended = as_ended(body) if kind == "ended" else self._cut_off(program, relay)
                if ended.stubborn:
                    self._spawner.close()  # what it can't kill must not be a later trial's
                self._proven, self.started_at = _enforced(program.limits), ended.started_at
                outcome = self._outcome(program, ended, relay, program_streams, keep, stacks)
                return replace(
                    outcome,
                    killed_on_request=relay.was_asked_to_kill and outcome.signal == signal.SIGKILL,
                    limits_met=around.met(_end_of(outcome, ended)),
                    limited_by=around.ways,
                    resources=_use_of(ended),
                    notes=(
                        *outcome.notes,
                        *_too_early(outcome, relay),
                        *([_CUT_OFF] if kind == "lost" else []),
                        *around.notes,
                    ),
                )
        finally:
            program_streams.close()

    def _note_looks(self, looked: Looked) -> None:
        self.looked = looked

    def _cut_off(self, program: Program, relay: Relay) -> Ended:
        """Clean up after the spawner, which was killed, and return how the program ended with it."""
        failure, end = self._spawner.lost(program.command), relay.cut_off
        if end is None:
            raise failure
        return end

    def _tell_of_felled(
        self,
        program: Program,
        noted: Noted,
        console: Console | None,
        take_stacks: Callable[[int], Stacks] | None,
    ) -> None:
        """Say which process met the memory limit alone; the kernel holds it if it can be looked at."""
        is_seen = console is not None and take_stacks is not None and noted.limit == HELD
        samples = take_stacks(noted.pid).samples if is_seen and take_stacks else ()
        limits = program.limits.with_memory_of_disks()
        tell_of_felled(console, limits, noted, samples[0] if samples else ())

    def close(self) -> None:
        """End the spawner, and with it whatever still runs, and all that was held with it."""
        self._held.close()
        self._spawner.close()

    def hold(self, what: AbstractContextManager[_Held]) -> _Held:
        """Enter what is to be left when this is closed."""
        self.is_plain = False
        return self._held.enter_context(what)

    @property
    def spawner(self) -> int:
        """The number of the process that keeps the frozen copies; another one has none of them.

        If that has ended it is another one from now on.
        """
        self._spawner = self._spawner.ready(self._cleanup_journal)
        return self._spawner.pid

    def drop(self, number: int) -> None:
        """Let a frozen copy end."""
        self._spawner.drop(number)

    def prepare_ahead(self, number: int) -> None:
        """Let a frozen copy make itself ready for a run to come: a fork takes long."""
        self._spawner.prepare_ahead(number)

    def _ready_for(self, limits: Limits) -> SpawnerProcess:
        """Return the spawner; started again inside of what this user's systemd gives, if limits need that."""
        spawner = self._spawner.ready(self._cleanup_journal)
        if not limits.starve:
            return spawner
        from whet.host.limits.catalogue import want_a_scope

        if not want_a_scope(limits, spawner.pid):
            return spawner
        self.is_plain = False
        return spawner.in_scope(self._cleanup_journal)

    def _around(self, program: Program) -> Around:
        """Put the limits around a trial. That they hold here is proved once for each slot."""
        if not program.limits.starve:
            return NOTHING_AROUND
        from whet.host.limits.around import put_around

        around = put_around(program.limits.with_memory_of_disks(), self._cleanup_journal)
        if program.limits.room is not None:
            from whet.host.limits.furnished import furnished

            around = around.beside(furnished(program.limits.room, program, self._cleanup_journal))
        return replace(around, is_proven=self._proven == _enforced(program.limits))

    def _watch(
        self,
        program: Program,
        program_streams: ProgramStreams,
        relay: Relay,
        staged: "Staged | None",
        around: Around,
    ) -> Answer:
        try:
            freezing = Freezing(looks=program.looks) if staged is None else staged.freezing()
            self._spawner.ask(
                program, program_streams.child, program_streams.terminal, freezing, around
            )
            program_streams.release_child()
            return relay.run(self._buffer)
        except BaseException:
            # Nothing supervises the running program now, so it ends with its spawner.
            self._spawner.close()
            raise

    def _outcome(
        self,
        program: Program,
        ended: Ended,
        relay: Relay,
        program_streams: ProgramStreams,
        keep: Callable[[Capture], Output],
        stacks: list[Stacks],
    ) -> Outcome:
        host = os.uname().nodename
        processes = tuple(_process(pid, status, host, late) for pid, status, late in ended.exits)
        reason = relay.reason if ended.was_killed or relay.was_looked_into else None
        step = ended.failed_step
        failed_reset = program.reset[step].command if step >= 0 else None
        kept = {
            name: self._kept(flow.capturing, keep)
            for name, flow in program_streams.flows.items()
            if name != "reset" or failed_reset is not None
        }
        notes = [
            flow.capturing.loss for flow in program_streams.flows.values() if flow.capturing.loss
        ]
        notes += [
            f"the reader of {_STREAMS[name]} closed it, so whet didn't keep the rest"
            for name, flow in program_streams.flows.items()
            if flow.is_unread
        ]
        notes += [f"whet couldn't kill process {pid}" for pid in ended.stubborn]
        notes += [note for taken in stacks for note in taken.notes]
        return Outcome(
            exit_code=processes[0].exit_code,
            signal=processes[0].signal,
            timed_out=reason in {KillReason.TIME_IS_UP, KillReason.HANGS},
            hung_seconds=program.hang_seconds if reason is KillReason.HANGS else None,
            interrupted=reason is KillReason.GIVEN_UP,
            overran_output=reason is KillReason.TOO_MUCH_OUTPUT,
            failed_reset=failed_reset,
            wall_seconds=ended.wall_seconds,
            cpu_seconds=ended.cpu_seconds,
            peak_rss_bytes=ended.peak_bytes,
            queued_seconds=ended.queued_seconds,
            stdout=kept["stdout"],
            # What a reset step wrote isn't the command's; if it ended the trial it is all there is.
            stderr=kept.get("reset", kept["stderr"]),
            measurements={each.limit: each.amount for each in ended.noted if each.limit in COUNTED},
            processes=processes,
            stacks=tuple(sample for taken in stacks for sample in taken.samples),
            notes=tuple(notes),
            evidence=tuple(each for taken in stacks for each in taken.evidence),
        )

    def _kept(self, capturing: Capturing, keep: Callable[[Capture], Output]) -> Output:
        capture = capturing.finish()
        output = keep(capture)
        if capture.file is not None and not capture.file.exists():
            self._cleanup_journal.forget(str(capture.file))
        return output

    def _capturing(self, *, from_terminal: bool = False) -> Capturing:
        return Capturing(
            self._scratch,
            lambda path: self._cleanup_journal.adopt("folder", str(path)),
            from_terminal=from_terminal,
        )

    def _wire(self, program: Program, console: Console | None) -> ProgramStreams:
        program_streams = ProgramStreams()
        limit = program.limits.output_bytes
        try:
            if console is not None and console.terminal is not None:
                self._wire_terminals(program_streams, program, console)
            else:
                program_streams.child.append(_open_input(program.stdin, console))
                for name in ("stdout", "stderr"):
                    nonblocking_writer = None if console is None else console.outlet_of(name)
                    program_streams.add_pipe(name, self._capturing(), nonblocking_writer, limit)
            if program.reset:
                nonblocking_writer = None if console is None else console.stderr
                program_streams.add_pipe("reset", self._capturing(), nonblocking_writer, limit)
        except OSError as error:
            program_streams.close()
            raise HostFailure(
                f"whet can't connect `{program.command[0]}`: {error.strerror}",
                hint="check the limits: `ulimit -n`, `sysctl kernel.pty.max`",
            ) from error
        return program_streams

    def _wire_terminals(
        self, program_streams: ProgramStreams, program: Program, console: Console
    ) -> None:
        own, limit = console.terminal, program.limits.output_bytes
        assert own is not None, "only called with a terminal"
        # Keys in the user's terminal reach the program only when whet may read them.
        has_keys = console.is_interactive and program.stdin is None
        main = PseudoTerminal.like(own, adds_returns=has_keys)
        program_streams.terminals.append(main)
        if has_keys:
            program_streams.child.append(os.dup(main.slave))
            if console.is_shown:
                program_streams.keyboard = Keyboard(console.stdin, own, main)
        else:
            program_streams.child.append(_open_input(program.stdin, console))
        program_streams.terminal = 0 if has_keys else 1

        def capture(adds_returns: bool) -> Capturing:  # noqa: FBT001 - called by the wiring alone
            return self._capturing(from_terminal=adds_returns)

        program_streams.add_terminal("stdout", main, capture, console.stdout, limit)
        if console.shows_errors_in_terminal:
            second = PseudoTerminal.like(own, adds_returns=has_keys)
            program_streams.add_terminal("stderr", second, capture, console.stderr, limit)
        else:
            program_streams.add_pipe("stderr", self._capturing(), console.stderr, limit)


def _enforced(limits: Limits) -> Limits:
    """Return the limits that something around the program enforces: whet itself watches the others."""
    return replace(limits, wall_seconds=None, output_bytes=None)


def _left(seconds: float | None, spent: float) -> float | None:
    """Return what is left of a limit when a copy is resumed that had come so far."""
    return None if seconds is None else max(0.0, seconds - spent)


def _open_input(stdin: Path | None, console: Console | None) -> int:
    if stdin is None and console is not None and console.is_shown:
        with suppress(OSError):  # whet was started with its standard input closed
            return os.dup(console.stdin)
    return os.open(os.devnull if stdin is None else stdin, os.O_RDONLY | os.O_CLOEXEC)


def _process(pid: int, status: int | None, host: str, was_left_behind: bool) -> ProcessExit:  # noqa: FBT001 - a row of the spawner's answer
    if status is None or os.WIFSIGNALED(status):
        number = signal.SIGKILL if status is None else os.WTERMSIG(status)
        return ProcessExit(pid=pid, host=host, signal=int(number), was_left_behind=was_left_behind)
    code = os.WEXITSTATUS(status)
    return ProcessExit(pid=pid, host=host, exit_code=code, was_left_behind=was_left_behind)


def _too_early(outcome: Outcome, relay: Relay) -> tuple[str, ...]:
    """Say why nothing was seen of a command: a busy machine had not even started it."""
    if not relay.was_early or not outcome.timed_out or outcome.failed_reset is not None:
        return ()
    return ("the time was up before the command had started",)


def _end_of(outcome: Outcome, ended: Ended) -> End:
    return End(
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        noted={each.limit: each for each in ended.noted},
    )


def _use_of(ended: Ended) -> ResourceUse | None:
    if not ended.samples:
        return None
    seconds, memory, cpu, files, input_bytes, output_bytes, processes = zip(
        *ended.samples, strict=True
    )
    return ResourceUse(
        seconds=seconds,
        memory_bytes=memory,
        cpu_seconds=cpu,
        files=files,
        read_bytes=input_bytes,
        written_bytes=output_bytes,
        processes=processes,
        largest=tuple(
            ProcessPeak(pid=pid, name=name, peak_bytes=size) for pid, name, size in ended.peaks
        ),
    )


def _fault(text: str) -> WhetError:
    last = text.strip().splitlines()[-1]
    if any(sign in last for sign in _SHORT):
        return HostFailure(
            f"the system refuses the process that runs the program: {last}",
            hint="check the limits: `ulimit -u`, `ulimit -n`, `ulimit -v`",
        )
    return InternalFault(f"the spawner failed: {last}", hint="please report this bug")
