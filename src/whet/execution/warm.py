"""Resuming a program from the latest frozen copy that an edit doesn't affect."""

import math
import os
import re
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from whet.core.failure import Failure
from whet.core.outcome import Outcome
from whet.core.value_class import value_class
from whet.execution.installed_packages_check import InstalledPackagesCheck
from whet.execution.snapshot_pool import MOST_SNAPSHOTS, SnapshotPool, SnapshotRow
from whet.execution.worth import Worth, first_difference
from whet.host.files.file_times import Moment
from whet.host.limits.program import Program
from whet.host.process.channel import GONE, UNFOLLOWED
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.messages import LastingEffect
from whet.host.trial.process_snapshots import (
    WORTH_SECONDS,
    Blocker,
    Debugging,
    DivergedError,
    Snapshot,
    Stage,
    Staged,
)
from whet.host.trial.slot import Slot

_KEEPER_IS_GONE = "the process that keeps the frozen copies has ended"


@value_class(kw_only=True)
class Start:
    """Where a run began, and what it has left to run on from.

    Attributes:
        place: the snapshot it ran on from, such as ``train.py:31``; empty: it ran cold.
        saved_seconds: how long the program had taken to get there.
        why_not_deeper: what kept it from a deeper snapshot; empty if none was deeper.
        snapshots: how many snapshots there are after it.
        halted: why it left no deeper one; empty: nothing kept it from that.
        halted_at: the place from which on; empty: it could leave none at all.
        effects: why it could not simply be run again: what it has left in the world,
            what the user typed for it.
        missing: where there is no snapshot though there might have been one.
        is_followed: it was a Python that whet can follow, or freeze and step through.
        changed_files: files that it has written, made or removed, with folders for all that is in
            them; None: there may be more.
        reset_at: when its reset steps were over, with all that they have started; None: not known.
    """

    place: str = ""
    saved_seconds: float = 0.0
    why_not_deeper: str = ""
    snapshots: int = 0
    halted: str = ""
    halted_at: str = ""
    effects: tuple[LastingEffect, ...] = ()
    missing: tuple[Blocker, ...] = ()
    is_followed: bool = True
    changed_files: frozenset[str] | None = None
    reset_at: Moment | None = None


def _nothing() -> None:
    """Return at once."""


