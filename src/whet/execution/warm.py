"""Running a program on from the deepest frozen copy that an edit cannot have touched."""

import itertools
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from whet.core.failure import Failure
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.host.belongings import Belongings
from whet.host.slot import Slot
from whet.host.stage import (
    WORTH_SECONDS,
    Debugging,
    OtherPastError,
    Snapshot,
    Stage,
    Staged,
)

_MOST_SNAPSHOTS = 12


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

    def __init__(
        self,
        belongings: Belongings,
        *,
        worth_seconds: float = WORTH_SECONDS,
        debugging: Debugging = Debugging.NEVER,
    ) -> None:
        """Make it ready.

        Args:
            belongings: where the folder of its socket is written down.
            worth_seconds: a stretch of the program that takes longer is worth a snapshot.
            debugging: when each run opens a debugger.
        """
        self.last = Start()
        self._belongings = belongings
        self._worth_seconds = worth_seconds
        self._stage: Stage | None = None
        self._command: Hashable = None
        self._refused: set[int] = set()
        self._debugging = debugging
        self._failure: Failure | None = None

    def __call__(
        self, slot: Slot, trial: Trial, run: Callable[[Staged | None], Outcome]
    ) -> Outcome:
        """Run ``trial`` from as far on as is right."""
        stage = self._stage_for(slot, trial)
        if self._failure is not None:
            return self._look_back(stage, run)
        why = ""
        is_settled = not trial.reset  # what was seen is looked at when the reset steps are done
        for snapshot in sorted(stage.snapshots.values(), key=lambda each: -each.seconds):
            changed, hindrance = _fit(snapshot, is_settled=is_settled)
            if changed is not None:
                staged = Staged(
                    stage=stage, since=snapshot, changed=changed, debugging=self._debugging
                )
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
                self._note(slot, staged, why)
                return outcome
            why = why or f"not from {snapshot.place}: {hindrance}"
            self._drop(slot, stage, snapshot)
        staged = Staged(stage=stage, debugging=self._debugging)
        outcome = run(staged)
        self._note(slot, staged, why)
        return outcome

    def before(self, failure: Failure) -> list[Snapshot]:
        """Return the snapshots from before the failing function was entered, the deepest first."""
        if self._stage is None:
            return []
        chain = _chain(failure)
        return [
            snapshot
            for snapshot in sorted(self._stage.snapshots.values(), key=lambda each: -each.seconds)
            if snapshot.number not in self._refused and not _is_inside(snapshot.stack, chain)
        ]

    @contextmanager
    def looking_back(self, failure: Failure) -> Generator[None]:
        """Let runs open a debugger, from before the failing function was entered."""
        self._failure = failure
        try:
            yield
        finally:
            self._failure = None

    def _look_back(self, stage: Stage, run: Callable[[Staged | None], Outcome]) -> Outcome:
        """Run with a debugger: no snapshot is taken, and none is dropped."""
        assert self._failure is not None
        for snapshot in self.before(self._failure):
            changed, _ = _fit(snapshot, is_settled=True)
            if changed is not None:
                with suppress(OtherPastError):
                    return run(
                        Staged(
                            stage=stage,
                            since=snapshot,
                            changed=changed,
                            debugging=Debugging.AT_ONCE,
                        )
                    )
        return run(Staged(stage=stage, debugging=Debugging.AT_ONCE))

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

    def _note(self, slot: Slot, staged: Staged, why: str) -> None:
        """Keep what is useful: of two snapshots close to each other the later one."""
        stage, since = staged.stage, staged.since
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
            halted=staged.halted,
        )

    def _drop(self, slot: Slot, stage: Stage, snapshot: Snapshot) -> None:
        del stage.snapshots[snapshot.number]
        self._refused.discard(snapshot.number)
        slot.drop(snapshot.number)


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
