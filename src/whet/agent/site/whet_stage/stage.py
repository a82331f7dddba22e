"""Runs the main script so that frozen copies of the process can be taken on the way.

Only in a process that whet started for it. A *snapshot* is a forked copy that waits on a socket.
Resumed, it forks once more, and that copy runs on: with what files hold now, and with the rest of
the main script as it is now. Whether a snapshot may be resumed after an edit is decided by whet
(`whet.execution.warm`); here it is observed what each one has seen.

Standard library only, Python 3.9 or later. It leaves no name where the program could find it.
"""

from __future__ import annotations

import _socket
import marshal
import os
import sys
import time

from .exit import OWN_FILES, run_and_exit
from .freeze import fork_away, receive, send, take_streams
from .hygiene import RandomState, hindrance, inherit, offsets, reopen
from .script import Script
from .sight import Sight


def install(wish: str) -> None:
    """Take over the main script of this process.

    Args:
        wish: how many seconds a stretch of the program takes that is worth a snapshot at its
            end, and the socket at which whet waits for snapshots: ``0.05:/tmp/whet-x/stage``.
    """
    inherit()
    seconds, _, address = wish.partition(":")
    stage = _Stage(address, float(seconds))
    stage.sight.observe()
    sys.addaudithook(stage.sight.hear)
    OWN_FILES.update(_forget_modules())


def _forget_modules() -> list[str]:
    """Leave no name where the program could find it; return the files."""
    package = __name__.partition(".")[0]
    names = [name for name in sys.modules if name.partition(".")[0] == package]
    return [str(sys.modules.pop(name).__file__) for name in names]


class _Stage:
    """The program, and the snapshots it has taken."""

    def __init__(self, address: str, worth_seconds: float) -> None:
        self.sight = Sight(before_read=self._before_read, run_script=self._run_script)
        self._script = Script(reached=self._reached)
        self._address = address
        self._worth_seconds = worth_seconds
        self._pid = os.getpid()
        self._since = time.perf_counter()
        self._began = self._since

    def _before_read(self, name: str) -> None:
        self._offer("reads", name)

    def _reached(self, statement: int) -> None:
        self._offer("statement", str(statement))

    def _offer(self, kind: str, place: str) -> None:
        """Take a snapshot if it is worth it and can be done."""
        now = time.perf_counter()
        if now - self._since < self._worth_seconds or self.sight.ended_by or self.sight.is_closed:
            return
        if os.getpid() != self._pid:
            self.sight.ended_by = "a forked process"
            return
        self.sight.is_closed = True
        try:
            # Most hindrances go away: a pool is closed, a child is waited for.
            if not _hindered():
                self._take(kind, place, now - self._began)
        finally:
            self.sight.is_closed = False
            self._since = time.perf_counter()

    def _take(self, kind: str, place: str, seconds: float) -> None:
        """Fork a copy that waits; return here, and in each copy that is resumed from it."""
        random = RandomState()
        of = offsets()
        waiting, woken = os.pipe()
        if fork_away():
            os.close(woken)
            os.read(waiting, 1)
            os.close(waiting)
            return
        os.close(waiting)
        source = self._wait(woken, kind, place, seconds)
        # From here on this is the process of a resumed run.
        self._pid = os.getpid()
        random.restore()
        reopen(of)
        self.sight.forget()
        self._began = time.perf_counter() - seconds
        import importlib

        importlib.invalidate_caches()
        if source:
            raise self._script.rest(source, int(place))

    def _wait(self, woken: int, kind: str, place: str, seconds: float) -> bytes:
        """Be a snapshot; return in a copy, with the main script if that has changed."""
        os.setsid()
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        line.connect(self._address)
        shown = self._script.line_of(int(place)) if kind == "statement" else place
        send(
            line,
            (
                kind, shown, seconds, *self.sight.facts(), self._script.path, self._script.source,
            ),
        )  # fmt: skip
        # The original runs on when whet knows of this copy and has taken in all its output.
        if not receive(line)[0]:
            os._exit(0)
        os.close(woken)
        for number in (0, 1, 2):
            # A frozen process must not keep the streams of a run that has ended.
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        while True:
            order, streams = receive(line)
            if not order:
                os._exit(0)
            wish: tuple[bytes, int] = marshal.loads(order)
            source, terminal = wish
            if not streams:  # a question
                fits = kind == "statement" and self._script.has_same_past(source, int(place))
                send(line, int(fits))
                continue
            pid = fork_away()
            if pid == 0:
                line.close()
                take_streams(streams, terminal)
                return source
            send(line, pid)
            for stream in streams:
                os.close(stream)

    def _run_script(self, path: str) -> None:
        self.sight.is_closed = True
        self._script.path = path
        if self._script.read():
            try:
                run_and_exit(self._script.run, self._begin)
            finally:
                self.sight.is_closed = True
        self.sight.is_closed = False  # Python says it in its own words

    def _begin(self) -> None:
        self.sight.is_closed = False
        self._since = time.perf_counter()


def _hindered() -> bool:
    try:
        return bool(hindrance())
    except OSError:
        return True  # a thread or a file went away while it was looked at
