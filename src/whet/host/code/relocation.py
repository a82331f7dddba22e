"""The paths of a command and its folder in another working tree of the same repository."""

import itertools
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.files.below import folder_below
from whet.host.process.git import Repository

_ENDS_A_PATH = "=:,;'\"\\s"
_OF_A_SHELL = "<>|&()`"  # may end a path too, unless there is one with them in its name

_CARRIED_BYTES = 50_000_000
"""whet uses a larger untracked file in place."""

_TESTS = re.compile(r"/tests?/|/test_[^/]*$|_test\.[^/.]*$")
_RENAMED = re.compile(r"\s*R\d+")

_NOT_MOVED = frozenset({"HOME", "PWD", "OLDPWD"})
"""A repository in the home folder doesn't move `HOME`; the executor sets `PWD`."""


@value_class(kw_only=True)
class Relocation:
    """The move from the user's working tree to one of whet's working trees.

    What the user has but git doesn't track (a payload, a new test, a virtual environment) is
    in no revision: it stays where it is and is named by its absolute path.

    Attributes:
        repository: the user's working tree.
        place: top folder of the other one.
        revision: what is to lie there, if nothing does yet.
        looked_up: paths from there at which it was looked up whether something is there.
    """

    repository: Repository
    place: Path
    revision: str = ""
    looked_up: set[str] = field(default_factory=set[str], compare=False)

    def folder(self, folder: Path) -> Path:
        """Return the folder that corresponds to ``folder``; one outside is itself."""
        inside = self._inside(folder)
        return folder if inside is None else self.place / inside

    def command(self, command: tuple[str, ...], cwd: Path) -> tuple[str, ...]:
        """Return the command as it is to be run in ``self.folder(cwd)``.

        Args:
            command: as it is run in the user's working tree.
            cwd: where it is run there.
        """
        return tuple(
            self._program(argument, cwd) if number == 0 else self._argument(argument, cwd)
            for number, argument in enumerate(command)
        )

    def text(self, text: str) -> str:
        """Return ``text``, such as a search path, with each path inside the tree moved."""
        return _paths(self.repository).sub(lambda found: self._named_in_text(found.group()), text)

    def placed(self, trial: Trial, inherited: Mapping[str, str]) -> Trial:
        """Return the trial as it is to be run in the other tree; its folder and files are made.

        Args:
            trial: as it is run in the user's working tree.
            inherited: the environment that it would have there.

        Raises:
            CannotWrite: if a link there leads out of the tree.
        """
        cwd = Path(trial.cwd)
        there = self.folder(cwd)
        if self._inside(cwd) is not None:
            with folder_below(self.place, there):
                pass  # git keeps no empty folder, and no younger one
        self._carry(trial.command, cwd)
        places = {
            name: self.text(value) for name, value in inherited.items() if name not in _NOT_MOVED
        }
        own = {name: self.text(value) for name, value in trial.environment.items()}
        return replace(
            trial,
            command=self.command(trial.command, cwd),
            cwd=str(there),
            environment={
                **{name: value for name, value in places.items() if value != inherited[name]},
                **own,
            },
            reset=tuple(replace(step, command=self.text(step.command)) for step in trial.reset),
        )

    def _carry(self, command: tuple[str, ...], cwd: Path) -> None:
        """Copy what the command names and the revision lacks, where the command looks for it.

        That is an untracked file, as `git bisect` would find it, and a file that the revision has by
        an older name. A test that was written for the search must import the revision's code, not
        today's: Python looks for it beside the script. A reset step writes what it writes over the copy.
        """
        for path, target in self.carried(command, cwd).values():
            with folder_below(self.place, target.parent) as folder:
                shutil.copy2(path, folder / target.name)

    def carried(self, command: tuple[str, ...], cwd: Path) -> dict[str, tuple[Path, Path]]:
        """Return the words that name what the revision lacks, with what is copied and where it goes."""
        files: dict[str, tuple[Path, Path]] = {}
        for word in command[1:]:
            if "\0" in word:  # the sign of a secret names no file
                continue
            path = Path(os.path.realpath(cwd / word.rpartition("=")[2].split("::")[0]))
            inside = self._inside(path)
            if inside is None or not path.is_file() or path.stat().st_size > _CARRIED_BYTES:
                continue
            target = self.place / inside
            self.looked_up.add(str(inside))
            if self._lies_there(str(inside)):
                continue
            if self._is_the_users_alone(path):
                files[word] = path, target
                continue
            before = self._name_before(str(inside))
            if before:
                is_test = _TESTS.search(f"/{inside}") is not None
                # A test judges as it is today; a program is that of the revision.
                files[word] = path if is_test else self.place / before, target
        return files

    def _program(self, argument: str, cwd: Path) -> str:
        # Without a slash it is looked up on PATH, never in the folder.
        return self._argument(argument, cwd) if "/" in argument else argument

    def _argument(self, argument: str, cwd: Path) -> str:
        if os.path.isabs(argument) and self._inside(Path(argument)) is not None:
            return self._absolute(argument)
        relocation = self.text(argument)
        if relocation != argument:
            return relocation
        # `--data=FILE`, and `FILE::test` as pytest names a test.
        option, equals, value = argument.rpartition("=") if "=" in argument else ("", "", argument)
        path, colons, test = value.partition("::")
        if not path or path.startswith("-") or os.path.isabs(path):
            return argument
        leaves = self._inside(cwd / path) is None and os.path.lexists(cwd / path)
        if not leaves and not self._is_the_users_alone(cwd / path):
            return argument
        return f"{option}{equals}{os.path.normpath(cwd / path)}{colons}{test}"

    def _named_in_text(self, path: str) -> str:
        head, mark, rest = _cut(path, _OF_A_SHELL)
        if mark and not os.path.lexists(path):
            return f"{self._absolute(head)}{mark}{self.text(rest)}"
        return self._absolute(path)

    def _absolute(self, path: str) -> str:
        if self._is_the_users_alone(Path(path)):
            return path
        inside = self._inside(Path(path))
        return path if inside is None else os.path.normpath(self.place / inside)

    def _is_the_users_alone(self, path: Path) -> bool:
        inside = self._inside(path)
        if inside is None or not os.path.lexists(path):
            return False
        self.looked_up.add(str(inside))
        if os.path.lexists(self.place / inside):
            return False
        # A tracked file that this revision lacks must be missed: it is part of the history.
        question = ("--literal-pathspecs", "ls-files", "-z", "--cached", "--", str(inside))
        return not self.repository.ask(*question).stdout

    def _name_before(self, inside: str) -> str:
        """Return the name that a file had when the revision has it by that one; empty: it hasn't."""
        question = ("log", "--follow", "--format=", "--name-status", "--diff-filter=R", "-z")
        words = self.repository.ask(*question, "--", inside).text.split("\0")
        before = [old for mark, old in itertools.pairwise(words) if _RENAMED.fullmatch(mark)]
        self.looked_up.update(before)
        return next(filter(self._lies_there, before), "")

    def _lies_there(self, inside: str) -> bool:
        if os.path.lexists(self.place / inside):
            return True
        question = ("cat-file", "-e", f"{self.revision}:{inside}")
        return bool(self.revision) and self.repository.ask(*question).exit_code == 0

    def _inside(self, path: Path) -> Path | None:
        """Return ``path`` from the top of the user's tree, or None if it isn't in there."""
        top = os.path.realpath(self.repository.top)
        # The last part isn't resolved: a link in the tree is a file of the tree.
        there = os.path.join(os.path.realpath(path.parent), path.name)
        if path.name in {"", ".."} or (os.path.isdir(path) and not _is_below(there, top)):
            there = os.path.realpath(path)
        return Path(os.path.relpath(there, top)) if _is_below(there, top) else None


