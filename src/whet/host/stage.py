"""The frozen copies of a program, as whet knows them: where each was taken and what it had seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from whet.host.channel import as_taken
from whet.host.observation import Observation, Observing
from whet.host.spawner_process import Program, Resumed

STAGE_VARIABLE = "WHET_STAGE"
DEBUGGING_VARIABLE = "WHET_PDB"
WORTH_SECONDS = 0.05


class Debugging(Enum):
    """When a run opens a debugger, as its agent is told."""

    NEVER = ""
    AT_FAILURE = "at failure"
    AT_ONCE = "at once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A frozen copy of a program, from which it can run on.

    Attributes:
        number: the spawner's number for it.
        kind: ``statement``: between two statements of the main script; ``reads``: just before a
            file is read for the first time.
        place: where, such as ``train.py:31`` or the file.
        seconds: how long the program took to get there.
        seen: what it had seen of the file system by then, one observation for each run that it
            is made of.
        sources: the program's own files that it had read, and what they said: its main script,
            and modules that are not installed.
        past: what it had written by then, by stream.
        stack: file and function of each of its frames, the innermost last.
    """

    number: int
    kind: str
    place: str
    seconds: float
    seen: tuple[Observation, ...]
    sources: Mapping[str, bytes]
    past: Mapping[str, bytes]
    stack: tuple[tuple[str, str], ...] = ()

    def spoilt_by(self) -> str:
        """Return a path that is not what it was when the program saw it; empty if all are.

        A source is among them only if it was read by others than Python's import system.
        """
        changed = (observation.changed() for observation in self.seen)
        return next((path for path in changed if path), "")


class OtherPastError(Exception):
    """A snapshot has another past than the program would have now."""


@dataclass(slots=True, kw_only=True)
class Stage:
    """What one program's runs have left to run on from.

    Attributes:
        address: the socket at which copies report, below a folder that only whet writes to.
        worth_seconds: a stretch of the program that takes longer is worth a snapshot at its end.
        snapshots: by number, in the order in which they were taken.
    """

    address: str
    worth_seconds: float = WORTH_SECONDS
    snapshots: dict[int, Snapshot] = field(default_factory=dict[int, Snapshot])


@dataclass(slots=True, kw_only=True)
class Staged:
    """How one run takes part in a stage.

    Attributes:
        stage: where its snapshots go.
        since: the snapshot to run on from; None: from the start.
        changed: what sources of the program say now that have changed.
        halted: why it left no more snapshots; empty: nothing kept it from that.
        spoilt: what a reset step has changed that the snapshot had seen.
        debugging: when it opens a debugger.
    """

    stage: Stage
    since: Snapshot | None = None
    changed: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    halted: str = ""
    spoilt: str = ""
    debugging: Debugging = Debugging.NEVER
    _observing: Observing = field(default_factory=Observing)

    @property
    def resumed(self) -> Resumed | None:
        """The copy to run on from, as the spawner is told."""
        if self.since is None:
            return None
        return Resumed(
            number=self.since.number,
            changed=dict(self.changed),
            is_debugged=self.debugging is Debugging.AT_ONCE,
        )

    def on(self, program: Program) -> Program:
        """Return the program that knows where its copies report."""
        wish = f"{self.stage.worth_seconds}:{self.stage.address}"
        environment = {**program.environment, STAGE_VARIABLE: wish}
        if self.debugging is not Debugging.NEVER:
            environment[DEBUGGING_VARIABLE] = self.debugging.value
        return replace(program, environment=environment)

    def note(self, body: bytes, past: Mapping[str, bytes]) -> None:
        """Take a snapshot of this run in."""
        number, kind, place, seconds, sighted, sources, stack, observed = as_taken(body)
        self._observing.add(sighted, observed)
        earlier = () if self.since is None else self.since.seen
        self.stage.snapshots[number] = Snapshot(
            number=number,
            kind=kind,
            place=place,
            seconds=seconds,
            seen=(*earlier, self._observing.by_now(sources)),
            sources=sources,
            past=dict(past),
            stack=tuple(stack),
        )

    def still_fits(self) -> bool:
        """Whether the snapshot may be run on from after the reset steps, as it might before."""
        since = self.since
        if since is not None:
            others = (
                path
                for path, then in since.sources.items()
                if _read(path) != self.changed.get(path, then)
            )
            self.spoilt = next(others, "") or since.spoilt_by()
        return not self.spoilt

    def halt(self, why: str) -> None:
        """Note why this run leaves no more snapshots."""
        self.halted = self.halted or why


def _read(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None
