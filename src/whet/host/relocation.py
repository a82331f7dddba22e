"""What a command and its folder are called in another working tree of the same repository."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from whet.host.git import Repository

_ENDS_A_PATH = "=:,;'\"\\s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocation:
    """The move from the user's working tree to one of whet's own.

    What the user has but git does not track (a payload, a new test, a virtual environment) is
    in no revision: it stays where it is and is named by its absolute path.

    Attributes:
        repository: the user's working tree.
        place: top folder of the other one.
    """

    repository: Repository
    place: Path

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
        for top in {str(self.repository.top), os.path.realpath(self.repository.top)}:
            pattern = rf"(?<![^{_ENDS_A_PATH}]){re.escape(top)}(/[^{_ENDS_A_PATH}]*)?(?![^{_ENDS_A_PATH}])"
            text = re.sub(pattern, lambda found: self._absolute(found.group()), text)
        return text

    def _program(self, argument: str, cwd: Path) -> str:
        # Without a slash it is looked up on PATH, never in the folder.
        return self._argument(argument, cwd) if "/" in argument else argument

    def _argument(self, argument: str, cwd: Path) -> str:
        if os.path.isabs(argument) and self._inside(Path(argument)) is not None:
            return self._absolute(argument)
        moved = self.text(argument)
        if moved != argument:
            return moved
        # `--data=FILE`, and `FILE::test` as pytest names a test.
        option, equals, value = argument.rpartition("=") if "=" in argument else ("", "", argument)
        path, colons, test = value.partition("::")
        if not path or path.startswith("-") or os.path.isabs(path):
            return argument
        leaves = self._inside(cwd / path) is None and os.path.lexists(cwd / path)
        if not leaves and not self._is_the_users_alone(cwd / path):
            return argument
        return f"{option}{equals}{os.path.normpath(cwd / path)}{colons}{test}"

    def _absolute(self, path: str) -> str:
        if self._is_the_users_alone(Path(path)):
            return path
        inside = self._inside(Path(path))
        return path if inside is None else os.path.normpath(self.place / inside)

    def _is_the_users_alone(self, path: Path) -> bool:
        inside = self._inside(path)
        if inside is None or not os.path.lexists(path) or os.path.lexists(self.place / inside):
            return False
        # A tracked file that this revision lacks must be missed: it is part of the history.
        asked = ("--literal-pathspecs", "ls-files", "-z", "--cached", "--", str(inside))
        return not self.repository.ask(*asked).stdout

    def _inside(self, path: Path) -> Path | None:
        """Return ``path`` from the top of the user's tree, or None if it is not in there."""
        # The last part is not resolved: a link in the tree is a file of the tree.
        there = os.path.join(os.path.realpath(path.parent), path.name)
        if path.name in {"", ".."}:
            there = os.path.realpath(path)
        inside = os.path.relpath(there, os.path.realpath(self.repository.top))
        return None if inside == ".." or inside.startswith("../") else Path(inside)
