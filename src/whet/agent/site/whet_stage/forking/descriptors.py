"""What the program has opened: what keeps it from being copied, and what a copy opens again.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import stat

from ..hiding.private import private_import
from ..hiding.unfiltered_calls import entries, link_at, status_at, whole
from .kernel_calls import KernelCalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .memory import SharedMemory

_INHERITED: dict[int, str] = {}

_UNIQUE = {
    "socket": "a socket is open", "pipe": "a pipe is open",
    "anon_inode:[eventpoll]": "an event loop or selector is open",
    "anon_inode:[eventfd]": "an eventfd is open",
    "anon_inode:[timerfd]": "a timer is set",
    "anon_inode:inotify": "it watches files (inotify)",
    "anon_inode:[pidfd]": "it holds a process (pidfd)",
}  # fmt: skip
CUDA = "a CUDA context exists"
_TERMINALS = ("/dev/pts/", "/dev/tty", "/dev/console")
_STREAMS = (1, 2, 0)  # where two are the same, the first of them
_MOST_BYTES = 64 << 20  # of files without a name
_DELETED, _SHARED_MEMORY = " (deleted)", os.path.join(os.sep, "dev", "shm", "")
_MODE = 0o600  # of such a file, as `tempfile` makes it
_INT_BYTES, _READABLE = 4, 0x541B  # FIONREAD, asm-generic/ioctls.h
_PIPE_BYTES, _AT_ONCE = 1 << 16, 2  # SPLICE_F_NONBLOCK, linux/splice.h
_ANEW = os.O_CREAT | os.O_EXCL | os.O_TRUNC
_HARMLESS = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/full")


def inherit() -> None:
    """Note what the program was started with: that is nobody's business."""
    _INHERITED.clear()
    _INHERITED.update(_files())


def inherit_again() -> None:
    """Note what a resumed program has in place of what the original was started with."""
    again = {number: to for number, to in _files() if number in _INHERITED}
    _INHERITED.update({number: to for number, to in again.items() if number not in _STREAMS})


def stdin_offset() -> int:
    """Return how much of a file on standard input has been read; 0 if it is none."""
    try:
        return os.lseek(0, 0, os.SEEK_CUR)
    except OSError:
        return 0


def skip_stdin(offset: int) -> None:
    """Pass over what was read of standard input, which a resumed run has again."""
    if offset:
        os.lseek(0, offset, os.SEEK_SET)


def find_files_of(shared: list[SharedMemory]) -> None:
    """Note the descriptor through which memory can be mapped again after its file is reopened.

    A file that was opened twice is left out: reopening it once would not serve both.
    """
    files = opened() if shared else []
    for memory in shared:
        own = [file for file in files if memory.is_of(file.path, file.numbers[0])]
        if len(own) == 1 and own[0].content is not None:
            memory.descriptor = own[0].numbers[0]


def hindering_file(
    pools: set[int], is_mapped: Callable[[int, str], bool], *, has_cuda: bool
) -> str:
    """Return which open file can't be copied; empty if there is none.

    Args:
        pools: descriptors, of which a pool of threads makes others in a copy; of a pipe one end.
        is_mapped: whether a descriptor's file is mapped into memory, and a copy can't map it again.
        has_cuda: whether CUDA's driver is loaded. Without it a device of NVIDIA's is asked what
            it is and no more, which is what PYTORCH_NVML_BASED_CUDA_CHECK is for.
    """
    files = [(number, target) for number, target in _files() if _stream_of(number, target) < 0]
    anew = {target for number, target in files if number in pools}
    for number, target in files:
        if not target.startswith("/"):
            if target not in anew:
                kind = target if target in _UNIQUE else target.partition(":")[0]
                return _UNIQUE.get(kind, f"`{target}` is open")
            continue
        if target in _HARMLESS:
            continue
        if target.startswith("/dev/nvidia"):
            if has_cuda:
                return CUDA
            continue
        blocker = _blocker_of(number, target, is_mapped)
        if blocker:
            return f"`{target}` is {blocker}"
    return ""


def _is_device(target: str) -> bool:
    """Whether an open file is one of those of the machine; shared memory without a name isn't."""
    is_memory = target.startswith(_SHARED_MEMORY) and target.endswith(_DELETED)
    return target.startswith("/dev/") and not is_memory


