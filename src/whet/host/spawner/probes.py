"""Processes that exceed a limit on purpose, before the program starts under it.

Each probe is a fork of the spawner that takes the same steps as the program and then exceeds the limit.
If it succeeds, the limit doesn't work.
"""

import os
import select
import time

from whet.host.kernel.control_groups import read_fields, read_words, write_words
from whet.host.spawner.steps import take
from whet.host.spawner.watches import watch

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence

    from whet.host.limits.enforcer import Order
else:
    import _signal as signal  # `signal` is this and enums, which add 10 ms

_HELD, _BROKE = 0, 1
_PAGE = 4096
_PROBE_BYTES = 8 << 20  # more than a fork of the spawner writes to
_PATIENCE_SECONDS = 30.0  # on a machine whose disk stands still for a while
_MOST_OWN_FILES = 1024
_SPIN_SECONDS = 0.5
_STACK_SLACK_BYTES = 1 << 20
_STACK_REACH_BYTES = 64 << 20  # the kernel keeps 128 MiB below a stack free of anything else
SLOW_PROBE_BYTES = 1 << 20
"""How slow a disk is for a probe, in bytes a second."""
_SLOW_READ_BYTES = 192 << 10
_SLOW_READ_SECONDS = 0.05  # at that speed it takes 0.09 at least


class LimitDoesNotHoldError(Exception):
    """A probe went beyond a limit and nothing stopped it."""


def prove(probes: "Sequence[Order]", steps: "Sequence[Order]") -> None:
    """Meet each limit in a process of its own.

    Raises:
        LimitDoesNotHoldError: if one doesn't hold.
        OSError: if the system refuses a step.
    """
    for name, *details in probes:
        _PROBES[str(name)](list(steps), *details)


def in_child(steps: "Sequence[Order]", meet: "Callable[[], bool]") -> int:
    """Fork, take the steps, call ``meet`` there, and return the child's wait status.

    Exit code 0 says that the limit held, 1 that it did not; 2 and above is an error number.

    Raises:
        OSError: if the child could not take its steps.
    """
    _, status = os.waitpid(fork(steps, meet), 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) not in {_HELD, _BROKE}:
        number = os.WEXITSTATUS(status)
        raise OSError(number, os.strerror(number))
    return status


def fork(steps: "Sequence[Order]", meet: "Callable[[], bool]") -> int:
    """Fork, take the steps, call ``meet`` there, and return the child's number."""
    pid = os.fork()
    if pid == 0:
        code = 255
        try:
            for ended_by in (signal.SIGXFSZ, signal.SIGSEGV):
                signal.signal(ended_by, signal.SIG_DFL)
            take(steps)
            code = _HELD if meet() else _BROKE
        except OSError as error:
            code = max(2, error.errno or 255)
        finally:
            os._exit(code)
    return pid


def _held(name: str, status: int) -> None:
    if status != 0:
        raise LimitDoesNotHoldError(name)


def _files(steps: "Sequence[Order]", most: int) -> None:
    import fcntl

    def meet() -> bool:
        os.closerange(most - 1, _MOST_OWN_FILES)
        fcntl.fcntl(0, fcntl.F_DUPFD, most - 1)  # the highest number that is available
        try:
            fcntl.fcntl(0, fcntl.F_DUPFD, most - 1)
        except OSError:
            return True
        return False

    _held("files", in_child(steps, meet))


def _file_size(steps: "Sequence[Order]", most: int) -> None:
    def meet() -> bool:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        file = os.memfd_create("probe")
        os.ftruncate(file, most)  # a hole: nothing is written
        try:
            os.ftruncate(file, most + 1)
        except OSError:
            return True
        return False

    _held("file-size", in_child(steps, meet))


def _address_space(steps: "Sequence[Order]", most: int) -> None:
    import mmap  # now: under the limit there may be no room for it

    def meet() -> bool:
        try:
            mmap.mmap(-1, most)  # all of it, beside what this process has already
        except (OSError, ValueError, OverflowError, MemoryError):
            return True
        return False

    _held("address-space", in_child(steps, meet))


