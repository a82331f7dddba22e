"""The file system of a path: its mount point, its type, and its free space."""

import os

from whet.core.value_class import value_class
from whet.host.kernel.mounts import points_of


@value_class(kw_only=True)
class FileSystem:
    """A mounted file system.

    Attributes:
        point: where it is mounted.
        kind: such as ``ext4``.
        total_bytes: how much it holds.
        free_bytes: how much of it this user may still fill.
        free_files: how many files and folders may still be made; None: it has no such limit.
    """

    point: str
    kind: str
    total_bytes: int
    free_bytes: int
    free_files: int | None
    is_read_only: bool = False


def file_system_of(path: str, *, seen_by: int = 0, root: str = "") -> FileSystem | None:
    """Return the file system of a path that may be gone; None if nothing can be known of it.

    Args:
        path: absolute.
        seen_by: a process that may have mounts of its own; 0: this one.
        root: what leads to the root folder of that process; empty: it is that of this one.
    """
    real = path if root else os.path.realpath(path)
    while not os.path.exists(root + real) and real != os.path.dirname(real):
        real = os.path.dirname(real)
    try:
        with open(f"/proc/{seen_by or 'self'}/mountinfo", "rb") as file:
            text = file.read()
        state = os.statvfs(root + real)
    except OSError:
        return None
    mounted = zip(points_of(text), text.splitlines(), strict=True)
    over = [(os.fsdecode(point), line) for point, line in mounted if _is_over(point, real)]
    if not over:
        return None
    # Of two with the same place the later one lies on top.
    point, line = max(reversed(over), key=lambda each: len(each[0]))
    return FileSystem(
        point=point,
        kind=line.partition(b" - ")[2].split(b" ")[0].decode(),
        total_bytes=state.f_blocks * state.f_frsize,
        free_bytes=state.f_bavail * state.f_frsize,
        free_files=state.f_favail if state.f_files else None,
        is_read_only=bool(state.f_flag & os.ST_RDONLY),
    )


def _is_over(point: bytes, path: str) -> bool:
    folder = os.fsdecode(point)
    return path == folder or path.startswith(folder.rstrip("/") + "/")
