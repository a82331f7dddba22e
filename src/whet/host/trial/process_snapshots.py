"""The frozen copies of a program on whet's side: where each was taken, and what it had read."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain
from pathlib import Path

from whet.core.failure import Frame
from whet.core.value_class import value_class
from whet.host.files.file_times import Moment
from whet.host.files.marks import is_of_nothing
from whet.host.limits.program import Program
from whet.host.process.messages import Done, Freezing, LastingEffect, Taken
from whet.host.trial.observation import Observation, Observing

STAGE_VARIABLE = "WHET_STAGE"
DEBUGGING_VARIABLE = "WHET_PDB"
WORTH_SECONDS = 0.05


class Debugging(Enum):
    """When a run opens a debugger, as its agent is told."""

    NEVER = ""
    AT_FAILURE = "at failure"
    AT_ONCE = "at once"


Past = tuple[tuple[str, bytes], ...]
"""A program's output, by stream, in its order."""


@value_class(kw_only=True)
class Snapshot:
    """A frozen copy of a program, from which it can run on.

    Attributes:
        number: the spawner's number for it.
        pid: its process.
        kind: ``statement``: between two statements of the main script; ``reads``: just before a
            file is read for the first time; ``test``: before a step of a test; ``checkpoint``: where
            else the program asks for one; ``awaits``: just before what a search varies is seen for
            the first time; ``effect``: before what may not be put back.
        place: where, such as ``train.py:31`` or the file, or the name of the checkpoint.
        seconds: how long the program took to get there.
        seen: what it had seen of the file system by then, two observations for each run that it
            is made of.
        sources: the program's own files that it had read, and what they said: its main script,
            and modules that aren't installed.
        past: what it had written by then.
        taken_at: when, on the monotonic clock.
        stack: file and function of each of its frames, the innermost last.
    """

    number: int
    pid: int
    kind: str
    place: str
    seconds: float
    seen: tuple[Observation, ...]
    sources: Mapping[str, bytes]
    past: Past
    taken_at: float = field(default_factory=time.monotonic)
    stack: tuple[tuple[str, str], ...] = ()

    @property
    def looks(self) -> int:
        """How many files and folders it had looked at, found or not, its sources among them."""
        return len(self.sources) + sum(
            len(each.files) + len(each.links) + len(each.folders) + len(each.places)
            for each in self.seen
        )

    def spoilt_by(
        self,
        *,
        is_installed: bool | None = None,
        found: dict[str, os.stat_result] | None = None,
    ) -> str:
        """Return a path that isn't what it was when the program saw it; empty if all are.

        A source is among them only if it was read by others than Python's import system.

        Args:
            is_installed: only what belongs to installed packages, or only the rest; None: all.
            found: is given what the system says of each file and folder that is there.
        """
        changed = (
            each.changed(found) for each in self.seen if is_installed in {None, each.is_installed}
        )
        return next((path for path in changed if path), "")

    def blocked(self, why: str) -> "Blocker":
        """Return that there is none here any more, or none that serves."""
        return Blocker(place=self.place, seconds=self.seconds, why=why)

    def has_seen(self, path: str) -> bool:
        """Whether the program had looked at a file, or into a folder, by then, by whatever code."""
        below = path + "/"
        return any(
            file == path or file.startswith(below)
            for file in chain(self.sources, *((*each.files, *each.links) for each in self.seen))
        )

    def found_nothing_at(self, path: str) -> bool:
        """Whether the program had looked at this path while nothing was there."""
        marks = (looks.get(path) for each in self.seen for looks in (each.files, each.links))
        return any(mark is not None and is_of_nothing(mark) for mark in marks)

    def has_found(self, path: str) -> bool:
        """Whether there was a file by then, or one in a folder of that name, that isn't installed.

        As far as the program knows, by whatever code.
        """
        below = path + "/"
        own = [each for each in self.seen if not each.is_installed]
        looks = chain(*((*each.files.items(), *each.links.items()) for each in own))
        files = (file for file, mark in looks if not is_of_nothing(mark))
        return any(file == path or file.startswith(below) for file in (*self.sources, *files))


@value_class(kw_only=True)
class Blocker:
    """A place where there is no snapshot, though there might have been one.

    Attributes:
        place: where, such as ``train.py:31`` or a file.
        seconds: how long the program took to get there.
        why: what stood in the way, in words.
    """

    place: str
    seconds: float
    why: str

    def beside(self, place: str) -> str:
        """Say why a run that resumed from a place did not resume from here, which may be there too."""
        where = "a later copy there" if self.place == place else self.place
        return f"not from {where}: {self.why}" if self.place else self.why


class DivergedError(Exception):
    """A snapshot has another past than the program would have now."""


@dataclass(slots=True, kw_only=True)
class Stage:
    """What one program's runs have left to run on from.

    Attributes:
        address: the socket at which copies report, below a folder that only whet writes to.
        worth_seconds: a stretch of the program that takes longer is worth a snapshot at its end.
        awaited: paths of the file or folder that a search varies: there is to be a snapshot just
            before the first sight of it.
        first_word: the first word of the command that a search varies, with all behind it: there is
            to be a snapshot just before the first sight of them; 0: none.
        place: the stack at the first sight of them, by native code: there is to be a snapshot
            just before that line is reached. Empty: it isn't known.
        snapshots: by number, in the order in which they were taken.
    """

    address: str
    worth_seconds: float = WORTH_SECONDS
    awaited: tuple[str, ...] = ()
    first_word: int = 0
    place: tuple[Frame, ...] = ()
    snapshots: dict[int, Snapshot] = field(default_factory=dict[int, Snapshot])


