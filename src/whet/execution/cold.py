"""An executor that starts each trial in new processes."""

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Self, TypeAlias

from whet.core.errors import HostFailure, WhetError
from whet.core.failure import Failure, Frame
from whet.core.measurements import NumberKind, quantity_of
from whet.core.observations.file_accesses import FileAccesses
from whet.core.outcome import Outcome
from whet.core.output import Output
from whet.core.text.quantity import shown_bytes
from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, PayloadBinding, Trial
from whet.execution.futures import TrialFuture
from whet.host.files.file_times import Moment
from whet.host.files.memory import FullGroups
from whet.host.files.refused import refused
from whet.host.inspect.samples import Stacks
from whet.host.kernel.daemon_thread import DaemonThread
from whet.host.limits.program import Program
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.console import Console
from whet.host.process.control import CANCEL, Control
from whet.host.process.ending import cleaning_up, holding_signals
from whet.host.process.messages import Looked
from whet.host.process.process_tree import resident_bytes
from whet.host.trial.agent_tasks import NO_TASKS, AgentTasks
from whet.host.trial.capture import Capture
from whet.host.trial.hang_detector import waits_for_ever
from whet.host.trial.idle_slots import IdleSlots
from whet.host.trial.slot import Slot
from whet.host.trial.workplace import Workplace, environment_of_trial

if TYPE_CHECKING:  # not loaded for a trial that isn't followed and starts from the start
    from whet.host.inspect.following import Following
    from whet.host.profiling.inside import Inside
    from whet.host.profiling.sampling import Sampling
    from whet.host.trial.process_snapshots import Staged

Perform: TypeAlias = Callable[[Slot, Program, "Callable[[Staged | None], Outcome]"], Outcome]
"""Runs a trial's program in a slot, on a stage or, with None, without one."""

Observe: TypeAlias = Callable[[Trial], "tuple[str, str] | None"]
"""Returns the folder where whet records a trial's accesses, and its git folder; or None."""

_LEAST_SECONDS = 0.05
_SIGNALLED = 128
"""A shell and most launchers exit with this number plus the signal's."""

_STDIN = PayloadBinding(argument=None, text="", name="stdin", digest="")


