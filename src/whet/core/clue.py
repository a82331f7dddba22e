"""What points at the cause of a failure, where the failure itself does not name it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """Something that was seen, and the line that it points at.

    Attributes:
        says: what was seen, in a sentence that names the line.
        why: why it was looked for.
        path: the file that it points at.
        line: the line in it; 0: the file as a whole.
    """

    says: str
    why: str
    path: str = ""
    line: int = 0

    def to_json(self) -> dict[str, object]:
        """Return this clue as JSON data."""
        return {"says": self.says, "why": self.why, "path": self.path, "line": self.line}


def printable(text: str) -> str:
    """Return text on one line, with what a terminal would obey shown as escapes."""
    line = " ".join(text.split("\n"))
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape", "replace").decode("ascii")
        for each in line
    )


@dataclass(frozen=True, slots=True)
class Placing:
    """Says where a line is, as short as it can be said in a folder.

    Attributes:
        folder: where the program was started.
    """

    folder: str

    def __call__(self, path: str, line: int = 0) -> str:
        """Return a place such as ``pkg/mod.py:12``."""
        own = self.folder.rstrip("/") + "/"
        shown = path.removeprefix(own)
        return f"{shown}:{line}" if line else shown
