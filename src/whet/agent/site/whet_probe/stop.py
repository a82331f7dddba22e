"""Holds a program up where a probe was met: for a while, or in a debugger.

pdb opens in the terminal if there is one and this process has it for itself. Otherwise it waits at
a socket in whet's own folder, which nobody but this user may enter; `whet probe --attach` leads there.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import select
import sys
import time

from .beside import open_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .report import Report

_STDIN, _STDOUT = 0, 1
_SOCKET = ".pdb"
_LEAST_RANKS = 2
_lines: dict[int, Any] = {}


def hold(seconds: float, head: str, report: Report) -> None:
    """Wait this long, or until the user presses Enter in the terminal."""
    pid = os.getpid()
    end = "" if not has_terminal() else "; press Enter to continue at once"
    words = "{0}: waits {1:g} s in process {2}{3}; watch it:  whet watch memory:{2}"
    report.say(words.format(head, seconds, pid, end))
    ends = time.monotonic() + seconds
    if not end:
        time.sleep(seconds)
        return
    while True:
        left = ends - time.monotonic()
        if left <= 0:
            return
        if select.select([_STDIN], [], [], left)[0]:
            os.read(_STDIN, 4096)
            return


def has_terminal() -> bool:
    """Whether keys that the user presses come to this process and to no other of the program."""
    try:
        is_ours = os.isatty(_STDIN) and os.tcgetpgrp(_STDIN) == os.getpgrp()
    except OSError:
        return False
    started = sys.modules.get("multiprocessing.process")
    is_child = started is not None and vars(started)["parent_process"]() is not None
    ranks = os.environ.get("WORLD_SIZE", "1")
    return is_ours and not is_child and not (ranks.isdigit() and int(ranks) >= _LEAST_RANKS)


def break_in(frame: FrameType, head: str, report: Report) -> None:
    """Open pdb in a frame; return when the program is to continue."""
    if has_terminal():
        open_in(frame)
        return
    pid = os.getpid()
    line = _lines.get(pid)
    if line is None:
        line = _lines[pid] = _wait_for_somebody(head, report)
    if line is not False:
        open_in(frame, line)


def _wait_for_somebody(head: str, report: Report) -> Any:
    """Listen until somebody attaches; return the line, False if that can't be."""
    import _socket

    pid = os.getpid()
    path = report.path(_SOCKET)
    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        listener.bind(path)
        listener.listen(1)
        report.say("{}: pdb waits:  whet probe --attach {}".format(head, pid))
        descriptor, _ = vars(_socket.socket)["_accept"](listener)
    except OSError as error:
        report.say("{}: no debugger: {}".format(head, error.strerror))
        return False
    finally:
        listener.close()
        try:
            os.unlink(path)
        except OSError:
            pass
    return Line(descriptor)


class Line:
    """What pdb reads from and writes to."""

    encoding = "utf-8"

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting = b""
        self.is_over = False

    def readline(self) -> str:
        """Return the next line; empty: nobody is there any more."""
        while b"\n" not in self._waiting:
            try:
                more = os.read(self._descriptor, 4096)
            except OSError:
                more = b""
            if not more:
                self.is_over = True
                return ""
            self._waiting += more
        line, _, self._waiting = self._waiting.partition(b"\n")
        return line.decode("utf-8", "replace") + "\n"

    def write(self, text: str) -> int:
        """Write, if anybody is there."""
        data = text.encode("utf-8", "backslashreplace")
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            self.is_over = True
        return len(text)

    def flush(self) -> None:
        """Do nothing: nothing is kept back."""
