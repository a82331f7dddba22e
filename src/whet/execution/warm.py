"""Running a program on from the deepest frozen copy that an edit cannot have touched."""

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path

from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.host.belongings import Belongings
from whet.host.slot import Slot
from whet.host.stage import WORTH_SECONDS, OtherPastError, Snapshot, Stage, Staged

_MOST_SNAPSHOTS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a run began.

    Attributes:
        place: the snapshot it ran on from, such as ``train.py:31``; empty: it ran cold.
        saved_seconds: how long the program had taken to get there.
        why_not_deeper: what kept it from a deeper snapshot; empty if none was deeper.
        snapshots: how many snapshots there are after it.
    """

    place: str = ""
    saved_seconds: float = 0.0
    why_not_deeper: str = ""
    snapshots: int = 0


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
        self._command: Hashable = None
        self._refused: set[int] = set()

    def __call__(
        self, slot: Slot, trial: Trial, run: Callable[[Staged | None], Outcome]
    ) -> Outcome:
        """Run ``trial`` from as far on as is right."""
        stage = self._stage_for(slot, trial)
        why = ""
        for snapshot in sorted(stage.snapshots.values(), key=lambda each: -each.seconds):
            source, hindrance = _fit(snapshot)
            if source is not None:
                try:
                    outcome = run(Staged(stage=stage, since=snapshot, source=source))
                except OtherPastError:
                    # It stays: the next save may take a slip above it back.
                    why = (
                        why
                        or f"not from {snapshot.place}: {_name(snapshot.script)} has changed above"
                    )
                    self._refused.add(snapshot.number)
                    continue
                self._refused.discard(snapshot.number)
                self._note(slot, stage, snapshot, why)
                return outcome
            why = why or f"not from {snapshot.place}: {hindrance}"
            self._drop(slot, stage, snapshot)
        outcome = run(Staged(stage=stage))
        self._note(slot, stage, None, why)
        return outcome

    def _stage_for(self, slot: Slot, trial: Trial) -> Stage:
        if self._stage is None:
            folder = self._belongings.temporary_folder("whet-")
            self._stage = Stage(address=str(folder / "stage"), worth_seconds=self._worth_seconds)
        command = (
            trial.command, trial.cwd, tuple(sorted(trial.environment.items())), trial.stdin,
            trial.payloads, trial.reset, trial.limits,
        )  # fmt: skip
        if command != self._command:
            for snapshot in tuple(self._stage.snapshots.values()):
                self._drop(slot, self._stage, snapshot)
        self._command = command
        return self._stage

    def _note(self, slot: Slot, stage: Stage, since: Snapshot | None, why: str) -> None:
        """Keep what is useful: of two snapshots close to each other the later one."""
        kept = sorted(stage.snapshots.values(), key=lambda each: each.seconds)
        while len(kept) > _MOST_SNAPSHOTS:
            gains = [later.seconds - each.seconds for each, later in itertools.pairwise(kept)]
            useless = [index for index, each in enumerate(kept) if each.number in self._refused]
            self._drop(slot, stage, kept.pop(useless[0] if useless else gains.index(min(gains))))
        self.last = Start(
            place="" if since is None else since.place,
            saved_seconds=0.0 if since is None else since.seconds,
            why_not_deeper=why,
            snapshots=len(kept),
        )

    def _drop(self, slot: Slot, stage: Stage, snapshot: Snapshot) -> None:
        del stage.snapshots[snapshot.number]
        self._refused.discard(snapshot.number)
        slot.drop(snapshot.number)


def _fit(snapshot: Snapshot) -> tuple[bytes | None, str]:
    """Return the main script to run on with (empty: the same one), or None and why it cannot."""
    spoilt = snapshot.spoilt_by()
    if spoilt:
        return None, f"{_name(spoilt)} has changed"
    if not snapshot.script:
        return b"", ""
    try:
        now = Path(snapshot.script).read_bytes()
    except OSError as error:
        return None, f"{_name(snapshot.script)}: {error.strerror}"
    if now == snapshot.source:
        return b"", ""
    if snapshot.kind != "statement":
        return None, f"{_name(snapshot.script)} has changed"
    return now, ""


def _name(path: str) -> str:
    return Path(path).name or path
