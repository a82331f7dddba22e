"""Running a program on from the deepest frozen copy that an edit cannot have touched."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from whet.core.outcome import Outcome
from whet.host.belongings import Belongings
from whet.host.slot import Slot
from whet.host.spawner_process import Program
from whet.host.stage import WORTH_SECONDS, OtherPastError, Snapshot, Stage, Staged

_MOST_SNAPSHOTS = 12
_LATEST = 3  # of them are kept in any case


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a run began.

    Attributes:
        place: the snapshot it ran on from, such as ``train.py:31``; empty: it ran cold.
        saved_seconds: how long the program had taken to get there.
        why_not_deeper: what kept it from a deeper snapshot; empty if none was deeper.
        snapshots: how many snapshots there are after it.
        halted: why it left no more of them; empty: nothing kept it from that.
    """

    place: str = ""
    saved_seconds: float = 0.0
    why_not_deeper: str = ""
    snapshots: int = 0
    halted: str = ""


class WarmRuns:
    """Runs one program again and again; satisfies `whet.execution.cold.Perform`.

    Each run begins at the deepest snapshot that saw nothing that has changed since, and is what
    a cold run would be. Where none is left it is a cold run.

    Attributes:
        last: where the last run began.
    """

    def __init__(self, belongings: Belongings, *, worth_seconds: float = WORTH_SECONDS) -> None:
        """Make it ready.

        Args:
            belongings: where the folder of its socket is written down.
            worth_seconds: a stretch of the program that takes longer is worth a snapshot.
        """
        self.last = Start()
        self._belongings = belongings
        self._worth_seconds = worth_seconds
        self._stage: Stage | None = None
        self._same: tuple[Program, int] | None = None
        self._refused: set[int] = set()

    def __call__(
        self, slot: Slot, program: Program, run: Callable[[Staged | None], Outcome]
    ) -> Outcome:
        """Run ``program`` from as far on as is right."""
        stage = self._stage_for(slot, program)
        why = ""
        is_settled = not program.reset  # what was seen is looked at when the reset steps are done
        for snapshot in sorted(stage.snapshots.values(), key=lambda each: -each.seconds):
            changed, hindrance = _fit(snapshot, is_settled=is_settled)
            if changed is not None:
                staged = self._staged(slot, stage, snapshot, changed)
                try:
                    outcome = run(staged)
                except OtherPastError:
                    why = why or f"not from {snapshot.place}: {_refusal(staged)}"
                    is_settled = True
                    if staged.spoilt:
                        self._drop(slot, stage, snapshot)
                    else:
                        # It stays: the next save may take a slip above it back.
                        self._refused.add(snapshot.number)
                    continue
                self._refused.discard(snapshot.number)
                self._note(staged, why)
                return outcome
            why = why or f"not from {snapshot.place}: {hindrance}"
            self._drop(slot, stage, snapshot)
        staged = self._staged(slot, stage)
        outcome = run(staged)
        self._note(staged, why)
        return outcome

    def _stage_for(self, slot: Slot, program: Program) -> Stage:
        if self._stage is None:
            folder = self._belongings.temporary_folder("whet-")
            self._stage = Stage(address=str(folder / "stage"), worth_seconds=self._worth_seconds)
        same = (program, slot.spawner)
        if same != self._same:
            for snapshot in tuple(self._stage.snapshots.values()):
                self._drop(slot, self._stage, snapshot)
        self._same = same
        return self._stage

    def _staged(
        self,
        slot: Slot,
        stage: Stage,
        since: Snapshot | None = None,
        changed: Mapping[str, bytes] | None = None,
    ) -> Staged:
        return Staged(
            stage=stage,
            since=since,
            changed=changed or {},
            # A program that asks for one at each step must not leave thousands of them.
            on_snapshot=lambda: self._thin(slot, stage),
        )

    def _thin(self, slot: Slot, stage: Stage) -> None:
        """Keep what is useful: the latest snapshots, and before them fewer and fewer."""
        kept = sorted(stage.snapshots.values(), key=lambda each: each.seconds)
        while len(kept) > _MOST_SNAPSHOTS:
            useless = [index for index, each in enumerate(kept) if each.number in self._refused]
            index = useless[0] if useless else _least_useful([each.seconds for each in kept])
            self._drop(slot, stage, kept.pop(index))

    def _note(self, staged: Staged, why: str) -> None:
        stage, since = staged.stage, staged.since
        self.last = Start(
            place="" if since is None else since.place,
            saved_seconds=0.0 if since is None else since.seconds,
            why_not_deeper=why,
            snapshots=len(stage.snapshots),
            halted=staged.halted,
        )

    def _drop(self, slot: Slot, stage: Stage, snapshot: Snapshot) -> None:
        del stage.snapshots[snapshot.number]
        self._refused.discard(snapshot.number)
        slot.drop(snapshot.number)


def hindrance_of(snapshot: Snapshot, *, is_settled: bool) -> str:
    """Return why the same program cannot run on from a snapshot; empty if it can.

    Args:
        snapshot: where it would run on from.
        is_settled: what it had seen is looked at too, not only the program's own files.
    """
    changed, why = _fit(snapshot, is_settled=is_settled)
    return f"{_name(next(iter(changed)))} has changed" if changed else why


def _least_useful(seconds: list[float]) -> int:
    """Return which of some moments is missed least: the gap it would leave is soon made good."""
    last = seconds[-1]
    before = [0.0, *seconds]
    return min(
        range(len(seconds) - _LATEST),
        key=lambda at: (seconds[at + 1] - before[at]) / (last - seconds[at]),
    )


def _fit(snapshot: Snapshot, *, is_settled: bool) -> tuple[dict[str, bytes] | None, str]:
    """Return what its sources say now that have changed, or None and why it cannot be used."""
    spoilt = snapshot.spoilt_by() if is_settled else ""
    if spoilt:
        return None, f"{_name(spoilt)} has changed"
    changed: dict[str, bytes] = {}
    for path, then in snapshot.sources.items():
        try:
            now = Path(path).read_bytes()
        except OSError as error:
            return None, f"{_name(path)}: {error.strerror}"
        if now != then:
            changed[path] = now
    return changed, ""


def _refusal(staged: Staged) -> str:
    if staged.spoilt:
        return f"a reset step has changed {_name(staged.spoilt)}"
    names = " and ".join(sorted(map(_name, staged.changed)))
    return staged.halted or f"{names} has changed above"


def _name(path: str) -> str:
    return Path(path).name or path