class ColdExecutor:
    """Runs trials, up to ``jobs`` at once, each in a fresh tree of processes.

    A context manager; `close` ends all that runs. The first spawner is started at once.
    """

    def __init__(  # noqa: PLR0913 - all that a trial needs from outside, given once
        self,
        *,
        classify: Callable[[Trial, Outcome], Failure | None],
        payload_of: Callable[[str], bytes | Path],
        keep: Callable[[Capture], Output],
        cleanup_journal: CleanupJournal,
        scratch: Path,
        environment: Mapping[str, str],
        jobs: int = 1,
        console: Console | None = None,
        pycache: Path | None = None,
        perform: Perform | None = None,
        observe: Observe | None = None,
        keep_looks: Callable[[bytes], str] | None = None,
        tasks: AgentTasks = NO_TASKS,
        clears_temporary: bool = False,
        deadline: float | None = None,
        idle_slots: IdleSlots | None = None,
    ) -> None:
        """Make an executor.

        Args:
            classify: tells the symptom that an outcome shows.
            payload_of: returns a payload by its digest, or the file that holds it.
            keep: takes each finished stream; called by any thread.
            cleanup_journal: where processes and folders are written down.
            scratch: folder for long streams, on the file system of whatever ``keep`` fills.
            environment: what trials inherit.
            jobs: how many trials run at once.
            console: where programs are shown, and whose signals go to them; one job only.
            pycache: folder for byte code by content; None: Python keeps it where it likes.
            perform: runs each program in another way, such as from a frozen copy.
            observe: says below which folder it is to be noted what a trial looks at.
            keep_looks: keeps what was noted and returns its digest.
            tasks: what the agents in the programs are to observe.
            clears_temporary: what they leave in ``$TMPDIR`` goes when the executor is closed.
            deadline: when nobody waits for a trial any more, in seconds of `time.monotonic`: what
                is killed then is not looked at.
            idle_slots: slots of earlier executors, to which its own go when it is closed; None: they end.
        """
        self._classify = classify
        self._payload_of = payload_of
        self._keep = keep
        self._cleanup_journal = cleanup_journal
        self._scratch = scratch
        self._environment = environment
        self._jobs = jobs
        self._console = console
        self._pycache = pycache
        self._perform = perform
        self._observe = observe
        self._keep_looks = keep_looks
        self._tasks = tasks
        self._clears_temporary = clears_temporary
        self._deadline = float("inf") if deadline is None else deadline
        # What runs warm, or notes what is looked at, leaves processes in its slot.
        self._idle_slots = idle_slots if perform is None and observe is None else None
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._unfinished: set[TrialFuture] = set()
        self._lock = threading.RLock()
        self._full_groups = FullGroups()
        self._is_closed = False
        self._first_slot: Slot | None = self._new_slot()

    def submit(self, trial: Trial, /) -> TrialFuture:
        """Start ``trial`` as soon as a slot is free."""
        control = Control()
        future = TrialFuture(lambda: control.ask(CANCEL))
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the executor is closed")
            self._unfinished.add(future)
            self._queue.put(_Job(trial, future, control))
            if len(self._threads) < min(self._jobs, len(self._unfinished)):
                self._add_thread()
        future.add_done_callback(self._forget)
        if self._console is not None:
            self._console.listen()
        return future

    def _add_thread(self) -> None:
        thread = DaemonThread(target=self._work, name="whet-slot")
        is_main = threading.current_thread() is threading.main_thread()
        # Ctrl-C in between would leave an unknown thread whose end nothing awaits.
        with holding_signals() if is_main else nullcontext():
            thread.start()
            self._threads.append(thread)  # of those that run alone an end can be awaited

    def close(self) -> None:
        """Give up what runs or waits, and return when every process is gone."""
        with self._lock:
            self._is_closed = True
            unfinished = tuple(self._unfinished)
        for future in unfinished:
            future.cancel()
        self._queue.put(None)
        for thread in self._threads:
            thread.join()
        if self._first_slot is not None:
            self._leave(self._first_slot)
            self._first_slot = None
        if self._console is not None:
            self._console.unlisten()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with cleaning_up():
            self.close()

    def _forget(self, future: object) -> None:
        with self._lock:
            self._unfinished = {other for other in self._unfinished if other is not future}

    def _new_slot(self) -> Slot:
        idle = None if self._idle_slots is None else self._idle_slots.take()
        return idle or Slot(self._cleanup_journal, self._scratch)

    def _leave(self, slot: Slot) -> None:
        if self._idle_slots is None:
            slot.close()
        else:
            self._idle_slots.give_back(slot)

    def _work(self) -> None:
        """Run trials, one after the other, until the executor is closed."""
        with self._lock:
            slot, self._first_slot = self._first_slot, None
        workplace = Workplace(self._cleanup_journal)
        while (job := self._queue.get()) is not None:
            if not job.future.begin():
                job.future.set_running_or_notify_cancel()
                continue
            try:
                slot = slot or self._new_slot()
                outcome = self._run(job, slot, workplace)
            except OSError as error:
                job.future.fail(_host_failure(job.trial, error))
            except Exception as error:  # noqa: BLE001 - the error belongs to the caller that waits for the trial
                job.future.fail(error)
            else:
                job.future.settle(outcome)
        self._queue.put(None)  # handed on: each thread takes one, however many there are
        if slot is not None:
            self._leave(slot)
        workplace.close()

    def _run(self, job: "_Job", slot: Slot, workplace: Workplace) -> Outcome:
        trial = job.trial
        patterns = {name: _pattern(name, text) for name, text in trial.measures.items()}
        with workplace.one_trial():
            agent_folder = workplace.agent_folder
            following = self._following(trial, agent_folder)

            def stacks(pid: int) -> Stacks:
                for each in following:
                    each.note_waiting()
                return self._stacks(trial, pid, agent_folder)

            def first_sight(pid: int) -> tuple[Frame, ...]:
                from whet.host.inspect.stacks import first_report

                return first_report(pid, agent_folder)

            self._tasks.check_room(agent_folder)
            program = self._program(trial, workplace)
            program = replace(program, beside=(*following, *self._tasks.counting))
            has_run = False

            def run(staged: "Staged | None") -> Outcome:
                nonlocal program, has_run
                if has_run:
                    program = self._again(job, workplace)
                has_run = True
                began = Moment()
                outcome = slot.run(
                    program,
                    job.control,
                    self._keep,
                    console=self._console,
                    take_stacks=stacks,
                    staged=staged,
                )
                outcome = self._with_looks(self._with_full_group(outcome), slot.looked)
                outcome = _with_crash(outcome, agent_folder)
                if staged is not None and staged.since is None and staged.stage.awaited:
                    staged.first_sight = first_sight(outcome.processes[0].pid)
                if patterns:
                    printed = _measured(outcome, patterns)
                    outcome = replace(outcome, measurements={**outcome.measurements, **printed})
                outcome = _with_sections(outcome, agent_folder, slot.started_at)
                left = self._tasks.evidence(agent_folder)
                left += tuple(found for each in following for found in each.evidence())
                outcome = replace(outcome, evidence=(*outcome.evidence, *left))
                outcome = outcome.with_failure(self._classify(trial, outcome))
                if staged is not None or began.is_doubtful:
                    return outcome  # a warm run follows what is saved
                return _with_late_saves(outcome, program)

            return run(None) if self._perform is None else self._perform(slot, program, run)

    def _stacks(self, trial: Trial, pid: int, agent_folder: Path) -> Stacks:
        """Return where a command stands that is about to be killed, if somebody waits for that."""
        left = self._deadline - time.monotonic()
        if left < _LEAST_SECONDS:
            return Stacks()
        from whet.host.inspect.stacks import take_stacks

        wants_stacks = trial.hang_seconds is not None or self._tasks.keeps_locals
        if not wants_stacks and not waits_for_ever(pid):
            return take_stacks(pid, agent_folder)
        from whet.host.inspect.spying import SECOND_LOOK_SECONDS, stacks_of_tree

        looks_again = wants_stacks and left > SECOND_LOOK_SECONDS
        evidence = stacks_of_tree(
            pid, agent_folder, looks_again=looks_again
        )  # before anything else stops it
        sample = replace(take_stacks(pid, agent_folder), evidence=(evidence,))
        self._tasks.ask_before_end(pid, agent_folder)
        return sample

    def _again(self, job: "_Job", workplace: Workplace) -> Program:
        """Return the program once more; it may have written to its payloads.

        Raises:
            CancelledError: if the caller cancelled it; a refused attempt notices that.
        """
        if job.future.cancelled():
            raise CancelledError
        workplace.empty()
        return self._program(job.trial, workplace)

    def _following(
        self, trial: Trial, agent_folder: Path
    ) -> "tuple[Following | Sampling | Inside, ...]":
        """Return what follows the system calls of a trial, or samples its stacks."""
        room = trial.limits.room
        holds_calls = room is not None and bool(room.faults)
        following = self._tasks.following(agent_folder, holds_calls=holds_calls)
        profiling = self._tasks.profiling(
            "".join(trial.command[:1]), agent_folder, self._cleanup_journal
        )
        return tuple(each for each in (following, profiling) if each is not None)

    def _with_full_group(self, outcome: Outcome) -> Outcome:
        """Note that the kernel killed the program for lack of memory that whet uses as well."""
        if outcome.signal != signal.SIGKILL or outcome.limits_met:
            return outcome
        with self._lock:
            limit = self._full_groups.news()
        if limit is None:
            return outcome
        own = shown_bytes(resident_bytes(os.getpid()))
        note = f"the control group around whet was full ({shown_bytes(limit)}, {own} of it whet's own): the kernel killed the program for it"
        return replace(outcome, notes=(*outcome.notes, note), filled_group=True)

    def _with_looks(self, outcome: Outcome, looked: Looked | None) -> Outcome:
        if self._keep_looks is None or looked is None:
            return outcome
        looks = FileAccesses(
            gap=looked.gap,
            paths=tuple(looked.paths),
            folders=tuple(looked.folders),
            moved=tuple(looked.moved),
            calls=looked.calls,
            held_seconds=looked.held_seconds,
        )
        return replace(outcome, looks=self._keep_looks(looks.to_bytes()))

    def _program(self, trial: Trial, workplace: Workplace) -> Program:
        command = list(trial.command)
        stdin: Path | None = Path("/dev/null")
        if trial.stdin == STDIN_INHERITED:
            stdin = None
        elif trial.stdin != STDIN_EMPTY:
            number = len(trial.payloads)
            stdin = workplace.place(number, _STDIN, self._payload_of(trial.stdin))
        paths: list[Path] = []
        cwd = trial.cwd
        for number, binding in enumerate(trial.payloads):
            path = workplace.place(number, binding, self._payload_of(binding.digest))
            paths.append(path)
            cwd = str(path.parent) if binding.is_home else cwd
            if binding.argument is None:
                stdin = path
            binding.put(str(path), command)
        return Program(
            command=self._tasks.wrapped(tuple(command), workplace.agent_folder),
            environment=environment_of_trial(
                self._inherited(trial, workplace),
                trial.environment,
                cwd,
                agent_folder=workplace.agent_folder,
                pycache=self._pycache,
                tasks=self._tasks.variables,
            ),
            cwd=cwd,
            stdin=stdin,
            reset=trial.reset,
            limits=trial.limits,
            hang_seconds=trial.hang_seconds,
            hangs_if_idle=trial.hangs_if_idle,
            payloads=tuple(paths),
            contents=(trial.stdin, *(binding.digest for binding in trial.payloads)),
            looks=(None if self._observe is None else self._observe(trial)) or ("", ""),
        )

    def _inherited(self, trial: Trial, workplace: Workplace) -> Mapping[str, str]:
        """Return what a trial inherits, with a temporary folder unless the user or a room names one."""
        left = {name: value for name, value in self._environment.items() if name not in trial.unset}
        if self._clears_temporary and trial.limits.room is None and "TMPDIR" not in trial.unset:
            left["TMPDIR"] = str(workplace.temporary)
        return left


