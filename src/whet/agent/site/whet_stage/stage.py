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

from . import BEFORE
from .descriptors import CUDA, offsets, reopen
from .exit import OWN_FILES, run_and_exit
from .freeze import fork_away, receive, send, take_streams
from .hygiene import begin, hindrance
from .private import invalidate_caches
from .process import is_leader
from .script import Script
from .sight import Sight

_SLOW_SECONDS = 0.05
"""A stretch of the program that takes longer is worth a snapshot at its end."""


def install(address: str) -> None:
    """Take over the main script of this process.

    Args:
        address: the socket at which whet waits for snapshots.
    """
    if not is_leader():
        return  # whet waits for the process that it started, and could not go on with this one
    begin()
    stage = _Stage(address)
    stage.sight.observe()
    sys.addaudithook(stage.sight.hear)
    OWN_FILES.update(_forget_modules())


def _forget_modules() -> list[str]:
    """Leave no name where the program could find it; return the files of this package.

    The program may have an `enum.py` of its own: it must find that one, not whet's.
    """
    package = __name__.partition(".")[0]
    forgotten = {name: sys.modules.pop(name) for name in sys.modules.keys() - BEFORE}
    forgotten[package] = sys.modules.pop(package)
    return [
        str(module.__file__)
        for name, module in forgotten.items()
        if name.partition(".")[0] == package
    ]


class _Stage:
    """The program, and the snapshots it has taken."""

    def __init__(self, address: str) -> None:
        self.sight = Sight(before_read=self._before_read, run_script=self._run_script)
        self._script = Script(reached=self._reached)
        self._address = address
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
        if now - self._since < _SLOW_SECONDS or self.sight.ended_by or self.sight.is_closed:
            return
        if os.getpid() != self._pid:
            self.sight.ended_by = "a forked process"
            return
        self.sight.is_closed = True
        try:
            # Most hindrances go away: a pool is closed, a child is waited for.
            why = hindrance()
            if not why:
                self._take(kind, place, now - self._began)
            elif why == CUDA:  # not this one; it takes long, so that the statement is known
                last = int(place) - 1 if kind == "statement" else 0
                self.sight.ended_by = f"{why} since {self._script.line_of(max(last, 0))}"
        finally:
            self.sight.is_closed = False
            self._since = time.perf_counter()

    def _take(self, kind: str, place: str, seconds: float) -> None:
        """Fork a copy that waits; return here, and in each copy that is resumed from it."""
        of = offsets()
        waiting, woken = os.pipe()
        try:
            is_original = bool(fork_away())
        except OSError:  # no memory, or too many processes: then there is no snapshot
            is_original = True
        if is_original:
            os.close(woken)
            os.read(waiting, 1)
            os.close(waiting)
            return
        os.close(waiting)
        source = self._wait(woken, kind, place, seconds)
        # From here on this is the process of a resumed run.
        self._pid = os.getpid()
        reopen(of)
        self.sight.forget()
        self._began = time.perf_counter() - seconds
        invalidate_caches()
        if source:
            self.sight.lines.forget_text()
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
        # A frozen process must not keep the streams of a run that has ended.
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)
        while True:
            order, streams = receive(line)
            if not order:
                os._exit(0)
            wish: tuple[bytes, int] = marshal.loads(order)
            source, terminal = wish
            if not streams:  # a question
                fits = (
                    kind == "statement"
                    and self._script.has_same_past(source, int(place))
                    and self.sight.lines.are_same(self._script.source, source)
                )
                send(line, int(fits))
                continue
            try:
                pid = fork_away()
            except OSError:
                os._exit(0)  # whet starts anew, or from another one
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
            run_and_exit(self._script.run, self._begin)
        self.sight.is_closed = False  # Python says it in its own words

    def _begin(self) -> None:
        self.sight.is_closed = False
        self._since = time.perf_counter()
