"""Tries small changes of a program that share its start: each resumes from a frozen copy if possible."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.room import Room
from whet.core.trial import STDIN_INHERITED, Trial
from whet.core.verdict import Verdict
from whet.evidence.signature.classify import classify
from whet.execution.warm_room import Ran, WarmRoom
from whet.host.limits.program import Program
from whet.host.trial.agent_tasks import NO_TASKS, AgentTasks
from whet.host.trial.process_snapshots import Staged
from whet.host.trial.slot import Slot
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.session import Session

_COLD_FIRST = 3
"""Changes that run from the start first: a shared start takes as long as two of them."""

_MOST_ROOMS = 4


_CONTAINED = Room(is_clean=True, read_only=("/",), network="loopback")
"""The sandbox of experiments: a changed program or other data can't change the machine."""


def contained(bench: Workbench, trial: Trial) -> Trial:
    """Return what runs in a room in which nothing that it writes stays."""
    room = bench.settled(_CONTAINED.beside(trial.limits.room or Room()))
    return replace(trial, limits=replace(trial.limits, room=room))


@dataclass(slots=True, kw_only=True)
class WarmChanges:
    """Runs one program with changes of its text; satisfies `whet.execution.cold.Perform`.

    A change has run nothing that another one has left: a room in which a run has left something is
    given up, and its program starts again in the next one.

    Attributes:
        bench: the workbench.
        trial: what is changed, with the room in which it runs.
        edit: a file's path and its text, for the next run; None: as it is, from its start.
    """

    bench: Workbench
    trial: Trial
    edit: tuple[str, str] | None = None
    _room: WarmRoom | None = None
    _rooms: int = 0
    _is_off: bool = False

    def __post_init__(self) -> None:
        """Leave what can't be run so to its cold runs."""
        limits = self.trial.limits
        room = limits.room or Room()
        rest = replace(room, is_clean=False, read_only=(), network="", project="", keep_writes="")
        is_usual = not replace(limits, room=None).starve and rest == Room()
        is_own = self.trial.stdin != STDIN_INHERITED and not self.trial.reset
        self._is_off = not (is_usual and is_own)

    @property
    def is_off(self) -> bool:
        """Whether everything runs from its start."""
        return self._is_off

    @property
    def has_start(self) -> bool:
        """Whether the program was started in the room, so that there are copies."""
        return self._room is not None

    def __call__(
        self, _slot: Slot, program: Program, run: Callable[[Staged | None], Outcome]
    ) -> Outcome:
        """Return what the program does with the change, from a copy or, without one, from its start."""
        room = self._room or (self._opened() if self.edit is None else None)
        if room is None:
            return run(None)
        limits = replace(self.trial.limits, wall_seconds=program.limits.wall_seconds)
        ran = room.run(limits, self.edit)
        outcome = ran.outcome
        self._look_at(ran)
        if outcome is None:
            return run(None)
        self._keep(outcome)
        return outcome.with_failure(classify(self.trial, outcome))

    def _opened(self) -> WarmRoom | None:
        self._rooms += 1
        bench = self.bench
        room = None
        with suppress(OSError):
            room = WarmRoom(
                self.trial,
                environment=bench.environment,
                pycache=bench.project.state / "pycache",
                payload_of=bench.payload_store.payload_of,
                cleanup_journal=bench.cleanup_journal,
            )
        if room is not None and not room.is_there:
            room.close()
            room = None
        self._is_off = room is None
        self._room = room
        return room

    def _look_at(self, ran: Ran) -> None:
        """Give the room up if it isn't as it was; all rooms, if a start leaves no copy that lasts."""
        if not (ran.is_clean and ran.snapshots):
            self.close()
            self._is_off = self.edit is None or self._rooms >= _MOST_ROOMS

    def _keep(self, outcome: Outcome) -> None:
        for stream in (outcome.stdout, outcome.stderr):
            self.bench.notebook.blobs.put_bytes(stream.head(stream.size_bytes))

    def distrust(self) -> None:
        """Run everything from its start from now on: a run came out otherwise than from its start."""
        self.close()
        self._is_off = True

    def close(self) -> None:
        """End the room and what runs in it."""
        room, self._room = self._room, None
        if room is not None:
            room.close()


@dataclass(slots=True, kw_only=True)
class TriedChanges:
    """Runs what fails with changes of its text.

    What passes, and the first run from a copy, is run from its start too, and that run counts.

    Attributes:
        session: runs them.
        trial: what fails, with the room in which the changes run.
        oracle: judges them.
        looked: is given the number of each trial.
        passing: the changes with which it has passed, by the trial: the module's path and text.
    """

    session: Session
    trial: Trial
    oracle: Oracle
    looked: list[int]
    passing: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])
    _warm: WarmChanges = field(init=False)
    _asked: int = 0
    _is_checked: bool = False

    def __post_init__(self) -> None:
        """Share no start yet."""
        self._warm = WarmChanges(bench=self.session.bench, trial=self.trial)

    def run(self, tasks: AgentTasks) -> tuple[int, Outcome]:
        """Run it with the change that the tasks name; return the trial's number and what it did."""
        assert tasks.edit is not None, tasks
        path, text = tasks.edit
        is_control = Path(path).read_bytes() == text.encode()
        has_passed = (
            tasks.edit in self.passing.values()
        )  # it would run from its start after the copy
        self._asked += 1
        if is_control or has_passed or self._asked <= _COLD_FIRST or not self._is_warm():
            return self._one(tasks)
        self._warm.edit = tasks.edit
        number, outcome = self._one(tasks, self._warm)
        verdict = self.oracle.judge(outcome)
        is_sure = verdict is not Verdict.GOOD and self._is_checked
        if is_sure or not outcome.resumed_from:
            return number, outcome
        self._is_checked = True
        number, outcome = self._one(tasks)
        if self.oracle.judge(outcome) is not verdict:
            self._warm.distrust()
        return number, outcome

    def _is_warm(self) -> bool:
        """Whether the program has left copies in a room; it is run there for them if it has not."""
        if self._warm.is_off or self._warm.has_start:
            return not self._warm.is_off
        self._warm.edit = None
        _, outcome = self._one(NO_TASKS, self._warm)
        if self.oracle.judge(outcome) is not Verdict.BAD:
            self._warm.distrust()
        return self._warm.has_start

    def _one(self, tasks: AgentTasks, warm: WarmChanges | None = None) -> tuple[int, Outcome]:
        session = replace(self.session, tasks=tasks)
        with session.executor(perform=warm) as executor:
            try:
                ran = session.run_on(executor, self.trial, self.oracle, "looked at")
            except BaseException:
                self._warm.close()  # whatever waits for it is to end
                raise
        self.looked.append(ran.own_number)
        if tasks.edit is not None and ran.verdict is Verdict.GOOD:
            self.passing[ran.own_number] = tasks.edit
        return ran.own_number, ran.outcome

    def close(self) -> None:
        """End what is shared."""
        self._warm.close()