@dataclass(slots=True, kw_only=True)
class Staged:
    """How one run takes part in a stage.

    Attributes:
        stage: where its snapshots go.
        since: the snapshot to run on from; None: from the start.
        changed: what sources of the program say now that have changed.
        added: is called when there is another snapshot.
        halted: why it could leave no snapshots at all; empty: it could.
        halted_by: which reason that is, of `whet.host.process.channel`; empty: another one.
        blockers: where it could leave none, in the order in which it came there.
        effects: what it has done to the world and left there, and what it was told by the user
            meanwhile.
        changed_files: what it has changed of files, with folders for all that is in them; None:
            there may be more.
        reset_at: when its reset steps were over, with all that they have started; None: not known.
        spoilt: what a reset step has changed that the snapshot had seen.
        first_sight: the stack at the first sight of what a search varies; empty: not known.
        debugging: when it opens a debugger.
        look: returns a path that isn't what it was when a snapshot saw it, knowing some of it
            already; None: the snapshot itself looks.
        settle: returns when the files may be looked at; None: they may be at any time.
        worth_seconds: a stretch as long is worth a snapshot, if it runs on from one; below zero: as
            in the run from the start.
    """

    stage: Stage
    since: Snapshot | None = None
    changed: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    added: Callable[[Snapshot], None] | None = None
    halted: str = ""
    halted_by: str = ""
    blockers: list[Blocker] = field(default_factory=list[Blocker])
    effects: list[LastingEffect] = field(default_factory=list[LastingEffect])
    changed_files: frozenset[str] | None = None
    reset_at: Moment | None = None
    spoilt: str = ""
    first_sight: tuple[Frame, ...] = ()
    debugging: Debugging = Debugging.NEVER
    look: Callable[[Snapshot], str] | None = None
    settle: Callable[[], object] | None = None
    worth_seconds: float = -1.0
    _observing: Observing = field(default_factory=Observing)

    @property
    def is_stepped(self) -> bool:
        """Whether a debugger opens where it starts or runs on."""
        return self.debugging is Debugging.AT_ONCE

    @property
    def stops_at_failure(self) -> bool:
        """Whether a debugger opens where it fails."""
        return self.debugging is Debugging.AT_FAILURE

    def on(self, program: Program) -> Program:
        """Return the program that knows where its copies report; see `whet_stage.stage.install`."""
        stage = self.stage
        place = [
            part for each in stage.place for part in (str(each.line), each.function, each.path)
        ]
        words = len(program.command) - stage.first_word if stage.first_word else -1
        own = (str(stage.worth_seconds), stage.address, str(words))
        lines = (*own, str(len(place)), *place, *stage.awaited)
        wish = "\n".join(lines)
        environment = {**program.environment, STAGE_VARIABLE: wish}
        if self.debugging is not Debugging.NEVER:
            environment[DEBUGGING_VARIABLE] = self.debugging.value
        return replace(program, environment=environment)

    def freezing(self) -> Freezing:
        """Return what the spawner has to know of it."""
        return Freezing(
            address=self.stage.address,
            resumed=-1 if self.since is None else self.since.number,
            changed=tuple(self.changed.items()),
            varied=self.stage.awaited,
            first_word=self.stage.first_word,
            is_debugged=self.debugging is Debugging.AT_ONCE,
            worth_seconds=self.worth_seconds,
        )

    def note(self, taken: Taken, past: Past) -> None:
        """Take a snapshot of this run in."""
        copy = taken.copy
        self._observing.add(copy.sighted, taken.observed)
        earlier = () if self.since is None else self.since.seen
        snapshot = self.stage.snapshots[copy.number] = Snapshot(
            number=copy.number,
            pid=copy.pid,
            kind=copy.kind,
            place=copy.place,
            seconds=copy.seconds,
            seen=(*earlier, *self._observing.by_now(copy.sources).parted()),
            sources=copy.sources,
            past=past,
            stack=tuple(copy.stack),
        )
        if self.added is not None:
            self.added(snapshot)

    @property
    def last_blocker(self) -> str:
        """Why there was no snapshot at the last place where there was none; empty if at all."""
        return self.halted or (self.blockers[-1].why if self.blockers else "")

    def was_hindered_before(self, files: tuple[str, ...]) -> bool:
        """Whether it is known why there is no snapshot before the first sight of any file."""
        names = {Path(file).name for file in files}
        return bool(self.halted) or any(Path(each.place).name in names for each in self.blockers)

    def still_fits(self) -> bool:
        """Whether the snapshot may be run on from after the reset steps, as it might before."""
        since = self.since
        if self.settle is not None:
            self.settle()
        if since is not None:
            others = (
                path
                for path, then in since.sources.items()
                if _read(path) != self.changed.get(path, then)
            )
            look = self.look or Snapshot.spoilt_by
            self.spoilt = next(others, "") or look(since)
        return not self.spoilt

    def note_reset(self) -> None:
        """Note that from now on no reset step changes a file."""
        self.reset_at = Moment()

    def halt(self, why: str, by: str) -> None:
        """Note why this run can leave no snapshots."""
        if not self.halted:
            self.halted, self.halted_by = why, by

    def note_done(self, done: Done) -> None:
        """Note what this run has left in the world."""
        self.effects.extend(done.effects)
        self.changed_files = None if done.changed is None else frozenset(done.changed)

    def hinder(self, place: str, seconds: float, why: str) -> None:
        """Note why this run has left no snapshot at a place."""
        self.blockers.append(Blocker(place=place, seconds=seconds, why=why))


def _read(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None
