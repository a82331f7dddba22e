"""Forks processes that are nobody's child, and speaks with whet: as of `whet.host.process.channel`.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _socket
import marshal
import os

from ..hiding.atfork import fork
from ..hiding.private import private_import
from ..hiding.typed import cast
from ..hiding.unfiltered_calls import whole
from .descriptors import Streams

_signal = private_import("_signal")
_ACTION_BYTES = 256  # `struct sigaction` has less, in each C library

_LENGTH_BYTES = 4
_INT_BYTES = 4
_MOST_DESCRIPTORS = 8


def take_streams(held: Streams, streams: list[int], terminal: int) -> None:
    """Make this process what a started program is: a session, its streams, its terminal."""
    os.setsid()
    if terminal >= 0:
        private_import("fcntl").ioctl(streams[terminal], private_import("termios").TIOCSCTTY, 0)
    held.give(streams)
    for stream in streams:
        os.close(stream)


def fork_away() -> int:
    """Fork a process that is nobody's child: its parent is whet's spawner, the next subreaper.

    A program that waits for any child of its own must not find it, nor the one between. That is
    waited for at once, and the program isn't told of its end: a handler of its own may wait for
    any child, too.

    Returns:
        its number; in the new process 0.

    Raises:
        OSError: if there can be no other process.
    """
    action = _unhear()
    try:
        return _fork_away()
    finally:
        _hear(action)


def _fork_away() -> int:
    told, tell = os.pipe()
    try:
        middle = fork()
    except OSError:
        os.close(told)
        os.close(tell)
        raise
    if middle == 0:
        try:
            pid = fork()
        except OSError:
            os._exit(1)
        if pid:
            os.write(tell, pid.to_bytes(_INT_BYTES, "little"))
            os._exit(0)
        os.close(told)
        os.close(tell)
        return 0
    os.close(tell)
    pid = int.from_bytes(os.read(told, _INT_BYTES), "little")
    os.close(told)
    os.waitpid(middle, 0)
    if not pid:
        raise BlockingIOError
    return pid


def _unhear() -> bytes:
    """Let nobody hear of children that end; return what is to be done again when one does.

    Empty where the program does nothing. To hold the signal back would not do: another thread, of a
    native pool, would take it.
    """
    if not _is_heard():
        return b""
    before = bytes(bytearray(_ACTION_BYTES))  # of its own: the system writes to it
    _set_action(bytes(_ACTION_BYTES), before)  # nothing but zeros: SIG_DFL
    return before


def _is_heard() -> bool:
    """Whether the end of a child is heard or ignored; Python knows of no handler but its own."""
    child = 1 << (_signal.SIGCHLD - 1)
    lines = whole("/proc/self/status").splitlines()
    return any(
        int(line.split()[1], 16) & child for line in lines if line[:7] in {b"SigIgn:", b"SigCgt:"}
    )


def _hear(action: bytes) -> None:
    if action:
        _set_action(action, None)


def _set_action(action: bytes, before: bytes | None) -> None:
    ctypes = private_import("_ctypes")
    function: int = ctypes.dlsym(ctypes.dlopen(None, os.RTLD_NOW), "sigaction")
    ctypes.call_function(function, (int(_signal.SIGCHLD), action, before))


def send(line: _socket.socket, facts: tuple[object, ...] | int) -> None:
    """Send a message."""
    packed = marshal.dumps(cast("tuple[str, ...]", facts))
    line.sendall(len(packed).to_bytes(_LENGTH_BYTES, "little") + packed)


def receive(line: _socket.socket) -> tuple[bytes, list[int]]:
    """Return the next message and its descriptors; nothing if whet is gone."""
    try:
        head, rights, _, _ = line.recvmsg(
            _LENGTH_BYTES, _socket.CMSG_SPACE(_MOST_DESCRIPTORS * _INT_BYTES), _socket.MSG_WAITALL
        )
        body = line.recv(int.from_bytes(head, "little"), _socket.MSG_WAITALL) if head else b""
    except OSError:
        return b"", []
    descriptors = [
        int.from_bytes(numbers[at : at + _INT_BYTES], "little")
        for _, _, numbers in rights
        for at in range(0, len(numbers), _INT_BYTES)
    ]
    return body, descriptors


class Ready:
    """A copy of a snapshot that is to run on: it takes on new texts, then its streams.

    Attributes:
        is_fresh: it is there, and has taken on no texts yet. In the copy itself it means nothing.
    """

    def __init__(self) -> None:
        self.is_fresh = False
        self._pid = 0
        self._line: _socket.socket | None = None

    # ---- in the snapshot ----

    def begin(self) -> bool:
        """Fork it, in place of an earlier one; say whether this is still the snapshot."""
        if self._line is not None:
            self._line.close()
        here, there = _socket.socketpair()
        try:
            self._pid = fork_away()
        except OSError:
            os._exit(0)  # whet starts again, or from another one
        self._line, other = (here, there) if self._pid else (there, here)
        other.close()
        self.is_fresh = True
        return self._pid != 0

    def tell(self, order: bytes, *, is_to_change: bool) -> int:
        """Hand an order on; return its pid, that below zero if it can't be done; 0: it is gone."""
        assert self._line is not None
        self.is_fresh = not is_to_change
        answer = b""
        try:
            self._line.sendall(len(order).to_bytes(_LENGTH_BYTES, "little") + order)
            answer, _ = receive(self._line)
        except OSError:  # it was killed
            pass
        if not answer:
            return 0
        return self._pid if marshal.loads(answer) else -self._pid

    def go(self, streams: list[int], given: tuple[int, list[bytes], bool, float]) -> int:
        """Let it run on; return its pid once it is of a session of its own."""
        assert self._line is not None
        body = marshal.dumps(given)
        numbers = b"".join(stream.to_bytes(_INT_BYTES, "little") for stream in streams)
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)]
        try:
            self._line.sendmsg([len(body).to_bytes(_LENGTH_BYTES, "little")], rights)
            self._line.sendall(body)
        except OSError:  # it was killed: there is no answer either
            pass
        for stream in streams:
            os.close(stream)
        # Until then a signal to its group would miss it, or meet the snapshot.
        has_begun = bool(receive(self._line)[0])
        self._line.close()
        self._line = None
        self.is_fresh = False
        return self._pid if has_begun else 0

    # ---- in the copy ----

    def wait(self) -> tuple[bytes, list[int]]:
        """Return what it is told next, and its streams if it is to run on."""
        assert self._line is not None
        order, streams = receive(self._line)
        if not order:
            os._exit(0)
        return order, streams

    def is_asked(self) -> bool:
        """Whether it has been told something since, or there is nobody any more who could."""
        assert self._line is not None
        try:
            self._line.recv(1, _socket.MSG_PEEK | _socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            pass
        return True

    def answer(self, *, is_done: bool) -> None:
        """Say that it has been done, or that it can't be: to end takes longer than to say so."""
        assert self._line is not None
        send(self._line, int(is_done))

    def become(self, held: Streams, streams: list[int], terminal: int) -> None:
        """Take the streams, and be a process that runs on."""
        assert self._line is not None
        take_streams(held, streams, terminal)
        send(self._line, 1)
        self._line.close()