def _blocker_of(number: int, target: str, is_mapped: Callable[[int, str], bool]) -> str:
    """Return what an open file is that can't be copied; empty if it can."""
    mode = os.fstat(number).st_mode
    flags, locked = _facts_of(number)
    if _is_device(target) or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return "open"
    if flags & (os.O_WRONLY | os.O_RDWR):
        if not _can_be_made_anew(number, target, flags):
            return "open for writing"
        if target.endswith(_DELETED) and is_mapped(number, target):
            return "open for writing and mapped"
    return "locked" if locked else ""


def are_any_written() -> bool:
    """Whether the program has a file open for writing, as far as that can be told."""
    try:
        return any(
            target.startswith("/")
            and target != os.devnull
            and _facts_of(number)[0] & (os.O_WRONLY | os.O_RDWR)
            for number, target in _files()
        )
    except OSError:  # it has all descriptors that it may have, or `/proc` is out of its sight
        return True


class OpenFile:
    """A file or folder that the program has opened, as it stands.

    Attributes:
        numbers: its descriptors: those that share one offset.
        offset: where it stands.
        flags: with which it was opened.
        path: where it is.
        content: what it holds, if it has no name any more and is written to: nobody else can
            put that back. The rest is, where it is the program's own (`whet.host.spawner.file_effects`).
    """

    def __init__(self, number: int, path: str) -> None:
        self.numbers = [number]
        self.path = path
        self.flags = _facts_of(number)[0] & ~os.O_CLOEXEC
        self.offset = os.lseek(number, 0, os.SEEK_CUR)
        self.content: bytes | None = None
        if self.flags & (os.O_WRONLY | os.O_RDWR) and path.endswith(_DELETED):
            self.content = os.pread(number, _MOST_BYTES, 0)

    def shares(self, other: OpenFile) -> bool:
        """Whether another one is a duplicate of this one."""
        number, duplicate = self.numbers[0], other.numbers[0]
        facts = (self.path, self.flags, self.offset) == (other.path, other.flags, other.offset)
        if not facts or not stat.S_ISREG(os.fstat(number).st_mode):
            return False
        os.lseek(number, self.offset + 1, os.SEEK_SET)
        has_followed = os.lseek(duplicate, 0, os.SEEK_CUR) == self.offset + 1
        os.lseek(number, self.offset, os.SEEK_SET)
        return has_followed

    def reopen(self) -> None:
        """Open it again in this process: a forked one shares its offset, its lock, its writes."""
        again = self._opened()
        os.lseek(again, self.offset, os.SEEK_SET)
        for number in self.numbers:
            os.dup2(again, number, inheritable=os.get_inheritable(number))
        os.close(again)

    def _opened(self) -> int:
        if self.content is not None:
            flags = self.flags & (os.O_ACCMODE | os.O_APPEND) | os.O_TMPFILE | os.O_CLOEXEC
            again = os.open(os.path.dirname(self.path), flags, _MODE)
            left = memoryview(self.content)
            while left:
                left = left[os.write(again, left) :]
            return again
        is_written = self.flags & (os.O_WRONLY | os.O_RDWR)
        path = self.path if is_written else f"/proc/self/fd/{self.numbers[0]}"
        return os.open(path, self.flags & ~_ANEW | os.O_CLOEXEC)


def opened() -> list[OpenFile]:
    """Return the files and folders that are open."""
    found: list[OpenFile] = []
    for number, target in _files():
        if target.startswith("/") and not _is_device(target):
            file = OpenFile(number, target)
            shared = next((each for each in found if each.shares(file)), None)
            if shared is None:
                found.append(file)
            else:
                shared.numbers.append(number)
    return found


def reopen(files: Sequence[OpenFile]) -> None:
    """Open files again in this process, a forked one."""
    for file in files:
        file.reopen()


def _can_be_made_anew(number: int, target: str, flags: int) -> bool:
    """Whether a file that is written to can be opened once more, with what it holds now."""
    found = os.fstat(number)
    if target.endswith(_DELETED):
        return (
            not target.startswith("/memfd:")
            and flags & os.O_ACCMODE == os.O_RDWR
            and stat.S_IMODE(found.st_mode) == _MODE
            and found.st_nlink == 0
            and found.st_size <= _MOST_BYTES
        )
    try:
        return os.path.samestat(found, status_at(target))
    except OSError:
        return False


