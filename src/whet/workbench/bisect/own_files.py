"""The files of a command that no version contains: they must not change during the search."""

import os
from collections.abc import Iterator
from pathlib import Path

from whet.core.errors import InputChanged
from whet.core.event import Notice
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.code.search_stamp import named_files
from whet.host.trial.inputs import Inputs, tracked
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.offered_rooms import shown_paths, written_by_command
from whet.workbench.trials.session import Session
from whet.workbench.versions.version_source import Versions
from whet.workbench.versions.versions import FirstBad

_SOURCES = (".py", ".sh")


@value_class(kw_only=True)
class OwnFiles:
    """The files of a command, as they were before its first run.

    Attributes:
        trial: the command.
        fixed: what no run writes: programs, and files of which each run has a copy.
        others: what a run may write.
        versioned: what each version has for itself.
    """

    trial: Trial
    fixed: Inputs
    others: Inputs
    versioned: Inputs

    @classmethod
    def of(cls, bench: Workbench, trial: Trial, *, has_places: bool) -> "OwnFiles":
        """Look at the files of a command.

        Args:
            bench: the workbench.
            trial: the command.
            has_places: each version has a folder of its own, in which the command runs.
        """
        paths = {os.path.realpath(path) for path in named_files(trial, bench.environment)}
        top = "" if trial.code is None else trial.code.repository
        in_git = tracked(top) if top else set[str]()
        versioned = set[str]()
        fixed = set(programs_of(trial))
        if has_places:
            versioned, inside = paths & in_git, f"{os.path.realpath(top)}{os.sep}"
            fixed |= {path for path in paths if path.startswith(inside)}
        else:
            paths |= in_git
        own = (bench.project.state,)
        return cls(
            trial=trial,
            fixed=Inputs.at(fixed - versioned, own),
            others=Inputs.at(paths - fixed - versioned, own),
            versioned=Inputs.at(versioned, own),
        )

    def check(self) -> None:
        """Refuse to continue where a program isn't what it was.

        Raises:
            InputChanged: if it is so.
        """
        if paths := self.fixed.written():
            raise self._changed(paths)

    def check_answer(self, session: Session, versions: Versions, answer: FirstBad) -> None:
        """Refuse an answer for which a file has changed that no run of the command writes.

        Raises:
            InputChanged: if there is one.
        """
        self.check()
        if saved := self.versioned.written():
            names = shown_paths(saved, self.trial)
            text = f"{names} was saved while the search ran: it ran each version's own, so the answer stands"
            session.emit(Notice(text=text))
        room = self.trial.limits.room
        paths = [] if room is not None and room.is_clean else self.others.written()
        if not paths:
            return
        before = Inputs.at(paths)
        for version in (answer.last_good, answer.first_bad):
            if version is not None:
                trial, label = versions.on(self.trial, version), versions.label(version)
                session.run(trial, answer.oracle, label, place=versions.place)
        if not before.written():
            raise self._changed(paths)
        session.emit(Notice(text=written_by_command(paths, self.trial)))

    def _changed(self, paths: list[str]) -> InputChanged:
        return InputChanged(
            f"{shown_paths(paths, self.trial)} has changed since the search began: versions ran"
            " with different files, so none is named",
            hint="type the same line again and leave the file as it is; earlier runs don't count",
        )


def programs_of(trial: Trial) -> Iterator[str]:
    """Yield the real paths of the files that the command runs, by its own words."""
    for word in trial.command:
        path = Path(trial.cwd, word.partition("::")[0])
        if "\0" in word or not path.is_file():
            continue
        if path.suffix in _SOURCES or os.access(path, os.X_OK):
            yield os.path.realpath(path)
