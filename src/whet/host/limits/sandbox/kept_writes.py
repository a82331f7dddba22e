"""What a trial in a clean room wrote to its project: listed, and kept elsewhere."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SHOWN = 8
_OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")


def keep_writes(upper: int, folder: Path, project: Path) -> list[str]:
    """Copy the written files into a new folder below ``folder``; return the note for the user.

    Args:
        upper: descriptor of the folder to which the overlay wrote; -1: the trial never started.
        folder: where the writes of each trial are kept, in folders 1, 2, …, each listed in a file
            beside it.
        project: what the trial saw, as it still is.
    """
    if upper < 0:
        return []
    changes = sorted(_changes(upper, project))
    if not changes:
        return ["the trial wrote nothing to the project"]
    place = _next_place(folder)
    lines: list[str] = []
    for path, kind in changes:
        lines.append(f"{kind} {path}")
        if kind != "-":
            _copy(f"/proc/self/fd/{upper}/{path}", place / path)
    listing = "".join(f"{line}\n" for line in lines)
    place.with_suffix(".txt").write_text(listing, encoding="utf-8", errors="surrogateescape")
    summary = ", ".join(lines[:_SHOWN]) + (
        f" and {len(lines) - _SHOWN} more" * (len(lines) > _SHOWN)
    )
    return [f"the trial wrote {summary}; its files are in {place}"]


def _next_place(folder: Path) -> Path:
    number = 1
    while True:
        place = folder / str(number)
        try:
            place.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return place


def _changes(upper: int, project: Path) -> Iterator[tuple[str, str]]:
    """Yield each file that was written (`+` new, `~` changed) or removed (`-`), by its path."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(f"/proc/self/fd/{upper}/{below}") as entries:
            listing = list(entries)
        for entry in listing:
            path = f"{below}/{entry.name}" if below else entry.name
            status = entry.stat(follow_symlinks=False)
            before = project / path
            if stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
                yield path, "-"  # how an overlay notes that a file of the lower folder is gone
            elif stat.S_ISDIR(status.st_mode):
                waiting.append(path)
                if _is_opaque(entry.path):
                    yield from ((each, "-") for each in _gone(before, path, entry.path))
            else:
                yield path, "~" if os.path.lexists(before) else "+"


def _is_opaque(path: str) -> bool:
    for name in _OPAQUE:
        with suppress(OSError):
            return os.getxattr(path, name) == b"y"
    return False


def _gone(before: Path, path: str, now: str) -> Iterator[str]:
    """Yield what was in a folder that was removed and made again."""
    for top, _, names in os.walk(before):
        inside = os.path.relpath(top, before)
        for name in names:
            each = os.path.normpath(os.path.join(inside, name))
            if not os.path.lexists(os.path.join(now, each)):
                yield os.path.join(path, each)


def _copy(source: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.islink(source):
        target.symlink_to(os.readlink(source))
    elif stat.S_ISREG(os.lstat(source).st_mode):
        shutil.copy2(source, target)