class OwnPipe:
    """A pipe that no other process has an end of; one end may be closed.

    Attributes:
        ends: its descriptors, each with its flags.
    """

    def __init__(self) -> None:
        self.ends: list[tuple[int, int]] = []

    @property
    def numbers(self) -> set[int]:
        """Its descriptors."""
        return {number for number, _ in self.ends}

    def renew(self) -> None:
        """Put another one in its place: the original's would be shared with it.

        Raises:
            OSError: if there can be no other.
        """
        read, write = os.pipe()
        held = next((each for each, flags in self.ends if not flags & os.O_ACCMODE), -1)
        size = _readable_bytes(held) if held >= 0 else 0
        calls = KernelCalls() if size else None
        if calls is not None and calls.at(calls.find("tee"), held, write, size, _AT_ONCE) != size:
            raise OSError("whet can't copy the content of a pipe")
        for number, flags in self.ends:
            new = write if flags & os.O_ACCMODE else read
            os.dup2(new, number, inheritable=os.get_inheritable(number))
            os.set_blocking(number, not flags & os.O_NONBLOCK)
        os.close(read)
        os.close(write)


def own_pipes() -> dict[int, OwnPipe]:
    """Return the pipes that nobody else has, if no process runs that this one has started.

    Returns:
        them, by each descriptor of each.
    """
    by_target: dict[str, OwnPipe] = {}
    for number, target in _files():
        if target.startswith("pipe:") and _stream_of(number, target) < 0:
            by_target.setdefault(target, OwnPipe()).ends.append((number, _facts_of(number)[0]))
    return {
        number: pipe
        for pipe in by_target.values()
        if all(_readable_bytes(each) <= _PIPE_BYTES for each in pipe.numbers)
        for number in pipe.numbers
    }


def _readable_bytes(pipe: int) -> int:
    size = bytearray(_INT_BYTES)
    private_import("fcntl").ioctl(pipe, _READABLE, size)
    return int.from_bytes(size, "little")


class Streams:
    """The descriptors that lead to what whet has given the program as its streams.

    The program may keep duplicates of them, and put files of its own in their place for a while.
    """

    def __init__(self) -> None:
        self._held = [
            (number, stream, os.get_inheritable(number))
            for number, target in _all()
            if (stream := _stream_of(number, target)) >= 0
        ]

    def of(self, stream: int) -> int:
        """Return a descriptor that leads to a stream; the stream's own number if none does.

        In a terminal one of standard input leads to standard output too.
        """
        target = _INHERITED.get(stream)
        own = (number for number, of, _ in self._held if of == stream)
        alike = (number for number, of, _ in self._held if _is(target or "", _INHERITED.get(of)))
        return next(own, next(alike, stream))

    def give(self, streams: list[int]) -> None:
        """Let them lead elsewhere."""
        for number, stream, is_inheritable in self._held:
            os.dup2(streams[stream], number, inheritable=is_inheritable)
        for stream, descriptor in enumerate(streams):
            _INHERITED[stream] = link_at(f"/proc/self/fd/{descriptor}")


def _stream_of(number: int, target: str) -> int:
    """Return which of its first streams a descriptor leads to; -1: none."""
    if number in _STREAMS and _is(target, _INHERITED.get(number)):
        return number
    if target.startswith("/") and not target.startswith(_TERMINALS):
        return -1  # as good as any other one that is opened there
    return next((each for each in _STREAMS if _is(target, _INHERITED.get(each))), -1)


def _files() -> Iterator[tuple[int, str]]:
    """Yield what the program has opened itself."""
    for number, target in _all():
        if not _is(target, _INHERITED.get(number)):
            yield number, target


def _is(target: str, known: str | None) -> bool:
    """Say whether a link is what it was at the start, be it removed since.

    The agent's own file goes with the run that it was made for, and so does a terminal: a copy
    that looks late finds that the run is over.
    """
    return known is not None and target in {known, f"{known}{_DELETED}"}


def _all() -> Iterator[tuple[int, str]]:
    for name in entries("/proc/self/fd"):
        try:
            yield int(name), link_at(f"/proc/self/fd/{name}")
        except OSError:
            continue  # it was how this folder is listed


def _facts_of(number: int) -> tuple[int, bool]:
    """Return a descriptor's flags, and whether its file is locked."""
    flags, locked = 0, False
    for line in whole(f"/proc/self/fdinfo/{number}").splitlines():
        if line.startswith(b"flags:"):
            flags = int(line.split()[1], 8)
        locked = locked or line.startswith(b"lock:")
    return flags, locked
