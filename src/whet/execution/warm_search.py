"""Running the trials of a search from a frozen copy that hasn't read the payload yet."""

import os
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.core.outcome import Outcome
from whet.core.verdict import Verdict
from whet.execution.installed_packages_check import LONGEST_SECONDS, InstalledPackagesCheck
from whet.execution.warm import blocker_of, change_seen
from whet.host.limits.program import Program
from whet.host.process.channel import GONE
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.python.interpreters import Search
from whet.host.trial.process_snapshots import DivergedError, Snapshot, Stage, Staged
from whet.host.trial.slot import Slot

_MOST_PROGRAMS = 3
"""A search with a guard runs each candidate on two versions, in turn."""

_MOST_KEPT = 3
"""The number of snapshots to keep: the deepest, and others in case it becomes unusable."""

_MOST_SCOUTS = 3
"""After this many cold runs in a row without a usable snapshot, whet takes no more."""

_CHECK_STEP = 16
"""The factor by which the number of warm outcomes grows between two checks of a verdict."""

MOST_LOST_SECONDS, _MOST_LOST_SHARE, _CHECKS_FOR_LOSS = 0.3, 0.5, 2
"""How much longer copies may take, in how many of these checks, before whet stops using them."""

_AWAITS = "awaits"
"""The kind of a snapshot from just before the program reads what the search varies: the deepest."""

_LOST = "a frozen copy was killed, for example because memory ran out, or crashed"

ITS_ARGUMENTS = "its arguments"  # as of `whet_stage.watching.words`


@dataclass(slots=True, kw_only=True)
class _Ladder:
    """What one program's runs in one slot have left to run on from.

    Attributes:
        stage: the snapshots.
        scouts: how many runs in a row left none that could be used.
        why_cold: why it tries no more copies; empty: it does.
        is_to_scout: the next run is to leave a snapshot at a place that is known only now.
        is_lost: a snapshot's process has ended, and no new one was made since.
        came: how many outcomes of each verdict came warm.
        checks: how many of them were compared with a cold run.
        warm_seconds: what those took, all together, that were compared with a cold run.
        cold_seconds: what these cold runs took.
    """

    stage: Stage
    scouts: int = 0
    why_cold: str = ""
    is_to_scout: bool = False
    is_lost: bool = False
    came: Counter[Verdict] = field(default_factory=Counter[Verdict])
    checks: int = 0
    warm_seconds: float = 0.0
    cold_seconds: float = 0.0


@dataclass(slots=True)
class _Place:
    """What a slot keeps from trial to trial.

    Attributes:
        address: the socket at which copies report.
        early: looks at what is installed, for several trials at once.
        spawner: the process that keeps the copies.
        ladders: each with its program, the one that ran last at the end.
    """

    address: str
    early: InstalledPackagesCheck
    spawner: int = 0
    ladders: list[tuple[Program, _Ladder]] = field(default_factory=list[tuple[Program, _Ladder]])