class WarmRuns:
    """Runs one program again and again; satisfies `whet.execution.cold.Perform`.

    Each run begins at the deepest snapshot that saw nothing that has changed since, and is what
    a cold run would be. Where none is left it is a cold run.

    Attributes:
        last: where the last run began.
        leaves_more: whether a run that resumes from a snapshot leaves others.
    """

    def __init__(
        self,
        cleanup_journal: CleanupJournal,
        *,
        worth_seconds: float = WORTH_SECONDS,
        most_snapshots: int = MOST_SNAPSHOTS,
        debugging: Debugging = Debugging.NEVER,
        early: InstalledPackagesCheck | None = None,
        settle: Callable[[], object] = _nothing,
    ) -> None:
        """Make it ready.

        Args:
            cleanup_journal: where the folder of its socket is written down.
            worth_seconds: a stretch of the program that takes longer is worth a snapshot.
            most_snapshots: how many are kept; none: each run is cold.
            debugging: when each run opens a debugger.
            early: checks the installed files before the next run begins; None: there is no such check.
            settle: returns when the next run may look at files; until then a copy makes itself
                ready with what they say so far.
        """
        self.last = Start()
        self.leaves_more = True
        self._early = early
        self._settle = settle
        self._cleanup_journal = cleanup_journal
        self._worth = Worth(seconds=worth_seconds)
        self._left, self._had = set[int](), set[int]()
        self._taken_on: dict[int, Mapping[str, bytes]] = {}  # by number: texts it has resumed with
        self._most = most_snapshots
        self._snapshot_pool: SnapshotPool | None = None
        self._same: tuple[Program, int] | None = None
        self._last: Staged | None = None
        self._distrusted = ""
        self._debugging = debugging
        self._failure: Failure | None = None

    def snapshot_rows(self) -> tuple[SnapshotRow, ...]:
        """Return the snapshots as they are shown, between two runs."""
        start = None if self._last is None else self._last.since
        return () if self._snapshot_pool is None else self._snapshot_pool.snapshot_rows(start)

    def has_found(self, path: str) -> bool:
        """Whether there was a file when the program looked, or one in a folder of that name.

        What it has seen after its deepest snapshot isn't known.
        """
        snapshot_pool = self._snapshot_pool
        return snapshot_pool is not None and any(
            each.has_found(path) for each in snapshot_pool.deepest_first()
        )

    def why_outdated(self) -> str:
        """Return what has changed since the last run has seen it; empty: nothing, as far as known.

        What it has seen after its deepest snapshot isn't known.
        """
        staged = self._last
        if staged is None:
            return ""
        snapshots = staged.stage.snapshots
        own = [snapshots[number] for number in self._left & snapshots.keys()]
        own += [] if staged.since is None else [staged.since]
        deepest = max(own, key=lambda each: each.seconds, default=None)
        if deepest is None:
            return ""
        sources = {**deepest.sources, **(staged.changed if deepest is staged.since else {})}
        return blocker_of(replace(deepest, sources=sources), Snapshot.spoilt_by)

    def distrust(self, why: str) -> None:
        """Let the next run be cold, without any of the snapshots that there are."""
        self._distrusted = why

    def __call__(
        self, slot: Slot, program: Program, run: Callable[[Staged | None], Outcome]
    ) -> Outcome:
        """Run ``program`` from as far on as is right."""
        if self._early is not None:
            self._early.begin_run()
        never = self._why_never(program)
        if never:
            self.last = Start(halted=never)
            return self._cold(run, None)
        snapshot_pool = self._ladder_for(slot, program)
        if self._failure is not None:
            return self._look_back(snapshot_pool, self._failure, run)
        return self._from_deepest(slot, snapshot_pool, program, run)

    def _from_deepest(
        self,
        slot: Slot,
        snapshot_pool: SnapshotPool,
        program: Program,
        run: Callable[[Staged | None], Outcome],
    ) -> Outcome:
        why: Blocker | None = None
        if self._distrusted:
            why, self._distrusted = Blocker(place="", seconds=0, why=self._distrusted), ""
            snapshot_pool.clear(why.why)
        # Check the accesses while the first copy prepares itself, after the reset steps.
        is_settled = False
        # Reset steps come first and may change anything.
        look = Snapshot.spoilt_by if program.reset or not self._early else self._early.spoilt_by
        waiting = deque(snapshot_pool.likeliest_first(_edited))
        while waiting:
            snapshot = waiting.popleft()
            staged, blocker = self._staged(snapshot_pool, snapshot, look, is_settled=is_settled)
            if staged is not None:
                worth = self._worth_of(snapshot_pool, staged, was_refused=why is not None)
                staged.worth_seconds = worth.here if self.leaves_more else math.inf
                began = time.time() if program.reset else None
                try:
                    outcome = run(staged)
                except DivergedError:
                    blocker = _refusal(staged, began, self._taken_on.get(snapshot.number, {}))
                else:
                    snapshot_pool.accept(snapshot)
                    self._taken_on[snapshot.number] = staged.changed
                    self._worth = worth
                    self._note(
                        slot, snapshot_pool, staged, why or snapshot_pool.why_not_deeper(snapshot)
                    )
                    return outcome
                was_settled, is_settled = is_settled, True
                if staged.spoilt in snapshot.sources and not was_settled:
                    waiting.appendleft(snapshot)  # it was saved once more meanwhile
                    continue
            if staged is not None and staged.spoilt:
                blocker += _reader(staged.spoilt, snapshot, snapshot_pool.deepest_first())
            why = why or snapshot.blocked(blocker)
            if staged is None or staged.spoilt or staged.halted_by == GONE:
                snapshot_pool.remove(snapshot, blocker)
            else:
                snapshot_pool.refuse(snapshot, blocker, _edited(snapshot))
        staged = Staged(
            stage=snapshot_pool.stage, added=snapshot_pool.grow, debugging=self._debugging
        )
        outcome = self._cold(run, staged)
        self._worth = Worth(seconds=self._worth.seconds)
        self._note(slot, snapshot_pool, staged, why)
        return outcome

    def _worth_of(self, snapshot_pool: SnapshotPool, staged: Staged, *, was_refused: bool) -> Worth:
        """Return how long a stretch of a run is worth a copy."""
        assert staged.since is not None
        number, snapshots = staged.since.number, snapshot_pool.stage.snapshots
        serving = {
            each
            for each in self._left
            if each in snapshots and not snapshot_pool.is_refused(snapshots[each])
        }
        return self._worth.after(
            {**staged.since.sources, **staged.changed},
            was_refused=was_refused,
            were_in_vain=bool(self._left) and number not in self._left and not serving,
        )

    def _staged(
        self,
        snapshot_pool: SnapshotPool,
        snapshot: Snapshot,
        look: Callable[[Snapshot], str],
        *,
        is_settled: bool,
    ) -> tuple[Staged | None, str]:
        """Return how a run resumes from a snapshot; None and why it can't."""
        others = snapshot_pool.deepest_first()
        edits, blocker = _fit(snapshot, look if is_settled else None, others)
        if edits is None:
            return None, blocker
        staged = Staged(
            stage=snapshot_pool.stage,
            since=snapshot,
            changed=edits,
            added=snapshot_pool.grow,
            debugging=self._debugging,
            look=look,
            settle=self._settle,
        )
        return staged, ""

    def _why_never(self, program: Program) -> str:
        """Return why no copies are made at all; empty: they are."""
        if not self._most:
            return "`--snapshots 0` asks for none"
        return (
            "the limits apply from the program's start, so not to a frozen copy"
            if program.limits.starve
            else ""
        )

    def _cold(self, run: Callable[[Staged | None], Outcome], staged: Staged | None) -> Outcome:
        self._settle()
        return run(staged)

    def before(self, failure: Failure) -> list[Snapshot]:
        """Return the snapshots from before the failing function was entered, the deepest first."""
        if self._snapshot_pool is None:
            return []
        chain = _chain(failure)
        return [
            snapshot
            for snapshot in self._snapshot_pool.deepest_first()
            if not self._is_refused_now(snapshot) and not _is_inside(snapshot.stack, chain)
        ]

    def _is_refused_now(self, snapshot: Snapshot) -> bool:
        # Another text may have been refused, and the one that it was taken from be back since.
        assert self._snapshot_pool is not None
        return self._snapshot_pool.is_refused(snapshot) and bool(_edited(snapshot))

    @contextmanager
    def looking_back(self, failure: Failure) -> Generator[None]:
        """Let runs open a debugger, from before the failing function was entered."""
        self._failure = failure
        try:
            yield
        finally:
            self._failure = None

    def _look_back(
        self, snapshot_pool: SnapshotPool, failure: Failure, run: Callable[[Staged | None], Outcome]
    ) -> Outcome:
        """Run with a debugger: no snapshot is taken, and none is dropped."""
        self._settle()
        at_once = Staged(stage=snapshot_pool.stage, debugging=Debugging.AT_ONCE)
        for snapshot in self.before(failure):
            edits, _ = _fit(snapshot, Snapshot.spoilt_by)
            if edits is not None:
                with suppress(DivergedError):
                    return run(replace(at_once, since=snapshot, changed=edits))
        return run(at_once)

    def _ladder_for(self, slot: Slot, program: Program) -> SnapshotPool:
        if self._snapshot_pool is None:
            folder = self._cleanup_journal.temporary_folder("whet-")
            stage = Stage(address=str(folder / "stage"), worth_seconds=self._worth.seconds)
            self._snapshot_pool = SnapshotPool(stage, slot.drop, most=self._most)
        same = (program, slot.spawner)
        if self._snapshot_pool.stage.snapshots and self._same and self._same[1] != slot.spawner:
            self._distrusted = self._distrusted or _KEEPER_IS_GONE
            self._snapshot_pool.clear(_KEEPER_IS_GONE)
        elif same != self._same:
            self._snapshot_pool.clear("the command has changed")
        self._same = same
        return self._snapshot_pool

    def _note(
        self, slot: Slot, snapshot_pool: SnapshotPool, staged: Staged, why: Blocker | None
    ) -> None:
        self._last, since = staged, staged.since
        snapshot_pool.settle(since, staged.blockers)
        self._taken_on = {
            number: texts
            for number, texts in self._taken_on.items()
            if number in snapshot_pool.stage.snapshots
        }
        self._left, self._had = (
            snapshot_pool.stage.snapshots.keys() - self._had,
            set(snapshot_pool.stage.snapshots),
        )
        likely = snapshot_pool.likely_start()
        # Where it was once more something above the deepest one that was edited, it will be again.
        ahead = [each for each in (likely, since) if each is not None]
        for number in dict.fromkeys(each.number for each in ahead):
            if number in snapshot_pool.stage.snapshots:
                slot.prepare_ahead(number)
        if self._early is not None:
            self._early.expect(likely)
        deepest = max(
            (each.seconds for each in snapshot_pool.stage.snapshots.values()), default=-1.0
        )
        halt = next((each for each in snapshot_pool.missing if each.seconds > deepest), None)
        self.last = Start(
            place="" if since is None else since.place,
            saved_seconds=0.0 if since is None else since.seconds,
            why_not_deeper="" if why is None else why.beside("" if since is None else since.place),
            snapshots=len(snapshot_pool.stage.snapshots),
            halted=staged.halted or ("" if halt is None else halt.why),
            halted_at="" if staged.halted or halt is None else halt.place,
            effects=tuple(staged.effects),
            missing=snapshot_pool.missing,
            is_followed=staged.halted_by != UNFOLLOWED,
            changed_files=None if staged.halted else staged.changed_files,
            reset_at=staged.reset_at,
        )


