"""When a file that is changed once more is sure to be given another time.

Imports next to nothing: the processes beside whet need it too. Sources: the documentation of the
kernel, `filesystems/multigrain-ts`; `CLOCK_REALTIME_COARSE` in clock_gettime(2).
"""

import os
import time

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal, TypeAlias

    Clock: TypeAlias = Literal["fine", "ticks", "unknown"]

SLACK_NS = 12_000_000
"""A kernel's clock for files is a tick behind, 4 or 10 ms; it may be another machine's."""

_SECOND_NS = 1_000_000_000
_WHOLE_SLACK_NS = 2 * _SECOND_NS
"""ext3 and Lustre know whole seconds, FAT every other one."""

_OWN = frozenset({"ext4", "xfs", "btrfs", "tmpfs"})
"""They take times from the kernel that runs here, and since 6.13 look who has seen the last one."""

_TICKS = frozenset({"ext2", "ext3", "f2fs", "ramfs"})
"""They take times from the kernel that runs here, and nothing more."""

_LAYERS = frozenset({"overlay", "squashfs", "erofs"})
"""They belong to this kernel as well, and show the times of what lies below."""

_FINE_SINCE = (6, 13)

_COARSE = 5
"""CLOCK_REALTIME_COARSE, which files take their times from; `time` has no name for it."""

_mounts: dict[int, tuple[str, "Clock"]] = {}
"""Kind and clock of each device that is mounted, or was."""


def unsettled_ns(changed_ns: int, device: int) -> int:
    """Return for how long a change from now on might be given the same time; 0: it is not.

    Args:
        changed_ns: when something on the device changed last, as `stat` has told.
        device: number of the device.
    """
    now_ns = time.time_ns()
    if doubt_ns := whole_seconds_ns(changed_ns):
        return max(changed_ns + doubt_ns - now_ns, 0)
    left_ns = max(changed_ns + SLACK_NS - now_ns, 0)
    if left_ns:
        _, clock = _mount_of(device)
        if clock == "fine":  # a time that was looked at is given to no later change
            return 0
        if clock == "ticks":
            coarse_ns = time.clock_gettime_ns(_COARSE)
            return max(changed_ns + 1 - coarse_ns, 0)
    return left_ns


def whole_seconds_ns(changed_ns: int) -> int:
    """Return how much later than its time a change may have been, where seconds are whole; or 0."""
    return 0 if changed_ns % _SECOND_NS else _WHOLE_SLACK_NS


def wait_until_settled(seen: "Iterable[os.stat_result]") -> None:
    """Wait until a change from now on gives a file another time, but no longer than `SLACK_NS`."""
    until_ns = time.monotonic_ns() + SLACK_NS
    for found in seen:
        while unsettled_ns(found.st_ctime_ns, found.st_dev):
            left_ns = until_ns - time.monotonic_ns()
            if left_ns <= 0:
                return
            time.sleep(min(left_ns, 1_000_000) / 1e9)


def is_of_this_kernel(device: int) -> bool:
    """Whether a file system is known to change by the kernel that runs here alone."""
    kind, clock = _mount_of(device)
    return clock != "unknown" or kind in _LAYERS


def clock_of(kind: str, release: str) -> "Clock":
    """Return which clock a file system takes its times from.

    Args:
        kind: such as ``ext4``.
        release: of the kernel, such as ``6.1.0-amd64``.
    """
    if kind in _TICKS:
        return "ticks"
    if kind not in _OWN:
        return "unknown"  # another machine's, or made up
    numbers = release.split("-", maxsplit=1)[0].split(".")[:2]
    version = tuple(int(each) for each in numbers if each.isdigit())
    return "fine" if version >= _FINE_SINCE else "ticks"


def _mount_of(device: int) -> "tuple[str, Clock]":
    if device not in _mounts:
        _mounts.update(_mounted())
    return _mounts.setdefault(device, ("", "unknown"))


def _mounted() -> "dict[int, tuple[str, Clock]]":
    """Return kind and clock of each device that is mounted; proc(5), `mountinfo`."""
    found: dict[int, tuple[str, Clock]] = {}
    release = os.uname().release
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return found
    for line in lines:
        major, _, minor = line.split(b" ", 3)[2].partition(b":")
        kind = line.partition(b" - ")[2].split(b" ")[0].decode()
        found[os.makedev(int(major), int(minor))] = kind, clock_of(kind, release)
    return found