class WarmSearch:
    """Runs trials that differ in one payload, or in their arguments.

    Satisfies `whet.execution.cold.Perform`. A slot's first trial runs from the start and leaves a
    frozen copy just before the payload is seen for the first time, or any argument. Each later one is a fork of it. The 1st, 16th, 256th and so on of each
    verdict is run cold too, and the cold outcome counts; if they differ, everything runs cold from
    then on.

    Attributes:
        distrusted: why nothing runs warm any more; empty: it may.
        warm_runs: how many outcomes came warm.
    """

    def __init__(
        self,
        cleanup_journal: CleanupJournal,
        *,
        judge: Callable[[Outcome], Verdict],
        position: int = 0,
        first_word: int = 0,
        most_lost_seconds: float = MOST_LOST_SECONDS,
        look_seconds: float = LONGEST_SECONDS,
    ) -> None:
        """Make it ready.

        Args:
            cleanup_journal: where the folders of its sockets are written down.
            judge: says what an outcome proves.
            position: which of the payloads is varied.
            first_word: the first word of the command that is varied instead, with all behind it;
                0: none is.
            most_lost_seconds: time that copies may lose compared with cold runs before it stops using them.
            look_seconds: age after which a check is repeated.
        """
        self.distrusted = ""
        self.warm_runs = 0
        self._cleanup_journal = cleanup_journal
        self._position = position
        self._first_word = first_word
        self._most_lost_seconds = most_lost_seconds
        self._look_seconds = look_seconds
        self._judge = judge
        self._places: dict[Slot, _Place] = {}
        self._reasons: dict[str, None] = {}
        self._lock = threading.Lock()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why trials ran cold that might have run warm, each reason once."""
        with self._lock:
            return tuple(self._reasons)

    @property
    def looks_shared(self) -> int:
        """How many trials had no need to look at what is installed: another one just had."""
        with self._lock:
            return sum(place.early.times_used for place in self._places.values())

    def __call__(
        self, slot: Slot, program: Program, run: Callable[[Staged | None], Outcome]
    ) -> Outcome:
        """Run ``program`` from just before it sees the payload."""
        if self.distrusted or program.limits.starve:
            return run(None)  # limits hold from its start on, and not for a frozen copy
        snapshot_pool = self._ladder_for(slot, program)
        is_settled = False  # check the accesses while the first copy prepares itself
        for snapshot in () if snapshot_pool.is_to_scout else _deepest_first(snapshot_pool):
            # Reset steps come first and may change anything.
            look = None if program.reset else self._places[slot].early.spoilt_by
            staged = Staged(stage=snapshot_pool.stage, since=snapshot, look=look)
            why = blocker_of(snapshot, (look or Snapshot.spoilt_by) if is_settled else None)
            outcome = None
            if not why:
                try:
                    outcome = run(staged)
                except DivergedError:
                    why, is_settled = _refusal(snapshot_pool, staged, snapshot, program), True
            if outcome is not None:
                snapshot_pool.scouts = 0
                return self._checked(
                    slot, snapshot_pool, replace(outcome, resumed_from=snapshot.place), run
                )
            self._note(why)
            self._drop(slot, snapshot_pool, snapshot)
        if snapshot_pool.why_cold:
            return run(None)
        staged = Staged(stage=snapshot_pool.stage)
        outcome = run(staged)
        if outcome.interrupted:
            return outcome
        self._look_at(slot, snapshot_pool, staged)
        # What is watched may do no more than the user may: a `sudo` would fail.
        return run(None) if staged.halted and not _starts_python(program) else outcome

    def _checked(
        self,
        slot: Slot,
        snapshot_pool: _Ladder,
        outcome: Outcome,
        run: Callable[[Staged | None], Outcome],
    ) -> Outcome:
        """Return the outcome; sometimes that of a cold run, to see whether they agree."""
        if outcome.interrupted:
            return outcome
        verdict = self._judge(outcome)
        snapshot_pool.came[verdict] += 1
        if not _is_due(snapshot_pool.came[verdict]):
            with self._lock:
                self.warm_runs += 1
            return outcome
        cold = run(None)
        if cold.interrupted:
            return cold
        if self._judge(cold) is not verdict or not _is_alike(cold, outcome):
            self.distrusted = "a warm trial and the same trial from the start ended differently"
            self._note(self.distrusted)
        # A copy is watched to its end: what looks at many files takes longer than from the start.
        snapshot_pool.checks += 1
        snapshot_pool.warm_seconds += outcome.wall_seconds
        snapshot_pool.cold_seconds += cold.wall_seconds
        lost_seconds = snapshot_pool.warm_seconds - snapshot_pool.cold_seconds
        most_lost = max(self._most_lost_seconds, snapshot_pool.cold_seconds * _MOST_LOST_SHARE)
        if snapshot_pool.checks >= _CHECKS_FOR_LOSS and lost_seconds > most_lost:
            self._give_up(slot, snapshot_pool, "running from a frozen copy takes longer")
        return cold

    def _ladder_for(self, slot: Slot, program: Program) -> _Ladder:
        with self._lock:
            place = self._places.get(slot)
            if place is None:
                folder = self._cleanup_journal.temporary_folder("whet-")
                early = slot.hold(
                    InstalledPackagesCheck(longest_seconds=self._look_seconds, is_kept=True)
                )
                place = self._places[slot] = _Place(str(folder / "stage"), early)
        if place.spawner != slot.spawner:
            place.ladders.clear()  # they have ended with the spawner that kept them
            place.spawner = slot.spawner
        same = self._but_for_what_varies(program)
        own_ladder = next((each for each in place.ladders if each[0] == same), None)
        if own_ladder is None:
            own_ladder = (same, self._new_ladder(place, program))
        else:
            place.ladders.remove(own_ladder)
        place.ladders.append(own_ladder)
        if len(place.ladders) > _MOST_PROGRAMS:
            _, oldest = place.ladders.pop(0)
            for snapshot in tuple(oldest.stage.snapshots.values()):
                self._drop(slot, oldest, snapshot)
        return own_ladder[1]

    def _but_for_what_varies(self, program: Program) -> Program:
        # Time is kept from outside, and a search with a deadline gives each trial less of it.
        program = replace(program, limits=replace(program.limits, wall_seconds=None))
        if self._first_word:
            return replace(program, command=program.command[: self._first_word])
        contents = list(program.contents)
        contents[1 + self._position] = ""
        return replace(program, contents=tuple(contents))

    def _new_ladder(self, place: _Place, program: Program) -> _Ladder:
        snapshot_pool = _Ladder(stage=Stage(address=place.address, first_word=self._first_word))
        if not self._first_word:
            payload = program.payloads[self._position]
            names = (str(payload), os.path.realpath(payload))
            snapshot_pool.stage.awaited = tuple(dict.fromkeys(names))
            if program.stdin == payload:
                snapshot_pool.why_cold = "standard input is the payload"
            elif "\n" in f"{payload}{place.address}":
                snapshot_pool.why_cold = "the payload's name has a line break"
        if self._first_word and not _starts_python(program):
            python = _search(program).python_of(program.command)
            snapshot_pool.why_cold = (
                f"`{program.command[0]}` is not Python itself, and may see the arguments first"
                f"{f': name `{python}` instead' if python else ''}"
            )
        if snapshot_pool.why_cold:
            self._note(snapshot_pool.why_cold)
        return snapshot_pool

    def _look_at(self, slot: Slot, snapshot_pool: _Ladder, staged: Staged) -> None:
        """Keep what the run has left that later trials can run on from.

        A snapshot that has seen the payload, by whatever code, is none of them. Where native
        code sees it first, the next run knows where, and leaves a snapshot just before that.
        """
        stage, why = snapshot_pool.stage, staged.last_blocker
        for snapshot in _deepest_first(snapshot_pool):
            if any(map(snapshot.has_seen, stage.awaited)):
                name = Path(stage.awaited[0]).name
                why = f"native code, which Python doesn't report, reads {name} early"
                self._drop(slot, snapshot_pool, snapshot)
        for snapshot in _deepest_first(snapshot_pool)[_MOST_KEPT:]:
            self._drop(slot, snapshot_pool, snapshot)
        snapshot_pool.scouts += 1
        if snapshot_pool.is_lost and stage.snapshots:
            snapshot_pool.is_lost = False
            with self._lock:
                self._reasons.pop(_LOST, None)
            self._note(f"{_LOST}; whet made another")
        is_found = any(each.kind == _AWAITS for each in stage.snapshots.values())
        is_hindered = staged.was_hindered_before(stage.awaited or (ITS_ARGUMENTS,))
        is_known = is_found or stage.place or is_hindered
        if self._first_word and not is_known:
            self._give_up(
                slot, snapshot_pool, "Python doesn't report when the program reads its arguments"
            )
            return
        snapshot_pool.is_to_scout = not is_known and bool(staged.first_sight)
        if snapshot_pool.is_to_scout:
            stage.place = staged.first_sight
        elif not stage.snapshots:
            self._give_up(
                slot, snapshot_pool, why or "whet doesn't know when the program reads the payload"
            )
        elif snapshot_pool.scouts > _MOST_SCOUTS:
            self._give_up(slot, snapshot_pool, "no snapshot was usable")
        elif not is_found and why:
            self._note(why)

    def _give_up(self, slot: Slot, snapshot_pool: _Ladder, why: str) -> None:
        snapshot_pool.why_cold = why
        self._note(why)
        for snapshot in tuple(snapshot_pool.stage.snapshots.values()):
            self._drop(slot, snapshot_pool, snapshot)

    def _drop(self, slot: Slot, snapshot_pool: _Ladder, snapshot: Snapshot) -> None:
        del snapshot_pool.stage.snapshots[snapshot.number]
        slot.drop(snapshot.number)

    def _note(self, why: str) -> None:
        with self._lock:
            self._reasons[why] = None


def _refusal(snapshot_pool: _Ladder, staged: Staged, snapshot: Snapshot, program: Program) -> str:
    """Return why nothing ran on from a snapshot that was tried."""
    if staged.spoilt and not program.reset:
        return change_seen(staged.spoilt, snapshot)
    if staged.spoilt:
        snapshot_pool.why_cold = "the reset steps change what the program reads"
        return snapshot_pool.why_cold
    if staged.last_blocker not in {"", GONE}:
        return staged.last_blocker
    snapshot_pool.is_lost = True
    return _LOST


def _is_alike(cold: Outcome, warm: Outcome) -> bool:
    if cold.signature == warm.signature:
        return True
    if cold.signature is None or warm.signature is None:
        return False
    return cold.signature.in_any_order == warm.signature.in_any_order


def _starts_python(program: Program) -> bool:
    return _search(program).starts_python(program.command)


def _search(program: Program) -> Search:
    return Search(cwd=program.cwd, environment=program.environment)


def _deepest_first(snapshot_pool: _Ladder) -> list[Snapshot]:
    # How long it took to get to places says which of them is deeper within one run only.
    snapshots = snapshot_pool.stage.snapshots.values()
    return sorted(snapshots, key=lambda each: (each.kind != _AWAITS, -each.seconds))


def _is_due(count: int) -> bool:
    """Whether it is 1, 16, 256 and so on."""
    while count % _CHECK_STEP == 0:
        count //= _CHECK_STEP
    return count == 1
