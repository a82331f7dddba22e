"""Which frozen copies of a program whet keeps, and why the others are gone."""

import time
from collections.abc import Callable, Iterable, Mapping

from whet.core.text.json_record import Record
from whet.core.text.quantity import shown_bytes
from whet.core.value_class import value_class
from whet.host.files.memory import MemoryLeft, memory_left
from whet.host.process.process_tree import has_ended, own_bytes, resident_bytes
from whet.host.trial.process_snapshots import Blocker, Snapshot, Stage

MOST_SNAPSHOTS = 12
_SHARE = 0.5  # of all memory, for all copies together
_RESERVE = 0.05  # of all memory, which a new copy must leave to the others
_MOST_MISSING = 30
_LATEST = 3  # of many snapshots are kept in any case


@value_class(kw_only=True)
class SnapshotRow(Record):
    """A snapshot as it is shown.

    Attributes:
        place: where it was taken.
        is_start: the last run resumed from it.
        saves_seconds: how long the program took to get there.
        age_seconds: how long ago.
        own_bytes: its share of memory; what two copies share counts half for each.
        looks: how many files and folders the program had read so far.
        refused: why it did not do for the last run; empty: it did, or was not asked.
    """

    place: str
    is_start: bool
    saves_seconds: float
    age_seconds: float
    own_bytes: int
    looks: int
    refused: str = ""


