"""Finding the payload in the command, and reading it."""

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from whet.core.errors import (
    BadUsage,
    PayloadEmpty,
    PayloadIsFolder,
    PayloadMissing,
    PayloadNotInCommand,
    PayloadUnreadable,
)
from whet.core.trial import PayloadBinding, PayloadPlace, put_path
from whet.host.code.folders import pack_folder
from whet.host.files.files import fitting_name

PLACEHOLDER = "{}"

_BETWEEN_PATHS = re.compile(r"[\s'\"=:,;()<>|&@\[\]]+")


def read_payload(path: Path, name: str, *, may_be_empty: bool = False) -> bytes:
    """Return what the payload holds.

    Args:
        path: the file.
        name: its name as the user wrote it.
        may_be_empty: whether an empty one is fine.

    Raises:
        PayloadMissing, PayloadIsFolder, PayloadUnreadable, PayloadEmpty: as they say.
    """
    try:
        if not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):
            raise PayloadUnreadable(
                f"`{name}` is a pipe, a socket or a device, not a file",
                hint=f"write its output to a file first: `cat {name} > data`",
            )
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise PayloadMissing(
            f"`{name}` does not exist", hint=f"`ls {_nearest(path)}` lists that folder"
        ) from error
    except IsADirectoryError as error:
        raise PayloadIsFolder(
            f"`{name}` is a folder, not a file",
            hint=f"name one file in it: `ls {name}`",
        ) from error
    except OSError as error:
        raise PayloadUnreadable(
            f"whet can't read `{name}`: {error.strerror}",
            hint=f"`ls -l {name}` shows its permissions",
        ) from error
    if not data and not may_be_empty:
        raise PayloadEmpty(f"`{name}` is empty", hint="name the file that the failure needs")
    return data


def read_folder(path: Path, name: str) -> bytes:
    """Return what a folder holds, packed.

    Args:
        path: the folder.
        name: its name as the user wrote it.

    Raises:
        PayloadTooLarge, PayloadUnreadable, PayloadMissing, PayloadEmpty: as they say.
    """
    data = pack_folder(path, name)
    if not data.strip(b"\0"):
        raise PayloadEmpty(
            f"`{name}` is an empty folder", hint="name the one that the failure needs"
        )
    return data


def bind_payloads(
    command: tuple[str, ...], cwd: Path, files: Sequence[tuple[str, str]], *, stdin: str = ""
) -> tuple[PayloadBinding, ...]:
    """Return where each file is in ``command``: every place of it.

    The arguments that are the file, however it is written, and standard input come first; then
    `--input=FILE`; then a `{}`, in the order of the files where more than one has none of its
    own; last a path inside of an argument, as in a shell's text.

    Args:
        command: the argument vector.
        cwd: where it runs.
        files: each one's name as the user wrote it, and its digest.
        stdin: the file that the command reads, if one is named.

    Raises:
        BadUsage: if a file is named twice, or `{}` stands for it isn't clear which.
        PayloadNotInCommand: if one stands nowhere.
    """
    _refuse_twins([name for name, _ in files], cwd)
    places = {name: _named(command, cwd, name) for name, _ in files}
    reads = {name: bool(stdin) and is_same_file(cwd / stdin, cwd / name) for name, _ in files}
    nameless = [name for name, _ in files if not places[name] and not reads[name]]
    places.update(_marked(command, nameless))
    for name in nameless:
        places[name] = places[name] or _inside(command, cwd, name)
        if not places[name]:
            raise PayloadNotInCommand(
                f"`{name}` isn't in the command `{' '.join(command)}`",
                hint="write `{}` where the file's name belongs, or `--stdin FILE`",
            )
    return tuple(
        _binding(Path(os.path.abspath(cwd / name)), digest, places[name], reads_stdin=reads[name])
        for name, digest in files
    )


