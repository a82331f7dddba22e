"""Finding the payload in the command, and reading it."""

from pathlib import Path

from whet.core.errors import (
    PayloadEmpty,
    PayloadIsFolder,
    PayloadMissing,
    PayloadNotInCommand,
    PayloadUnreadable,
)
from whet.core.trial import PayloadBinding

PLACEHOLDER = "{}"


def read_payload(path: Path, shown: str, *, may_be_empty: bool = False) -> bytes:
    """Return what the payload holds.

    Args:
        path: the file.
        shown: its name as the user wrote it.
        may_be_empty: whether an empty one is fine.

    Raises:
        PayloadMissing, PayloadIsFolder, PayloadUnreadable, PayloadEmpty: as they say.
    """
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise PayloadMissing(
            f"`{shown}` does not exist", hint=f"`ls {_nearest(path)}` shows what is there"
        ) from error
    except IsADirectoryError as error:
        raise PayloadIsFolder(
            f"`{shown}` is a folder", hint=f"name one file in it: `ls {shown}`"
        ) from error
    except OSError as error:
        raise PayloadUnreadable(
            f"`{shown}` cannot be read: {error.strerror}", hint=f"`ls -l {shown}` shows who may"
        ) from error
    if not data and not may_be_empty:
        raise PayloadEmpty(f"`{shown}` is empty", hint="name the file that the failure needs")
    return data


def bind_payload(
    command: tuple[str, ...], cwd: Path, shown: str, digest: str, *, stdin: str = ""
) -> PayloadBinding:
    """Return where the file ``shown`` stands in ``command``.

    A `{}` marks the place; else it is the argument that is the file's name, however it is
    written; else the argument that holds its name, as in ``--input=data.csv``.

    Raises:
        PayloadNotInCommand: if it stands nowhere.
    """
    path = cwd / shown
    for index, word in enumerate(command):
        if PLACEHOLDER in word:
            return PayloadBinding(argument=index, text=PLACEHOLDER, name=path.name, digest=digest)
    for index, word in enumerate(command):
        if word == shown or _same_file(cwd / word, path):
            return PayloadBinding(argument=index, text=word, name=path.name, digest=digest)
    for index, word in enumerate(command):
        name, equals, value = word.partition("=")
        if equals and name and _same_file(cwd / value, path):
            return PayloadBinding(argument=index, text=value, name=path.name, digest=digest)
        if shown in word:
            return PayloadBinding(argument=index, text=shown, name=path.name, digest=digest)
    if stdin and _same_file(cwd / stdin, path):
        return PayloadBinding(argument=None, text="", name=path.name, digest=digest)
    raise PayloadNotInCommand(
        f"`{shown}` does not stand in the command `{' '.join(command)}`",
        hint="write `{}` where the file's name belongs, or `--stdin FILE`",
    )


def shrunk_path(original: Path) -> Path:
    """Return the path beside ``original`` where its smaller version goes."""
    return original.with_name(f"{original.stem}.shrunk{original.suffix}")


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _nearest(path: Path) -> Path:
    return next((parent for parent in path.parents if parent.is_dir()), Path("/"))