def blocker_of(snapshot: Snapshot, look: Callable[[Snapshot], str] | None) -> str:
    """Return why the same program can't run on from a snapshot; empty if it can.

    Args:
        snapshot: where it would run on from.
        look: says what has changed of what it had seen; None: only its own files are looked at.
    """
    edits, why = _fit(snapshot, look)
    return f"{_name(next(iter(edits)))} has changed" if edits else why


def _chain(failure: Failure) -> list[tuple[str, str]]:
    """Return the functions that were being run where it failed, the failing one last.

    The failing one is the innermost of the user's own. Nothing if it is a module's text: that is
    entered when the program begins, so that any snapshot does.
    """
    last = next((at for at, frame in enumerate(failure.frames) if frame is failure.place), -1)
    chain = [(Path(frame.path).name, frame.function) for frame in failure.frames[: last + 1]]
    return [] if chain and chain[-1][1] == "<module>" else chain


def _is_inside(stack: tuple[tuple[str, str], ...], chain: list[tuple[str, str]]) -> bool:
    """Whether a snapshot may have been taken while the failing function was being run.

    An earlier call of it from the same functions looks the same, and counts.
    """
    then = [(Path(path).name, function) for path, function in stack]
    return bool(chain) and then[: len(chain)] == chain


def _edited(snapshot: Snapshot) -> dict[str, int]:
    """Return from which line on each of its sources says something else now."""
    edits, _ = _fit(snapshot, None)
    return {
        path: first_difference(snapshot.sources[path], now) for path, now in (edits or {}).items()
    }


