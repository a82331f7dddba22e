"""A file that the user asks whet to write: what may stand there already, and whose it is."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from whet.core.errors import BadUsage, CannotWrite
from whet.core.text.shell_words import quoted
from whet.host.code.project import Project

_STREAMS = {1: "answer", 2: "messages"}


def asked_file(option: str, name: str) -> Path:
    """Return where a file goes that an option names; a link to another file of the project stays one.

    Args:
        option: the option, as the user writes it.
        name: what the user named.

    Raises:
        BadUsage: if whet prints there, or it is a pipe, a socket or a device.
        CannotWrite: if it is a folder, or in none, or a link out of the project, as a clone can
            bring one along, or a link in a circle.
    """
    asked, place = f"{option} {name}".lstrip(), Path(os.path.abspath(name))
    if (number := _printed_by(place)) is not None:
        raise BadUsage(
            f"`{asked}` is where whet prints its {_STREAMS[number]}",
            hint="name another file: the result replaces it as a whole",
        )
    if not place.parent.is_dir():
        raise CannotWrite(
            f"whet can't write `{place}`: `{place.parent}` is not a folder",
            hint=f"create it: `mkdir -p {quoted(str(place.parent))}`",
        )
    if place.is_dir():
        raise CannotWrite(f"`{asked}` is a folder", hint="name a file in it")
    if place.exists() and not place.is_file():
        raise BadUsage(f"`{asked}` is a pipe, a socket or a device, not a file", hint="name a file")
    target = Path(os.path.realpath(place))
    if target.is_symlink():
        raise CannotWrite(f"`{asked}` is a link in a circle", hint="name another file")
    root = Path(os.path.realpath(Project.find(Path.cwd(), os.environ).root))
    folder = Path(os.path.realpath(place.parent))
    if place.is_symlink() and folder.is_relative_to(root) and not target.is_relative_to(root):
        raise CannotWrite(
            f"`{asked}` is a link out of this project, to `{target}`",
            hint=f"if whet should write there, name that file: `{asked.replace(name, str(target))}`",
        )
    return target


def _printed_by(place: Path) -> int | None:
    """Return which of whet's own streams goes to a file; `/dev/stdout` is that file, too."""
    with suppress(OSError):
        status = place.stat()
        for number in _STREAMS:
            with suppress(OSError):
                if os.path.samestat(status, os.fstat(number)) and stat.S_ISREG(status.st_mode):
                    return number
    return None