def _stack(steps: "Sequence[Order]", most: int) -> None:
    """Touch a byte below the end of the stack; the kernel answers with SIGSEGV."""

    def meet() -> bool:
        import resource

        if most > _STACK_REACH_BYTES:  # below that there may be something else to touch
            return resource.getrlimit(resource.RLIMIT_STACK)[0] == most
        import ctypes

        ctypes.memset(_top_of_stack() - most - _STACK_SLACK_BYTES, 0, 1)
        return False

    status = in_child(steps, meet)
    _held("stack", 0 if status == 0 or _was_ended_by(status, signal.SIGSEGV) else status)


def _top_of_stack() -> int:
    with open("/proc/self/maps", "rb") as maps:
        for line in maps:
            if line.rstrip().endswith(b"[stack]"):
                return int(line.split(b" ", 1)[0].split(b"-")[1], 16)
    raise OSError


def _cpu_seconds(steps: "Sequence[Order]", most: int) -> None:
    """Ask the kernel what holds: to meet it would take the seconds."""

    def meet() -> bool:
        import resource

        return resource.getrlimit(resource.RLIMIT_CPU)[0] == most

    _held("cpu-seconds", in_child(steps, meet))


def _was_ended_by(status: int, number: int) -> bool:
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == number


def _affinity(steps: "Sequence[Order]", *processors: int) -> None:
    def meet() -> bool:
        return os.sched_getaffinity(0) == set(processors)

    _held("cpus", in_child(steps, meet))


def _memory_v1(steps: "Sequence[Order]", folder: str, most: int, with_swap: int) -> None:
    """Lower the limit to a little, have a process need more, and see the kernel hold it."""
    both = f"{folder}/memory.memsw.limit_in_bytes"
    little = min(most, _PROBE_BYTES)
    has_swap = os.path.exists(both)
    write_words(f"{folder}/memory.limit_in_bytes", little)
    if has_swap:
        write_words(both, little)
    memory = watch([("memory v1", folder)])[0]
    memory.begin(0)
    poll = select.poll()
    poll.register(memory.descriptor, select.POLLIN)
    pid = fork(steps, lambda: _touch(2 * little))
    try:
        is_enforced = _wait(poll, pid) and memory.look([pid]) is not None
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        memory.close()
        write_words(f"{folder}/memory.oom_control", 0)
        if has_swap:
            write_words(both, with_swap)
        write_words(f"{folder}/memory.limit_in_bytes", most)
        write_words(f"{folder}/memory.max_usage_in_bytes", 0)
    _held("memory", 0 if is_enforced else _BROKE)


def _wait(poll: "select.poll", pid: int) -> bool:
    """Return whether the kernel reports a shortage before the probe has ended."""
    handle = os.pidfd_open(pid)
    try:
        poll.register(handle, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll(_PATIENCE_SECONDS * 1000)]
        return bool(ready) and handle not in ready
    finally:
        os.close(handle)


def _touch(size: int) -> bool:
    _held_memory.append(_touched(size))
    return False


_held_memory: list[object] = []  # until the process ends


def _touched(size: int) -> object:
    import mmap

    memory = mmap.mmap(-1, size)
    for place in range(0, size, _PAGE):
        memory[place] = 1
    return memory


def _memory_v2(steps: "Sequence[Order]", folder: str, most: int, high: str) -> None:
    """Lower the limit to a little, and have a process need more: the kernel kills it."""
    little = min(most, _PROBE_BYTES)
    write_words(f"{folder}/memory.high", "max")
    write_words(f"{folder}/memory.max", little)
    try:
        status = in_child(steps, lambda: _touch(2 * little))
    finally:
        write_words(f"{folder}/memory.max", most)
        write_words(f"{folder}/memory.high", high)
    _held("memory", 0 if _was_ended_by(status, signal.SIGKILL) else _BROKE)


def _memory_seen(steps: "Sequence[Order]") -> None:
    """Have a process need a little more than a little, and see the watchdog see and stop it."""
    looking = watch([("memory seen", _PROBE_BYTES, 0)])[0]
    pid = fork(steps, _hold)
    gives_up_at = time.monotonic() + _PATIENCE_SECONDS
    try:
        while (note := looking.look([pid])) is None and time.monotonic() < gives_up_at:
            time.sleep(looking.pause_seconds())
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    _held("memory", 0 if note is not None else _BROKE)


def _hold() -> bool:
    """Need a little more than a little, and wait to be killed for it."""
    _touch(2 * _PROBE_BYTES)
    signal.pause()
    return False