def _fit(
    snapshot: Snapshot,
    look: Callable[[Snapshot], str] | None,
    others: Sequence[Snapshot] = (),
) -> tuple[dict[str, bytes] | None, str]:
    """Return what its sources say now that have changed, or None and why it can't be used."""
    blocker = look(snapshot) if look is not None else ""
    if blocker:
        return None, change_seen(blocker, snapshot, others)
    edits: dict[str, bytes] = {}
    for path, then in snapshot.sources.items():
        try:
            now = Path(path).read_bytes()
        except OSError as error:
            return None, f"{_name(path)}: {error.strerror}"
        if now != then:
            edits[path] = now
    return edits, ""


def _refusal(staged: Staged, reset_began: float | None, taken_on: Mapping[str, bytes]) -> str:
    """Return why a copy did not serve.

    Args:
        staged: how the run was to resume from it.
        reset_began: when the reset steps began; None: there are none.
        taken_on: new texts with which a run has resumed from it before.
    """
    assert staged.since is not None
    if not staged.spoilt:
        new = dict(staged.changed.items() - taken_on.items()) or staged.changed
        names = sorted(map(_name, new))
        is_above = _is_above(new, staged.since)
        where = "above this line" if is_above else "in a part that has already run"
        verb = "has" if len(names) == 1 else "have"
        return staged.halted or f"{' and '.join(names)} {verb} changed {where}"
    if reset_began is not None and _change_time(staged.spoilt) >= reset_began:
        return f"a reset step has changed {_name(staged.spoilt)}"
    return _changed(staged.spoilt, staged.since)


