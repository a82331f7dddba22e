"""The frozen copies of a program, as whet knows them: where each was taken and what it had seen."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from whet.host.channel import as_taken
from whet.host.observation import Observation
from whet.host.spawner_process import Program

STAGE_VARIABLE = "WHET_STAGE"
WORTH_SECONDS = 0.05


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
        script: the main script; empty if the program is none.
        source: what it held when the program read it.
        past: what it had written by then, by stream.
    """

    number: int
    kind: str
    place: str
    seconds: float
    seen: tuple[Observation, ...]
    script: str
    source: bytes
    past: Mapping[str, bytes]

    def spoilt_by(self) -> str:
        """Return a path that is not what it was when the program saw it; empty if all are.

        The main script is among them only if it was read by others than Python itself.
        """
        changed = (observation.changed() for observation in self.seen)
        return next((path for path in changed if path), "")


class OtherPastError(Exception):
    """A snapshot ran something else, before it was taken, than the script would now."""


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
        source: the main script if the snapshot may run on with it.
    """

    stage: Stage
    since: Snapshot | None = None
    source: bytes = b""
    _began_ns: int = field(default_factory=time.time_ns)

    def on(self, program: Program) -> Program:
        """Return the program that knows where its copies report."""
        wish = f"{self.stage.worth_seconds}:{self.stage.address}"
        environment = {**program.environment, STAGE_VARIABLE: wish}
        return replace(program, environment=environment)

    def note(self, body: bytes, past: Mapping[str, bytes]) -> None:
        """Take a snapshot of this run in."""
        number, kind, place, seconds, files, folders, places, modules, script, source = as_taken(
            body
        )
        observation = Observation.made(files, folders, places, modules, since_ns=self._began_ns)
        earlier = () if self.since is None else self.since.seen
        self.stage.snapshots[number] = Snapshot(
            number=number,
            kind=kind,
            place=place,
            seconds=seconds,
            seen=(*earlier, observation),
            script=script,
            source=source,
            past=dict(past),
        )
