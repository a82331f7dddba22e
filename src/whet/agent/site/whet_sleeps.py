"""Random sleeps where a race is likely: before a store to what is shared, and before a call.

A trace function sees each operation of the user's own functions. Since Python 3.10 threads
switch at calls and at the ends of loops only, so that ``count += 1`` seems safe there, and isn't:
this lets them switch between its load and its store. Sleeps have a length of their own each time,
from microseconds to some hundredths of a second, as races do; there are many where a place is
new and few where it comes often. A process sleeps for two seconds in all at most, and is
traced no more after that.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

if TYPE_CHECKING or __name__.startswith("whet."):
    from whet.agent.site.whet_installed import is_library
else:
    from whet_installed import is_library

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STORES = (
    "STORE_ATTR", "STORE_GLOBAL", "STORE_SUBSCR", "STORE_DEREF", "STORE_SLICE",
    "DELETE_ATTR", "DELETE_GLOBAL", "DELETE_SUBSCR",
)  # fmt: skip
_CALLS = (
    "CALL", "CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_METHOD", "CALL_FUNCTION_EX", "CALL_KW",
)  # fmt: skip
_MOST_SECONDS = 2.0
_MOST_EVENTS = 400_000
_SHORTEST, _SPAN = 2e-5, 1000.0  # seconds, and how many times as long the longest is
_OFTEN = 0.5
_FREE = 8  # times that a place sleeps at that rate; then more and more rarely
_WORD_BYTES = 2


class Sleeps:
    """Sleeps of one process and of those that are forked from it."""

    def __init__(self, tell: Callable[[str], None], places: str) -> None:
        """Prepare.

        Args:
            tell: is told each place, once.
            places: the only ones at which it sleeps, one in a line; empty: anywhere.
        """
        self._tell = tell
        self._only = {each for each in places.split("\n") if each}
        self._sleep = time.sleep
        self._points: dict[CodeType, dict[int, str]] = {}
        self._visits: dict[str, int] = {}
        self._first_threads: dict[CodeType, int] = {}
        self._own_thread: Callable[[], int] = __import__("_thread").get_ident
        self._left_seconds = _MOST_SECONDS
        self._left_events = _MOST_EVENTS
        self._pid = 0
        self._random: Any = None
        opcodes = __import__("opcode").opmap
        self._wanted = frozenset(opcodes[name] for name in _STORES + _CALLS if name in opcodes)

    def begin(self) -> None:
        """Sleep from now on, in this thread and in those that are started."""
        # Python 3.12 asks for this before it begins to trace: later it is too late for operations.
        vars(sys)["_getframe"]().f_trace_opcodes = True
        sys.settrace(self._enter)
        threading = sys.modules.get("threading") or __import__("threading")
        threading.settrace(self._enter)

    def _enter(self, frame: FrameType, _event: str, _argument: object) -> Any:
        code = frame.f_code
        points = self._points.get(code)
        if points is None:
            points = self._points[code] = self._points_of(code)
        if not points:
            return None
        thread = self._own_thread()
        if self._first_threads.setdefault(code, thread) != thread:
            self._tell("shared:" + _whole(code))
        if self._left_seconds <= 0 or self._left_events <= 0:
            sys.settrace(None)
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._step

    def _step(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "opcode":
            self._left_events -= 1
            place = self._points[frame.f_code].get(frame.f_lasti)
            if place is not None:
                self._maybe_sleep(place)
            if self._left_seconds <= 0 or self._left_events <= 0:
                frame.f_trace_opcodes = False
                return None
        return self._step

    def _maybe_sleep(self, place: str) -> None:
        if self._pid != os.getpid():  # forked: it must not do what its parent does
            # In this order: another thread may come by between the two.
            self._random = __import__("_random").Random(time.time_ns() ^ (os.getpid() << 20))
            self._pid = os.getpid()
        visits = self._visits.get(place, 0)
        self._visits[place] = visits + 1
        if self._random.random() >= _OFTEN * min(1.0, _FREE / (visits + 1)):
            return
        self._tell("inside:sleeps")
        self._tell("slept:" + place)
        seconds = _SHORTEST * _SPAN ** self._random.random()
        self._left_seconds -= seconds
        self._sleep(seconds)

    def _points_of(self, code: CodeType) -> dict[int, str]:
        """Return where in a function to sleep: the offset of an operation, and its place."""
        path = code.co_filename
        if path.startswith(("<", _HERE)) or is_library(path):
            return {}
        path, whole = _path(code), _whole(code)
        lines = _lines(code)
        points: dict[int, str] = {}
        for offset in range(0, len(code.co_code), _WORD_BYTES):
            if code.co_code[offset] in self._wanted:
                place = "{}:{}".format(path, lines.get(offset, code.co_firstlineno))
                if not self._only or place in self._only or whole in self._only:
                    points[offset] = place
        return points


def _path(code: CodeType) -> str:
    path = os.path.abspath(code.co_filename)
    return path.encode("ascii", "backslashreplace").decode("ascii")


def _whole(code: CodeType) -> str:
    """Return the name under which a function is told."""
    return "{}:{}".format(_path(code), code.co_name)


def _lines(code: CodeType) -> dict[int, int]:
    """Return the line of each operation by its offset."""
    found: dict[int, int] = {}
    if hasattr(code, "co_lines"):
        for start, end, line in code.co_lines():
            if line is not None:
                found.update(dict.fromkeys(range(start, end, _WORD_BYTES), line))
        return found
    starts: dict[int, int] = dict(__import__("dis").findlinestarts(code))
    line = code.co_firstlineno
    for offset in range(0, len(code.co_code), _WORD_BYTES):
        line = starts.get(offset, line)
        found[offset] = line
    return found
