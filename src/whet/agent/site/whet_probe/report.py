"""Tells what was seen: to whoever looks on, in lines, and to whet, in files of each process.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys
import time

from .beside import ANY_ERROR, RANKS, Reader, as_json, value_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_MAGIC_FOLDER = 0x57686574  # tags what is whet's own, see `whet.host.kernel.syscalls`
_SUFFIX, _COUNTS = ".probes", ".probe-counts"
_NUMBER_BYTES = 8
_MOST_BYTES = 16 << 20
_WIDTH = 160
_SECONDS = 0.1
_HIGH_DESCRIPTORS = (1002, 502, 252, 122, 62)
_STDERR = 2
_WHOLE_BYTES = 4096
"""As much is written to a pipe in one piece, however many processes write to it (PIPE_BUF)."""


class Report:
    """What one process tells; a forked one has files of its own.

    Attributes:
        rank: its place in a distributed job; None: it has none.
        node: the machine, as it stands before the rank.
    """

    def __init__(self, folder: str, count: int) -> None:
        rank = next((os.environ[name] for name in RANKS if name in os.environ), "")
        self.rank = int(rank) if rank.isdigit() else None
        self.node = os.uname().nodename.partition(".")[0]
        self._folder = folder
        self._count = count
        self._pid = 0
        self._counts: Any = None
        self._bytes = 0
        # A test runner puts another file there later, to show what was said only if a test fails.
        self._descriptor = _high_copy()

    # ---- lines ----

    def say(self, text: str) -> None:
        """Show one or several lines, each in one piece and with what says whose it is."""
        now = time.time()
        clock = time.strftime("%H:%M:%S", time.localtime(now))
        place = "" if self.rank is None else "{}:{} ".format(self.node, self.rank)
        head = "[whet {}{}.{:03d} {}] ".format(place, clock, int(now % 1 * 1000), os.getpid())
        lines = [(head + each).encode("utf-8", "backslashreplace") for each in text.split("\n")]
        data = b"".join(line[: _WHOLE_BYTES - 1] + b"\n" for line in lines)
        stderr = getattr(sys, "stderr", None)
        if stderr is not None and type(stderr).__module__ == "_io":
            try:
                sys.stdout.flush()  # what was printed before comes before
                stderr.flush()
            except ANY_ERROR:  # closed, or full: not whet's to tell
                pass
        pieces = (
            [data]
            if len(data) <= _WHOLE_BYTES
            else [line + b"\n" for line in data.split(b"\n")[:-1]]
        )
        try:
            for each in pieces:
                os.write(self._descriptor, each)
        except OSError:
            pass  # whoever read it has gone

    def value(self, name: str, value: object) -> Any:
        """Return a value as data, masked if its name says that it is a secret."""
        return Reader(_SECONDS).named(name.rstrip(")]}'\" "), value)

    def shown(self, node: Any) -> str:
        """Return a value's data as part of a line."""
        line: str = value_line(node, _WIDTH)
        return line

    # ---- files ----

    def path(self, suffix: str) -> str:
        """Return the path of a file of this process's own."""
        return os.path.join(self._folder, "{}{}".format(os.getpid(), suffix))

    def count(self, number: int) -> None:
        """Count that a probe was reached; the number is there however the process ends."""
        pid = os.getpid()
        if pid != self._pid:
            self._begin_file(pid)
        self._counts[number] += 1

    def tell(self, told: dict[str, Any]) -> None:
        """Write something down for whet."""
        if self._bytes > _MOST_BYTES:
            return
        told["pid"], told["rank"], told["at"] = os.getpid(), self.rank, time.time()
        line = as_json(told).encode("ascii") + b"\n"
        self._bytes += len(line)
        path = self.path(_SUFFIX)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, 0o600, dir_fd=_MAGIC_FOLDER)
        except OSError:
            return  # the trial is over
        try:
            os.write(descriptor, line)
        except OSError:
            pass
        finally:
            os.close(descriptor)

    def tell_call(self, number: int, caller: int, frame: FrameType) -> None:
        """Write down that a function is called, with its arguments."""
        code = frame.f_code
        self.tell(
            {
                "call": number,
                "caller": caller,
                "function": str(getattr(code, "co_qualname", code.co_name)),
                "path": code.co_filename,
                "line": code.co_firstlineno,
                "arguments": [[name, self.value(name, held)] for name, held in arguments_of(frame)],
            }
        )

    def tell_end(self, number: int, value: object, error: BaseException | None) -> None:
        """Write down how a call has ended."""
        if error is None:
            self.tell({"end": number, "value": self.value("", value)})
        else:
            self.tell(
                {"end": number, "error": type(error).__name__, "value": self.value("", error)}
            )

    def _begin_file(self, pid: int) -> None:
        import mmap

        path = self.path(_COUNTS)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._pid, self._counts = pid, [0] * self._count
        try:
            descriptor = os.open(path, flags, 0o600, dir_fd=_MAGIC_FOLDER)
        except OSError:
            return
        try:
            # All of it is there: a hole that can't be filled would kill the program (SIGBUS).
            os.posix_fallocate(descriptor, 0, self._count * _NUMBER_BYTES)
            shared = mmap.mmap(descriptor, self._count * _NUMBER_BYTES)
            self._counts = memoryview(shared).cast("Q")
        except OSError:
            pass
        finally:
            os.close(descriptor)


def arguments_of(frame: FrameType) -> list[tuple[str, object]]:
    """Return the arguments that a function was called with, by name."""
    code, held = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    names = [*code.co_varnames[:count]]
    for flag in (0x04, 0x08):  # CO_VARARGS, CO_VARKEYWORDS
        if code.co_flags & flag:
            names.append(code.co_varnames[count])
            count += 1
    return [(name, held[name]) for name in names if name in held]


def _high_copy() -> int:
    """Return a copy of standard error where no program looks that counts or closes the first few."""
    for high in _HIGH_DESCRIPTORS:
        try:
            os.fstat(high)
        except OSError:
            try:
                return os.dup2(_STDERR, high, inheritable=False)
            except OSError:
                continue
    return _STDERR
