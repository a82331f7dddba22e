"""A payload that was made goes to its file, and into the notebook."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from whet.core.errors import FolderNotFound
from whet.core.text.shell_words import joined, quoted
from whet.core.value_class import value_class
from whet.host.files.files import write_atomically
from whet.workbench.files.asked_files import asked_file
from whet.workbench.trials.bench import open_workbench


@value_class(kw_only=True)
class Made:
    """A payload.

    Attributes:
        content: the bytes of its file.
        shown: what a person reads of it.
        summary: what it is, in a few words.
        detail: what the notebook keeps of it, to explain a value later.
        notes: what the user should know of it.
    """

    content: bytes
    shown: str
    summary: str
    detail: Mapping[str, object]
    notes: Sequence[str] = ()


def write_made(made: Made, path: Path, command: Sequence[str]) -> None:
    """Write a payload, and note it in the notebook.

    Args:
        made: the payload.
        path: its file; what was there before is replaced.
        command: what the user typed.

    Raises:
        FolderNotFound: if its folder doesn't exist.
        BadUsage, CannotWrite, DiskFull: if it can't be written; the file is as it was.
    """
    check_folder(path)
    write_atomically(asked_file("-o", str(path)), made.content)
    note_made(made.detail, path, command)


def check_folder(path: Path) -> None:
    """Raise if a file has no folder to stand in.

    Raises:
        FolderNotFound: if it doesn't exist.
    """
    folder = Path(os.path.abspath(path)).parent
    if not folder.is_dir():
        raise FolderNotFound(
            f"`{folder}` is not a folder", hint=f"make it: `mkdir -p {quoted(str(folder))}`"
        )


def note_made(detail: Mapping[str, object], path: Path, command: Sequence[str]) -> None:
    """Keep in the notebook what was made, so that a value of it can be explained."""
    with open_workbench() as bench:
        bench.notebook.keep_made(Path(os.path.abspath(path)), joined(command), detail)