def _processes(steps: "Sequence[Order]", folder: str, most: int) -> None:
    """Lower the limit to one process, and have it fork."""

    def meet() -> bool:
        try:
            pid = os.fork()
        except OSError:
            return True
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        return False

    write_words(f"{folder}/pids.max", 1)
    try:
        status = in_child(steps, meet)
    finally:
        write_words(f"{folder}/pids.max", most)
    _held("processes", status)


def _cpus_v1(steps: "Sequence[Order]", folder: str, quota: int) -> None:
    """Lower the quota to a tenth of a short period, and have a process need more."""
    period, lowest = 10_000, 1_000
    old = int(read_words(f"{folder}/cpu.cfs_period_us"))
    write_words(f"{folder}/cpu.cfs_quota_us", -1)
    write_words(f"{folder}/cpu.cfs_period_us", period)
    write_words(f"{folder}/cpu.cfs_quota_us", lowest)
    try:
        status = in_child(steps, lambda: _is_throttled(folder))
    finally:
        write_words(f"{folder}/cpu.cfs_quota_us", -1)
        write_words(f"{folder}/cpu.cfs_period_us", old)
        write_words(f"{folder}/cpu.cfs_quota_us", quota)
    _held("cpus", status)


def _cpus_v2(steps: "Sequence[Order]", folder: str, quota: str) -> None:
    """As for version 1."""
    write_words(f"{folder}/cpu.max", "1000 10000")
    try:
        status = in_child(steps, lambda: _is_throttled(folder))
    finally:
        write_words(f"{folder}/cpu.max", quota)
    _held("cpus", status)


def _is_throttled(folder: str) -> bool:
    """Work until the kernel stops this process for a while; give up after half a second."""
    gives_up_at = time.monotonic() + _SPIN_SECONDS
    while time.monotonic() < gives_up_at:
        if read_fields(f"{folder}/cpu.stat").get("nr_throttled", 0):
            return True
    return False


def _disks(
    steps: "Sequence[Order]",
    folder: str,
    slow: "Sequence[tuple[str, str]]",
    limits: "Sequence[tuple[str, str]]",
) -> None:
    """Lower the limit to a little, and have a process read past the page cache: it takes its time.

    Before the first wait the kernel lets a tenth of a second's bytes through.
    """
    for name, words in slow:
        write_words(f"{folder}/{name}", words)
    try:
        status = in_child(steps, lambda: _is_slow([words.split(" ")[0] for _, words in slow]))
    finally:
        for name, words in limits:
            write_words(f"{folder}/{name}", words)
    _held("slow-disk", status)


def _is_slow(disks: "Sequence[str]") -> bool:
    import mmap

    place = _place_on(disks)
    began = time.monotonic()
    os.preadv(place, [mmap.mmap(-1, _SLOW_READ_BYTES)], 0)
    return time.monotonic() - began > _SLOW_READ_SECONDS


def _place_on(disks: "Sequence[str]") -> int:
    """Return a descriptor of one of the disks itself, or of a file on it for who may not open that."""
    for disk in disks:
        fields = read_words(f"/sys/dev/block/{disk}/uevent").splitlines()
        name = next((each[8:] for each in fields if each.startswith("DEVNAME=")), "")
        try:
            return os.open(f"/dev/{name}", os.O_RDONLY | os.O_DIRECT)
        except OSError:
            continue
    return os.open(_large_file(), os.O_RDONLY | os.O_DIRECT)


def _large_file() -> str:
    """Return a file of this process's own that is large enough to be read for a while: a library."""
    for line in read_words("/proc/self/maps").splitlines():
        path = line.partition("/")[2]
        if path and os.path.getsize(f"/{path}") >= _SLOW_READ_BYTES:
            return f"/{path}"
    import errno

    raise OSError(errno.ENOENT, "no file to read")


_PROBES: "dict[str, Callable[..., None]]" = {
    "files": _files,
    "file-size": _file_size,
    "address-space": _address_space,
    "stack": _stack,
    "cpu-seconds": _cpu_seconds,
    "affinity": _affinity,
    "memory v1": _memory_v1,
    "processes": _processes,
    "cpus v1": _cpus_v1,
    "cpus v2": _cpus_v2,
    "disks": _disks,
    "memory v2": _memory_v2,
    "memory seen": _memory_seen,
}