class SnapshotPool:
    """The snapshots of one program, and the places where there is none.

    Attributes:
        stage: holds the snapshots.
        missing: where there is none though there might have been one, and why.
    """

    def __init__(
        self,
        stage: Stage,
        drop: Callable[[int], None],
        *,
        most: int,
        look: Callable[[], MemoryLeft] = memory_left,
    ) -> None:
        """Begin with no snapshots.

        Args:
            stage: where they go.
            drop: ends one.
            most: how many are kept.
            look: says how much memory there is.
        """
        self.stage = stage
        self.missing: tuple[Blocker, ...] = ()
        self._drop = drop
        self._most = most
        self._look = look
        self._refused: dict[int, tuple[str, Mapping[str, int]]] = {}
        self._gone: list[Blocker] = []
        self._has_grown = False

    def deepest_first(self) -> list[Snapshot]:
        """Return the snapshots, the one that saves the most first."""
        return sorted(self.stage.snapshots.values(), key=lambda each: -each.seconds)

    def likeliest_first(self, edited: Callable[[Snapshot], Mapping[str, int]]) -> list[Snapshot]:
        """Return the snapshots in the order in which a run is to ask them: the deepest first.

        One that was refused comes after those that were taken in its place since then: they are
        of what the program says now, and it is of what it said before. One that was refused for an
        edit of the same place comes last: to ask it takes as long as many a run.

        Args:
            edited: says from which line on each file says something else than when it was taken.
        """
        instead: dict[int, float] = {}
        for each in self.deepest_first():
            if self.is_refused(each):
                since = [
                    other.seconds
                    for other in self.stage.snapshots.values()
                    if other.place == each.place
                    and other.taken_at > each.taken_at
                    and not self.is_refused(other)
                ]
                instead[each.number] = max(since, default=each.seconds)

        def rank(each: Snapshot) -> tuple[bool, float, bool]:
            seconds = min(each.seconds, instead.get(each.number, each.seconds))
            _, then = self._refused.get(each.number, ("", None))
            return then is not None and then == edited(each), -seconds, self.is_refused(each)

        return sorted(self.stage.snapshots.values(), key=rank)

    def likely_start(self) -> Snapshot | None:
        """Return the snapshot that the next run will probably resume from; None if there is none."""
        deepest = self.deepest_first()
        return next((each for each in deepest if not self.is_refused(each)), None)

    def snapshot_rows(self, start: Snapshot | None) -> tuple[SnapshotRow, ...]:
        """Return the snapshots as they are shown, the deepest first."""
        now = time.monotonic()
        return tuple(
            SnapshotRow(
                place=each.place,
                age_seconds=now - each.taken_at,
                saves_seconds=each.seconds,
                own_bytes=own_bytes(each.pid),
                looks=each.looks,
                is_start=each is start,
                refused=self.why_refused(each),
            )
            for each in self.deepest_first()
        )

    # ---- changes ----

    def remove(self, snapshot: Snapshot, why: str) -> None:
        """Let a snapshot end."""
        if self.stage.snapshots.pop(snapshot.number, None) is not None:
            self._refused.pop(snapshot.number, None)
            self._gone.append(snapshot.blocked(why))
            self._drop(snapshot.number)

    def clear(self, why: str) -> None:
        """Let all of them end."""
        for snapshot in tuple(self.stage.snapshots.values()):
            self.remove(snapshot, why)

    def refuse(self, snapshot: Snapshot, why: str, edited: Mapping[str, int]) -> None:
        """Note that a snapshot doesn't do now. It stays: the next save may take a slip back.

        Args:
            snapshot: which.
            why: the edit, in words.
            edited: from which line on each file said something else than when it was taken.
        """
        self._refused[snapshot.number] = why, edited

    def why_not_deeper(self, snapshot: Snapshot) -> Blocker | None:
        """Return why a run doesn't resume from a deeper place than this; None if there is none."""
        for each in self.deepest_first():
            is_deeper = each.seconds > snapshot.seconds and each.place != snapshot.place
            if is_deeper and self.is_refused(each):
                return each.blocked(self.why_refused(each))
        return None

    def why_refused(self, snapshot: Snapshot) -> str:
        """Return why a snapshot did not do for the last run that asked for it; empty if it did."""
        return self._refused.get(snapshot.number, ("", None))[0]

    def is_refused(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot did not do for the last run that asked for it."""
        return snapshot.number in self._refused

    def accept(self, snapshot: Snapshot) -> None:
        """Note that a run resumes from a snapshot."""
        self._refused.pop(snapshot.number, None)

    def grow(self, _added: Snapshot) -> None:
        """Remove the least useful snapshots if there are too many, or too little memory."""
        self._has_grown = True
        while len(self.stage.snapshots) > self._most:
            self.remove(self._least_useful(), f"{self._most} others were more useful")
        left = self._look()
        if left.available_bytes < left.total_bytes * _RESERVE:
            why = f"only {shown_bytes(left.available_bytes)} of memory was left"
            self.remove(self._least_useful(), why)

    def settle(self, since: Snapshot | None, blockers: Iterable[Blocker]) -> None:
        """Keep what memory allows once a run is over, and note where there are no snapshots.

        Args:
            since: the snapshot that the run resumed from.
            blockers: where it could leave none.
        """
        for each in tuple(self.stage.snapshots.values()):
            if has_ended(each.pid):
                self.remove(
                    each,
                    "its process has ended: killed, for example where memory ran out, or crashed",
                )
        if self._has_grown:
            self._save_memory()
        self._has_grown = False
        before = 0.0 if since is None else since.seconds
        places = {each.place for each in self.stage.snapshots.values()}
        earlier = [each for each in self.missing if each.seconds < before]
        last = {each.place: each for each in (*earlier, *self._gone) if each.place not in places}
        self._gone.clear()
        # A copy there that serves no more, or from an earlier time round, is none of this moment.
        last |= {each.place: each for each in blockers if each.seconds > self._last_at(each.place)}
        self.missing = tuple(sorted(last.values(), key=lambda each: each.seconds)[-_MOST_MISSING:])

    def _last_at(self, place: str) -> float:
        """Return when the program was last at a place from which a copy can serve; below zero: never."""
        serving = (
            each.seconds
            for each in self.stage.snapshots.values()
            if each.place == place and not self.is_refused(each)
        )
        return max(serving, default=-1.0)

    def _save_memory(self) -> None:
        """Let the least useful ones end until all together take no more than their share."""
        budget = self._look().total_bytes * _SHARE
        pids = {number: each.pid for number, each in self.stage.snapshots.items()}
        # Exact shares take time to find out, and most programs are far below.
        if sum(map(resident_bytes, pids.values())) <= budget:
            return
        shares = {number: own_bytes(pid) for number, pid in pids.items()}
        while len(shares) > 1 and sum(shares.values()) > budget:
            snapshot = self._least_useful()
            del shares[snapshot.number]
            self.remove(snapshot, f"all copies together took more than {shown_bytes(int(budget))}")

    def _least_useful(self) -> Snapshot:
        """Return one that was refused, or the one that is missed least.

        A program may ask for one at each step: of the latest it keeps all, and before them fewer
        and fewer.
        """
        earliest_first = self.deepest_first()[::-1]
        for each in earliest_first:
            if each.number in self._refused:
                return each
        before = [0.0, *(each.seconds for each in earliest_first)]
        last = before[-1]

        def loss(at: int) -> float:
            # The cost of edits up to the next one; most edits are near the end.
            prior, this, later = before[at : at + 3]
            return (this - prior) * (later - this) / max(last - this, 1e-9)

        stay = _LATEST if len(earliest_first) > 2 * _LATEST else 1
        return earliest_first[min(range(len(earliest_first) - stay), key=loss, default=0)]
