"""Where a smaller file goes: never onto the original, nor onto a file of the user's."""

import hashlib
import os
from collections.abc import Callable, Collection
from pathlib import Path

from whet.core.errors import BadUsage, CannotWrite, DiskFull, ResultInUse, WhetError
from whet.core.output import digest_of
from whet.host.code.folders import pack_folder
from whet.workbench.files.asked_files import asked_file
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.payload import is_same_file, path_called, shrunk_path


def result_path(
    bench: Workbench,
    original: Path,
    output: str,
    *,
    other_results: Collection[Path],
    is_alone: bool,
    called: Callable[[Path], Path] = shrunk_path,
) -> Path:
    """Return where the smaller version of ``original`` goes.

    Args:
        bench: the workbench: a file that it holds may be written over, as nothing is lost.
        original: the payload.
        output: the file or folder that the user named; empty: beside the original.
        other_results: results of other payloads.
        is_alone: it is the only payload.
        called: returns the name of the smaller version, beside the original.

    Raises:
        BadUsage: if the result would be the original, or one file for more than one payload.
        CannotWrite: if its folder doesn't exist, or may not be written to, or it is a link out of
            the project.
        ResultInUse: if another whet is writing the file that the user named.
    """
    place = Path(os.path.abspath(output)) if output else original.parent
    if original.is_dir() and place.resolve().is_relative_to(original.resolve()):
        raise BadUsage(
            f"`-o {output}` is in `{original.name}` itself, which whet never changes",
            hint="name another place, or leave it out: the result goes next to the original",
        )
    if output and not place.is_dir():
        if not is_alone:
            raise BadUsage(
                f"`-o {output}` is one file, for more than one result",
                hint="name an existing folder: each result goes into it",
            )
        if is_same_file(place, original):
            raise BadUsage(
                f"`-o {output}` is the file itself, which whet never changes",
                hint="name another file, or leave it out: the result goes next to the original",
            )
        path = _writable(asked_file("-o", output))
        if not bench.claims.take(path):
            raise ResultInUse(
                f"another whet is writing to `{output}` at this moment",
                hint="wait until it ends, or name another file with `-o`",
            )
        return path
    return _writable(free_path(bench, place / called(original).name, original, other_results))


def place_beside(bench: Workbench, original: Path, word: str, folder: str = "") -> Path:
    """Return where a version of ``original`` goes that is called by a word, as `a.fails.json`.

    Args:
        bench: the workbench: a file that it holds may be written over.
        original: the file or folder.
        word: what the version does.
        folder: where it goes; empty: beside the original.

    Raises:
        CannotWrite: if its folder doesn't exist, or may not be written to.
    """
    place = Path(os.path.abspath(folder)) if folder else original.parent
    first_choice = place / path_called(original, word).name
    return _writable(free_path(bench, first_choice, original, ()))


def free_path(
    bench: Workbench, first_choice: Path, original: Path, other_results: Collection[Path]
) -> Path:
    """Return ``first_choice``, or with a number in its name if it isn't free.

    A file of the user's may stand there, or another whet may be writing to it now.
    """
    number, path = 1, first_choice
    while (
        path in other_results
        or is_same_file(path, original)
        or not may_go(bench, path)
        or not bench.claims.take(path)
    ):
        number += 1
        path = first_choice.with_name(f"{first_choice.stem}-{number}{first_choice.suffix}")
    return path


def may_go(bench: Workbench, path: Path) -> bool:
    """Whether nothing is there, or what the notebook holds anyway, such as an old result."""
    if not os.path.lexists(path):
        return True
    if path.is_symlink() or not (path.is_file() or path.is_dir()):
        return False
    try:
        digest = digest_of(pack_folder(path)) if path.is_dir() else _digest_of_file(path)
    except WhetError:
        return False
    return bench.notebook.blobs.path_of(digest).is_file()


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def result_error(error: Exception, path: Path) -> WhetError:
    """Return the error to raise when a result can't be written, with what helps there."""
    if isinstance(error, DiskFull):
        return DiskFull(
            f"no space left to write `{path}`",
            hint="free some space there (`df -h`, `df -i`), or name another place with `-o`",
        )
    cause = error.__cause__ if isinstance(error, WhetError) else error
    reason = cause.strerror if isinstance(cause, OSError) else str(error)
    return CannotWrite(f"whet can't write `{path}`: {reason}", hint="name another place with `-o`")


def _writable(path: Path) -> Path:
    if not path.parent.is_dir():
        raise CannotWrite(
            f"whet can't write `{path}`: `{path.parent}` is not a folder",
            hint=f"create it: `mkdir -p {path.parent}`",
        )
    if not os.access(path.parent, os.W_OK):
        raise CannotWrite(
            f"whet can't write `{path}`: its folder isn't writable",
            hint="name another place with `-o`",
        )
    return path