def change_seen(path: str, snapshot: Snapshot, others: Sequence[Snapshot] = ()) -> str:
    """Return that a path has changed which a copy had seen, and where the program looks at it.

    Args:
        path: what has changed.
        snapshot: the copy.
        others: the copies that there are, the deepest first.
    """
    return _changed(path, snapshot) + _reader(path, snapshot, others)


def _changed(path: str, snapshot: Snapshot) -> str:
    """Return that a path has changed, named so that the user knows which is meant."""
    name = _name(path) if _is_own(path, snapshot) else path
    is_folder = Path(path).is_dir()
    if not os.path.lexists(path):
        return f"{name} is gone"
    if snapshot.found_nothing_at(path):
        return f"the folder {name} is there now" if is_folder else f"{name} is there now"
    return f"the contents of the folder {name} have changed" if is_folder else f"{name} has changed"


def _is_own(path: str, snapshot: Snapshot) -> bool:
    """Whether a file is near the program's sources, so that its name alone says which is meant."""
    folders = {str(Path(source).parent) for source in snapshot.sources}
    return any(f"{path}/".startswith(f"{folder}/") for folder in folders)


def _reader(path: str, snapshot: Snapshot, others: Sequence[Snapshot]) -> str:
    """Return where the program reads a file that isn't its own, as far as its copies show."""
    if _is_own(path, snapshot):
        return ""
    verb = "looks for" if snapshot.found_nothing_at(path) else "reads"
    first = snapshot
    for each in others:
        if each.seconds < snapshot.seconds:
            if not each.has_seen(path):
                return f", and the program {verb} it after {each.place}"
            first = each
    return f", and the program {verb} it before {first.place}"


def _is_above(new: Mapping[str, bytes], snapshot: Snapshot) -> bool:
    """Whether the only file that has changed did so above the line at which a copy was taken."""
    if len(new) != 1:
        return False
    ((path, text),) = new.items()
    place = re.match(r"(.*):(\d+)", snapshot.place)
    if place is None or place[1] != _name(path) or path not in snapshot.sources:
        return False
    return first_difference(snapshot.sources[path], text) < int(place[2])


def _change_time(path: str) -> float:
    """Return when a file or folder was last changed; 0: it doesn't exist."""
    try:
        return os.lstat(path).st_ctime
    except OSError:
        return 0.0


def _name(path: str) -> str:
    return Path(path).name or path