def named_otherwise(repository: Repository, trial: Trial) -> tuple[str, ...]:
    """Return, in sentences, where a trial names the user's tree in a way that isn't understood.

    There it means the code of today, whatever revision it runs on.
    """
    places = {
        **{f"the argument `{word}`": word for word in trial.command},
        **{f"the variable `{name}`": value for name, value in trial.environment.items()},
        **{f"the reset step `{step.command}`": step.command for step in trial.reset},
    }
    paths = _paths(repository)
    return tuple(
        f"whet can't redirect `{top}` in {where}: that part uses today's code"
        for where, text in places.items()
        for top in sorted(_tops(repository))
        if re.search(rf"{re.escape(top)}(?![\w.-])", paths.sub(" ", text))
    )


def _tops(repository: Repository) -> set[str]:
    return {str(repository.top), os.path.realpath(repository.top)}


def _paths(repository: Repository) -> re.Pattern[str]:
    """Return what finds each absolute path in a text; the tree's own name may hold anything."""
    tops = "|".join(re.escape(top) for top in _tops(repository))
    ends = f"{_ENDS_A_PATH}{_OF_A_SHELL}"
    # `-I/usr/include`: a path may stand right behind the letter of an option.
    begins = rf"(?:(?<![^{ends}])|(?<=^-[A-Za-z])|(?<=[{ends}]-[A-Za-z]))"
    rest = rf"/[^{_ENDS_A_PATH}]*"
    return re.compile(rf"{begins}(?:(?:{tops})(?:{rest})?(?![^{ends}])|{rest})")


def _cut(text: str, marks: str) -> tuple[str, str, str]:
    """Return ``text`` before the first of ``marks``, that mark, and what follows."""
    at = next((place for place, letter in enumerate(text) if letter in marks), len(text))
    return text[:at], text[at : at + 1], text[at + 1 :]


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top.rstrip('/')}/")
