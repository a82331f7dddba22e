"""What the program has opened: what keeps it from being copied, and what a copy opens anew.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import stat

from .memory import whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Position = tuple[int, int, int]
    """Descriptor, offset and flags of an open file."""

_INHERITED: dict[int, str] = {}

_UNIQUE = {
    "socket": "a socket is open", "pipe": "a pipe is open",
    "anon_inode:[eventpoll]": "an event loop or selector is open",
    "anon_inode:[eventfd]": "an eventfd is open",
    "anon_inode:[timerfd]": "a timer is set",
    "anon_inode:inotify": "it watches files (inotify)",
    "anon_inode:[pidfd]": "it holds a process (pidfd)",
}  # fmt: skip
CUDA = "a CUDA context is there"
_HARMLESS = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/full")


def inherit() -> None:
    """Note what the program was started with: that is nobody's business."""
    _INHERITED.clear()
    _INHERITED.update(_files())


def inherit_again() -> None:
    """Note what a resumed program has in place of what the original was started with."""
    _INHERITED.update({number: to for number, to in _files() if number in _INHERITED})


def stdin_offset() -> int:
    """Return how much of a file on standard input has been read; 0 if it is none."""
    try:
        return os.lseek(0, 0, os.SEEK_CUR)
    except OSError:
        return 0


def skip_stdin(offset: int) -> None:
    """Pass over what was read of standard input, which a resumed run has anew."""
    if offset:
        os.lseek(0, offset, os.SEEK_SET)


def hindering_file(pools: set[int], *, has_cuda: bool) -> str:
    """Return which open file cannot be copied; empty if there is none.

    Args:
        pools: descriptors, of which a pool of threads makes others in a copy; of a pipe one end.
        has_cuda: whether CUDA's driver is loaded. Without it a device of NVIDIA's is asked what
            it is and no more, which is what PYTORCH_NVML_BASED_CUDA_CHECK is for.
    """
    files = list(_files())
    anew = {target for number, target in files if number in pools}
    for number, target in files:
        if not target.startswith("/"):
            if target not in anew:
                kind = target if target in _UNIQUE else target.partition(":")[0]
                return _UNIQUE.get(kind, f"`{target}` is open")
            continue
        if target in _HARMLESS:
            continue
        found = os.fstat(number)
        flags, locked = _facts_of(number)
        if target.startswith("/dev/nvidia"):
            if has_cuda:
                return CUDA
            continue
        if target.startswith("/dev/") or not (
            stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        ):
            return f"`{target}` is open"
        if flags & (os.O_WRONLY | os.O_RDWR):
            return f"`{target}` is open for writing"
        if locked:
            return f"`{target}` is locked"
    return ""


def are_any_written() -> bool:
    """Whether the program has a file open for writing."""
    return any(
        target.startswith("/")
        and target != os.devnull
        and _facts_of(number)[0] & (os.O_WRONLY | os.O_RDWR)
        for number, target in _files()
    )


def offsets() -> list[Position]:
    """Return where the files and folders stand that are open for reading."""
    return [
        (number, os.lseek(number, 0, os.SEEK_CUR), _facts_of(number)[0])
        for number, target in _files()
        if target.startswith("/") and not target.startswith("/dev/")
    ]


def reopen(of: list[Position]) -> None:
    """Give this process file offsets of its own: a forked one shares them."""
    for number, offset, flags in of:
        again = os.open(f"/proc/self/fd/{number}", flags & ~(os.O_CREAT | os.O_TRUNC | os.O_EXCL))
        os.lseek(again, offset, os.SEEK_SET)
        os.dup2(again, number, inheritable=os.get_inheritable(number))
        os.close(again)


def _files() -> Iterator[tuple[int, str]]:
    """Yield what the program has opened itself."""
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # it was how this folder is listed
        known = _INHERITED.get(int(name))
        # A resumed program finds what came with the first run removed.
        if known is None or target not in {known, f"{known} (deleted)"}:
            yield int(name), target


def _facts_of(number: int) -> tuple[int, bool]:
    """Return a descriptor's flags, and whether its file is locked."""
    flags, locked = 0, False
    for line in whole(f"/proc/self/fdinfo/{number}").splitlines():
        if line.startswith(b"flags:"):
            flags = int(line.split()[1], 8)
        locked = locked or line.startswith(b"lock:")
    return flags, locked
