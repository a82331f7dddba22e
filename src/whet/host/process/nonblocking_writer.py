"""Writing whet's own output without waiting for the reader."""

import os
import re
import select
import stat
import time
from contextlib import suppress

_FULL_BYTES = 1 << 20
_WHOLE_BYTES = 1 << 20
# poll(2) says that a pipe takes this much without blocking (PIPE_BUF), not more. O_NONBLOCK
# would be simpler, but it belongs to the open file, which the user's shell shares.
_SURE_BYTES = 4096
_TAIL_BYTES = 64
_UNSEEN = re.compile(rb"(?:\x1b\[[0-9;?]*[A-Za-z])+\Z")  # colours, a cursor that is shown again
_LEAST_BYTES = 1  # of a terminal it says that there is room, not for how much


class NonblockingWriter:
    """One of whet's own streams, while a program's output is passed on to it.

    Attributes:
        descriptor: where it writes.
        is_broken: nothing more is written.
        has_lost_reader: its reader has gone (``whet run … | head``).
        wrote_at: when it last wrote, in nanoseconds; 0: never.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.is_broken = False
        self.has_lost_reader = False
        self.wrote_at = 0
        self._tail = b""
        self._waiting: list[memoryview] = []
        self._waiting_bytes = 0
        self._own = -1
        self._is_silent = False
        try:
            mode = os.fstat(descriptor).st_mode
        except OSError:  # whet was started with this stream closed
            mode, self.is_broken = 0, True
        self._step_bytes = _WHOLE_BYTES if stat.S_ISREG(mode) else _SURE_BYTES
        if stat.S_ISCHR(mode) and os.isatty(descriptor):
            self._step_bytes = _LEAST_BYTES
            with suppress(OSError):  # it belongs to another user (`su`), or has no name here
                # The same terminal opened once more has a flag of its own.
                flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
                self.descriptor = self._own = os.open(os.ttyname(descriptor), flags)
                self._step_bytes = _WHOLE_BYTES
        self._poll = select.poll()
        self._poll.register(self.descriptor, select.POLLOUT)

    def __del__(self) -> None:
        if self._own >= 0:
            os.close(self._own)

    @property
    def is_waiting(self) -> bool:
        """Whether there is something left to write."""
        return bool(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether the backlog is large enough to hold up the program."""
        return self._waiting_bytes >= _FULL_BYTES

    @property
    def is_in_line(self) -> bool:
        """Whether the output ends in an unfinished line."""
        visible = _UNSEEN.sub(b"", self._tail)
        return bool(visible) and not visible.endswith(b"\n")

    def push(self, data: memoryview) -> None:
        """Write ``data`` as far as that goes without waiting; keep a copy of the rest."""
        if self.is_broken or self._is_silent:
            return
        if not self._waiting:
            data = self._write(data)
        if data and not self.is_broken:
            self._waiting.append(memoryview(bytes(data)))
            self._waiting_bytes += len(data)

    def pump(self) -> None:
        """Write more of what is left, as far as that goes without waiting."""
        while self._waiting and not self.is_broken:
            first = self._waiting[0]
            rest = self._write(first)
            if not self._waiting:
                return  # the reader has gone
            self._waiting_bytes -= len(first) - len(rest)
            if rest:
                self._waiting[0] = rest
                return
            self._waiting.pop(0)

    def give_up(self) -> None:
        """Write nothing more: the reader has stopped."""
        self.is_broken = True
        self._forget()

    def fall_silent(self) -> None:
        """Drop the rest of this program's output: whet doesn't wait for the reader."""
        self._is_silent = True
        self._forget()

    def speak_again(self) -> None:
        """Write what the next program says."""
        self._is_silent = False

    def _forget(self) -> None:
        self._waiting.clear()
        self._waiting_bytes = 0

    def _note(self, written: memoryview) -> None:
        self.wrote_at = time.monotonic_ns()
        self._tail = (self._tail + bytes(written[-_TAIL_BYTES:]))[-_TAIL_BYTES:]

    def _write(self, data: memoryview) -> memoryview:
        try:
            while data and self._poll.poll(0):
                size = os.write(self.descriptor, data[: self._step_bytes])
                self._note(data[:size])
                data = data[size:]
        except BlockingIOError:
            return data
        except OSError as error:
            self.has_lost_reader = isinstance(error, BrokenPipeError)
            self.give_up()
            return data[:0]
        return data
