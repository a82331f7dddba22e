"""Processes that meet a limit on purpose, before the program starts under it.

Each probe is a fork of the spawner that takes the same steps as the program will, and then goes
beyond the limit. One that gets away with it has proved that the limit does not hold.
"""

import os

from whet.host.ceilings.steps import take

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if not TYPE_CHECKING:
    import _signal as signal  # `signal` is this and enums, which add 10 ms
else:
    import signal
    from collections.abc import Callable, Sequence

    from whet.host.ceilings.ceiling import Order

_HELD, _BROKE = 0, 1
_PAGE = 4096
_STACK_SLACK_BYTES = 1 << 20
_STACK_REACH_BYTES = 64 << 20  # the kernel keeps 128 MiB below a stack free of anything else


class LimitDoesNotHoldError(Exception):
    """A probe went beyond a limit and nothing stopped it."""


def prove(probes: "Sequence[Order]", steps: "Sequence[Order]") -> None:
    """Meet each limit in a process of its own.

    Raises:
        LimitDoesNotHoldError: if one does not hold.
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
    _, status = os.waitpid(pid, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) not in {_HELD, _BROKE}:
        number = os.WEXITSTATUS(status)
        raise OSError(number, os.strerror(number))
    return status


def write(path: str, words: str) -> None:
    """Write a word to a file of a control group."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, words.encode())
    finally:
        os.close(descriptor)


def _held(name: str, status: int) -> None:
    if status != 0:
        raise LimitDoesNotHoldError(name)


def _files(steps: "Sequence[Order]", most: int) -> None:
    def meet() -> bool:
        import fcntl

        fcntl.fcntl(0, fcntl.F_DUPFD, most - 1)  # the last number that may be had
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
    def meet() -> bool:
        import mmap

        try:
            mmap.mmap(-1, most)  # all of it, beside what this process has already
        except (OSError, ValueError, OverflowError):
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


_PROBES: "dict[str, Callable[..., None]]" = {
    "files": _files,
    "file-size": _file_size,
    "address-space": _address_space,
    "stack": _stack,
    "cpu-seconds": _cpu_seconds,
}