def _with_crash(outcome: Outcome, agent_folder: Path) -> Outcome:
    """Return the same with the Python stack of what a signal has ended, if its agent wrote one."""
    is_ended = outcome.signal is not None or (outcome.exit_code or 0) > _SIGNALLED
    if not is_ended or outcome.stacks:
        return outcome
    from whet.host.inspect.stacks import crashes_in

    return replace(outcome, stacks=tuple(frames for _, _, frames in crashes_in(agent_folder)))


def _with_sections(outcome: Outcome, agent_folder: Path, started_at: float) -> Outcome:
    """Return an outcome with the sections of its processes; few programs have any."""
    if not any(agent_folder.glob("*.sections")):
        return outcome
    from whet.host.trial.sections import with_sections

    return with_sections(outcome, agent_folder, started_at)


def _with_late_saves(outcome: Outcome, program: Program) -> Outcome:
    """Note which of the files that the program runs were saved after it had read them."""
    from whet.host.code.editing import saved_since

    failure_frames = () if outcome.failure is None else outcome.failure.frames
    frames = [frame.path for frame in failure_frames if frame.in_user_code]
    varied = {str(path) for path in program.payloads}
    late = saved_since([*frames, *_scripts(program)], time.time() - outcome.wall_seconds)
    notes = [
        f"you saved `{path}` during the run, which used the older version"
        for path in late
        if path not in varied
    ]
    return replace(outcome, notes=(*outcome.notes, *notes)) if notes else outcome


