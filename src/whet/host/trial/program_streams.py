"""The streams between one program and whet: pipes or pseudo-terminals, recorded and shown."""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from whet.host.process.nonblocking_writer import NonblockingWriter
from whet.host.process.terminal import PseudoTerminal, Terminal
from whet.host.trial.capture import Capturing

_PIPE_BYTES = 1 << 20  # what an ordinary user may ask for; a fast writer then waits less often

_STDOUT, _STDERR = 1, 2


class Flow:
    """One stream on its way from the program into a capture, and past the user.

    Attributes:
        reader: whet's end, or -1 once it has ended.
        capturing: keeps it.
        nonblocking_writer: shows it; None: it isn't shown.
        is_unread: the reader on whet's side has gone; whet doesn't keep the rest either.
        overran: it is longer than its limit; the rest is neither kept nor shown.
        fed_bytes: how much has come.
        keep_past: is given what comes, for copies of the program that run on from here.
    """

    def __init__(
        self,
        reader: int,
        capturing: Capturing,
        nonblocking_writer: NonblockingWriter | None = None,
        limit_bytes: int | None = None,
    ) -> None:
        self.reader = reader
        self.capturing = capturing
        self.nonblocking_writer = nonblocking_writer
        self.is_unread = False
        self.overran = False
        self.fed_bytes = 0
        self.keep_past: Callable[[memoryview], None] | None = None
        self._left_bytes = limit_bytes
        os.set_blocking(reader, False)

    @property
    def is_open(self) -> bool:
        """Whether more may come."""
        return self.reader >= 0

    @property
    def is_held_up(self) -> bool:
        """Whether the program has to wait until the user has read on."""
        return self.nonblocking_writer is not None and self.nonblocking_writer.is_full

    def pull(self, buffer: bytearray) -> bool:
        """Read once; say whether anything was there. At the end of the stream it closes."""
        try:
            size = os.readv(self.reader, [buffer])
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno != errno.EIO:  # so says a pseudo-terminal whose other end is closed
                raise
            size = 0
        if size == 0:
            self.close()
            return False
        self.feed(memoryview(buffer)[:size])
        return True

    def feed(self, data: memoryview) -> None:
        """Keep and show what the program wrote, now or in a past that it shares."""
        if self.keep_past is not None:
            self.keep_past(data)
        if self._left_bytes is not None:
            self.overran = self.overran or len(data) > self._left_bytes
            data = data[: self._left_bytes]
            self._left_bytes -= len(data)
        self.fed_bytes += len(data)
        self.capturing.feed(data)
        if self.nonblocking_writer is not None:
            self.nonblocking_writer.push(data)
            if self.nonblocking_writer.has_lost_reader:
                # As it would without whet, the program gets a SIGPIPE, and `yes` ends.
                self.is_unread = True
                self.close()

    def close(self) -> None:
        """Read no more."""
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1


class Keyboard:
    """What the user types, on its way to the program's terminal."""

    def __init__(self, descriptor: int, own: Terminal, other: PseudoTerminal) -> None:
        self.descriptor = descriptor
        self.own = own
        self.other = other
        self.is_open = True
        self._waiting = b""

    @property
    def is_waiting(self) -> bool:
        """Whether the program has yet to take what was typed."""
        return bool(self._waiting)

    def pull(self) -> bytes:
        """Read what was typed, pass it on and return it."""
        try:
            typed = os.read(self.descriptor, 1024)
        except OSError:
            typed = b""
        self.is_open = bool(typed)
        self._waiting += typed
        self.pump()
        return typed

    def pump(self) -> None:
        """Pass on what was typed, as far as the program takes it."""
        try:
            self._waiting = self._waiting[os.write(self.other.master, self._waiting) :]
        except BlockingIOError:
            return
        except OSError:
            self._waiting, self.is_open = b"", False


@dataclass(slots=True, kw_only=True)
class ProgramStreams:
    """All streams of one trial.

    Attributes:
        child: the program's ends: standard input, output, error, and the reset steps' output.
        terminal: which of them is the program's controlling terminal; -1: none.
        flows: by name: `stdout`, `stderr` and, if there are reset steps, `reset`.
        keyboard: set if the program's input is a terminal.
        terminals: pseudo-terminals in use.
        past: what was written so far, by which stream, in the order in which it came.
    """

    child: list[int] = field(default_factory=list[int])
    terminal: int = -1
    flows: dict[str, Flow] = field(default_factory=dict[str, Flow])
    keyboard: Keyboard | None = None
    terminals: list[PseudoTerminal] = field(default_factory=list[PseudoTerminal])
    past: list[tuple[str, bytearray]] = field(default_factory=list[tuple[str, bytearray]])

    @property
    def outlets(self) -> Iterator[NonblockingWriter]:
        """Where the flows are shown."""
        for nonblocking_writer in {flow.nonblocking_writer for flow in self.flows.values()}:
            if nonblocking_writer is not None:
                yield nonblocking_writer

    def add_pipe(
        self,
        name: str,
        capturing: Capturing,
        nonblocking_writer: NonblockingWriter | None,
        limit_bytes: int | None,
    ) -> None:
        """Give the program a pipe as its next stream."""
        reader, writer = os.pipe()
        with suppress(OSError):  # the user has as many large pipes as he may
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self.child.append(writer)
        self.flows[name] = Flow(reader, capturing, nonblocking_writer, limit_bytes)

    def add_terminal(
        self,
        name: str,
        terminal: PseudoTerminal,
        capture: Callable[[bool], Capturing],
        nonblocking_writer: NonblockingWriter,
        limit_bytes: int | None,
    ) -> None:
        """Give the program a pseudo-terminal as its next stream."""
        if terminal not in self.terminals:
            self.terminals.append(terminal)
        self.child.append(os.dup(terminal.slave))
        capturing = capture(terminal.adds_returns)
        self.flows[name] = Flow(os.dup(terminal.master), capturing, nonblocking_writer, limit_bytes)

    def join_errors(self) -> None:
        """Let the program's errors go where its output goes: one order, but no stream of their own."""
        os.close(self.child[_STDERR])
        self.child[_STDERR] = os.dup(self.child[_STDOUT])

    def keep_past(self) -> None:
        """Keep what is written from now on, for copies of the program."""
        for name, flow in self.flows.items():
            flow.keep_past = partial(self._keep, name)

    def _keep(self, name: str, data: memoryview) -> None:
        if not self.past or self.past[-1][0] != name:
            self.past.append((name, bytearray()))
        self.past[-1][1].extend(data)

    def release_child(self) -> None:
        """Close the program's ends: it has its own copies now."""
        while self.child:
            os.close(self.child.pop())

    def resize(self, size: bytes) -> None:
        """Tell the program that the user's terminal has another size."""
        for terminal in self.terminals:
            terminal.resize(size)

    def drain(self, buffer: bytearray) -> None:
        """Read what is left once the program has ended, without waiting for an end of it.

        A process outside the tree may have been handed the other end and hold it open.
        """
        for terminal in self.terminals:
            terminal.close_slave()
        for flow in self.flows.values():
            while flow.is_open and flow.pull(buffer):
                pass

    def close(self) -> None:
        """Close everything."""
        self.release_child()
        for flow in self.flows.values():
            flow.close()
        for terminal in self.terminals:
            terminal.close()
        self.terminals.clear()