def _binding(
    path: Path, digest: str, places: Sequence[PayloadPlace], *, reads_stdin: bool
) -> PayloadBinding:
    name, folder = path.name, str(path.parent) if path.is_dir() else ""
    if reads_stdin:
        return PayloadBinding(argument=None, text="", name=name, digest=digest, more=tuple(places))
    first, *others = places
    return PayloadBinding(
        argument=first.argument,
        text=first.text,
        name=name,
        digest=digest,
        more=tuple(others),
        folder=folder,
    )


def _refuse_twins(files: Sequence[str], cwd: Path) -> None:
    for number, name in enumerate(files):
        for other in files[:number]:
            if is_same_file(cwd / other, cwd / name):
                raise BadUsage(
                    f"`{other}` and `{name}` are one file",
                    hint="name it once: whet varies it everywhere",
                )


def _named(command: tuple[str, ...], cwd: Path, name: str) -> list[PayloadPlace]:
    """Return the arguments that are the file, or that are `--option=FILE`."""
    path = cwd / name
    places: list[PayloadPlace] = []
    for index, word in enumerate(command):
        value = word.partition("=")[2]
        if word == name or is_same_file(cwd / word, path):
            places.append(PayloadPlace(argument=index, text=word))
        elif value and (value == name or is_same_file(cwd / value, path)):
            places.append(PayloadPlace(argument=index, text=value))
        elif path.is_dir() and (text := _way_into(word, cwd, path) or _way_into(value, cwd, path)):
            places.append(PayloadPlace(argument=index, text=text))
    return places


def _way_into(word: str, cwd: Path, folder: Path) -> str:
    """Return what of a path names a folder that it leads into, as in `data/a.txt`; or nothing."""
    ends = [match.end() for match in re.finditer("/", word)]
    ways = (word[:end] for end in ends if end < len(word))
    return next((way for way in ways if is_same_file(cwd / way, folder)), "")


def _marked(command: tuple[str, ...], files: Sequence[str]) -> dict[str, list[PayloadPlace]]:
    """Return the `{}` of each file; those in the middle of a word count where there are no others.

    A program's text may hold a `{}` of its own.
    """
    marks = [index for index, word in enumerate(command) if word.endswith(PLACEHOLDER)]
    plain = [index for index in marks if command[index] == PLACEHOLDER or "=" in command[index]]
    marks = plain or [index for index, word in enumerate(command) if PLACEHOLDER in word]
    places = [PayloadPlace(argument=index, text=PLACEHOLDER) for index in marks]
    if len(files) <= 1:
        return dict.fromkeys(files, places)
    if places and len(places) != len(files):
        raise BadUsage(
            f"{len(places)} arguments hold `{{}}`, for {len(files)} files:"
            f" {', '.join(f'`{name}`' for name in files)}",
            hint="write one argument with `{}` for each, in the order of the files",
        )
    return {name: places[number : number + 1] for number, name in enumerate(files)}


def _inside(command: tuple[str, ...], cwd: Path, name: str) -> list[PayloadPlace]:
    """Return the paths inside of arguments that are the file, as in the text of `sh -c`."""
    path = cwd / name
    places: list[PayloadPlace] = []
    for index, word in enumerate(command):
        texts = {
            text for text in _BETWEEN_PATHS.split(word) if text and is_same_file(cwd / text, path)
        }
        if put_path(word, name, "") != word:
            texts.add(name)
        if path.is_dir():
            texts |= {_way_into(text, cwd, path) for text in _BETWEEN_PATHS.split(word)} - {""}
        places += [PayloadPlace(argument=index, text=text) for text in sorted(texts)]
    return places


def shrunk_path(original: Path) -> Path:
    """Return the path beside ``original`` where its smaller version goes."""
    return path_called(original, "shrunk")


def path_called(original: Path, word: str) -> Path:
    """Return the path beside ``original`` of a version that is called by a word: `a.fails.json`."""
    return original.with_name(fitting_name(original.stem, f".{word}{original.suffix}"))


def is_same_file(one: Path, other: Path) -> bool:
    """Whether both are one file, by any name or link."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _nearest(path: Path) -> Path:
    return next((parent for parent in path.parents if parent.is_dir()), Path("/"))