def _scripts(program: Program) -> list[str]:
    return [str(Path(program.cwd, word)) for word in program.command[1:3] if word.endswith(".py")]


class _Job:
    """A trial on its way through the queue."""

    __slots__ = ("control", "future", "trial")

    def __init__(self, trial: Trial, future: TrialFuture, control: Control) -> None:
        self.trial = trial
        self.future = future
        self.control = control


def _pattern(name: str, text: str) -> re.Pattern[bytes]:
    from whet.core.condition import pattern_of

    return pattern_of(text, f"`{text}`, the pattern for `{name}`,")


def _measured(outcome: Outcome, patterns: Mapping[str, re.Pattern[bytes]]) -> dict[str, float]:
    """Return the last number that the program printed for each name, on stdout before stderr."""
    numbers: dict[str, float] = {}
    for name, pattern in patterns.items():
        for stream in (outcome.stderr, outcome.stdout):
            match = stream.search_last(pattern)
            if match is not None:
                number = _number(match)
                if number is not None:
                    numbers[name] = number
    return numbers


def _number(text: bytes) -> float | None:
    """Return the number that was printed, with its unit if it has one; None: it is none."""
    with suppress(ValueError):
        return float(text)
    return quantity_of(text.decode("utf-8", "replace"), NumberKind.NUMBER)


def _host_failure(trial: Trial, error: OSError) -> WhetError:
    """Return the error that names the limit of the system, if one was met."""
    return refused(error) or HostFailure(
        f"whet can't run `{' '.join(trial.command)[:200]}`: {error}",
        hint="check the limits: `ulimit -a`, `df -h`",
    )
