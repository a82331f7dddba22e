"""When another change of a file is certain to get another timestamp.

Imports next to nothing, because the processes next to whet need it too. Sources: the documentation of
the kernel, `filesystems/multigrain-ts`; `CLOCK_REALTIME_COARSE` in clock_gettime(2).
"""

import _thread
import os
import select
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
"""They take times from this machine's kernel, which since 6.13 tracks who has read the last one."""

_TICKS = frozenset({"ext2", "ext3", "f2fs", "ramfs", "rootfs", "devtmpfs"})
"""They take times from this machine's kernel, and nothing more."""

_LAYERS = frozenset({"overlay", "squashfs", "erofs"})
"""They belong to this kernel as well, and show the times of the layers below."""

_FINE_SINCE = (6, 13)

_MOUNTS = "/proc/self/mountinfo"

_COARSE = 5
"""CLOCK_REALTIME_COARSE, which files take their times from; `time` has no name for it."""


_SET_NS = 100_000_000
"""A thread can wait this long between reading two clocks."""


class Moment:
    """When something happened, to be compared with times of files; the clock may be set meanwhile."""

    def __init__(self) -> None:
        """Take the time of now."""
        self._monotonic_ns = time.monotonic_ns()
        self._ns = time.time_ns()

    @property
    def ns(self) -> int:
        """What the clock of now calls it: what changed since has a later time.

        Where the clock was set forward, or the machine slept, it is what was read then.
        """
        return self._ns + min(self._jump_ns, 0) if self.is_doubtful else self._ns

    @property
    def age_ns(self) -> int:
        """How long ago it was."""
        return time.monotonic_ns() - self._monotonic_ns

    @property
    def is_doubtful(self) -> bool:
        """Whether the clock was set since: a time of a file says nothing of before and after."""
        return abs(self._jump_ns) > _SET_NS

    @property
    def _jump_ns(self) -> int:
        return time.time_ns() - self._ns - self.age_ns


def unsettled_ns(changed_ns: int, device: int) -> int:
    """Return for how long a change from now on might be given the same time; 0: it isn't.

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
    for state in seen:
        while unsettled_ns(state.st_ctime_ns, state.st_dev):
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


def mount_points() -> "set[str]":
    """Return where something is mounted, over a folder or over a single file."""
    # Blanks and the like are escaped, as ``\\040``.
    names = (line.split(b" ", 5)[4].decode("unicode_escape") for line in _lines())
    return {os.fsdecode(name.encode("latin-1")) for name in names}


class MountChanges:
    """Hears that something is mounted or unmounted; proc(5), `mountinfo`.

    Attributes:
        are_heard: it can be heard.
    """

    def __init__(self) -> None:
        """Report changes from now on."""
        try:
            self._file = os.open(_MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._file = -1
        self._poll = select.poll()
        self.are_heard = self._file >= 0
        if self.are_heard:
            self._poll.register(self._file, select.POLLPRI)

    def have_come(self) -> bool:
        """Whether anything has changed since this was asked last."""
        return bool(self._poll.poll(0))

    def close(self) -> None:
        """Stop reporting changes."""
        if self.are_heard:
            os.close(self._file)


class _Kinds:
    """Kind and clock of each device that is mounted: the next one may have the same number."""

    def __init__(self) -> None:
        self._changes = MountChanges()
        self._lock = _thread.allocate_lock()
        self._kinds = _mounted()

    def of(self, device: int) -> "tuple[str, Clock]":
        with self._lock:
            if self._changes.have_come():
                self._kinds = _mounted()
            return self._kinds.get(device, ("", "unknown"))


_kinds_by_process: dict[int, _Kinds] = {}
"""A forked process asks again: one process misses what the other has received."""


def _mount_of(device: int) -> "tuple[str, Clock]":
    pid = os.getpid()
    if pid not in _kinds_by_process:
        _kinds_by_process[pid] = _Kinds()
    return _kinds_by_process[pid].of(device)


def _mounted() -> "dict[int, tuple[str, Clock]]":
    release = os.uname().release
    mounts: dict[int, tuple[str, Clock]] = {}
    for line in _lines():
        major, _, minor = line.split(b" ", 3)[2].partition(b":")
        kind = line.partition(b" - ")[2].split(b" ")[0].decode()
        mounts[os.makedev(int(major), int(minor))] = kind, clock_of(kind, release)
    return mounts


def _lines() -> "list[bytes]":
    try:
        with open(_MOUNTS, "rb") as file:
            return file.read().splitlines()
    except OSError:
        return []
