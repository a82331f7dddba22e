"""Follows on which line of the user's own code each thread is, by `sys.monitoring` (PEP 669).

Only the user's own functions send events. One that runs more lines or calls than are worth their
cost is followed less closely: first by its function alone, then as part of the line that calls it.

Standard library only, Python 3.12 or later.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock, get_ident, get_native_id
from time import time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from whet.agent.site.whet_installed import is_library
else:
    from whet_installed import is_library

_NAME = "whet positions"
_TOOLS = (3, 4, 5)  # debuggers, coverage and profilers have numbers of their own
_EVENTS = ("PY_START", "PY_RESUME", "LINE", "PY_RETURN", "PY_YIELD", "PY_UNWIND")
_MOST_LINES, _MOST_CALLS, _MOST_EVENTS = 100_000, 50_000, 3_000_000
_HERE = os.path.dirname(os.path.abspath(__file__))
_GENERATED = "torchinductor_"  # a part of the folder of what torch.compile writes


class _Function:
    """A function of the user's own.

    Attributes:
        frames: the number of each of its lines in the table of lines.
        is_followed: whether its calls are places of their own.
    """

    __slots__ = ("calls", "code", "frames", "is_followed", "lines")

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.frames: dict[int, int] = {}
        self.lines = self.calls = 0
        self.is_followed = True


class _Call:
    """A function as it was called from one place; calls that came the same way share it.

    Attributes:
        above: the place of the caller.
        places: this function's places by their lines.
    """

    __slots__ = ("above", "function", "places")

    def __init__(self, function: _Function, above: int) -> None:
        self.function = function
        self.above = above
        self.places: dict[int, int] = {}


class _Thread:
    """Where a thread was: the moments and the places, and the calls that it is in."""

    __slots__ = ("calls", "moments", "native", "now", "places")

    def __init__(self) -> None:
        from array import array

        self.native = get_native_id()
        self.moments = array("q")
        self.places = array("i")
        self.calls: list[_Call] = []
        self.now = 0


class Positions:
    """The places at which the threads of this process are, from moment to moment."""

    def __init__(self) -> None:
        self._monitoring: Any = vars(sys)["monitoring"]
        self._tool = -1
        self._threads: dict[int, _Thread] = {}
        self._functions: dict[int, _Function] = {}
        self._frames: list[list[object]] = []
        self._above = [0]  # of each place, that of the caller; 0: none
        self._frame_of = [-1]
        self._calls: dict[tuple[int, int], _Call] = {}
        self._events = 0
        self._lock = allocate_lock()  # of the three tables

    def begin(self) -> bool:
        """Follow from here on; say whether Python has room for one who does."""
        monitoring = self._monitoring
        for tool in _TOOLS:
            try:
                monitoring.use_tool_id(tool, _NAME)
            except ValueError:
                continue
            self._tool = tool
            break
        else:
            return False
        events = monitoring.events
        calls = {"PY_START": self._enters, "PY_RESUME": self._resumes, "LINE": self._comes_to}
        for event in _EVENTS:
            call: Any = calls.get(event, self._leaves)
            monitoring.register_callback(tool, getattr(events, event), call)
        self._enter_all_that_run()
        monitoring.set_events(tool, events.PY_START | events.PY_UNWIND)
        if not _FOLLOWING:
            os.register_at_fork(after_in_child=_stop_all)
            _FOLLOWING.append(None)
        _FOLLOWING[0] = self
        return True

    def end(self) -> dict[str, Any]:
        """Stop; return what was seen.

        ``frames`` are lines: path, line and function. ``places`` are lines with their callers: the
        number of the caller's place, and that of the line. Each thread has its number in the system,
        its moments in nanoseconds since 1970, and its place from each moment on; 0 is none.
        """
        self.stop()
        threads = [
            {"tid": each.native, "moments": list(each.moments), "places": list(each.places)}
            for each in self._threads.values()
            if each.moments
        ]
        places = [[above, self._frame_of[at]] for at, above in enumerate(self._above)][1:]
        return {"frames": self._frames, "places": places, "threads": threads}

    def stop(self) -> None:
        """Follow nothing any more."""
        tool, self._tool = self._tool, -1
        if tool < 0:
            return
        if _FOLLOWING[0] is self:
            _FOLLOWING[0] = None
        self._monitoring.set_events(tool, 0)
        for each in list(self._functions.values()):
            self._monitoring.set_local_events(tool, each.code, 0)
        for event in _EVENTS:
            self._monitoring.register_callback(tool, getattr(self._monitoring.events, event), None)
        self._monitoring.free_tool_id(tool)

    # ---- what Python tells ----

    def _enters(self, code: CodeType, _offset: int) -> object:
        function = self._functions.get(id(code)) or self._look(code)
        if function is None or not function.is_followed:
            return self._monitoring.DISABLE
        function.calls += 1
        if function.calls > _MOST_CALLS:
            function.is_followed = False
            self._ask(code, 0)
            return self._monitoring.DISABLE
        self._enter(self._thread(), function, code.co_firstlineno)
        return None

    def _resumes(self, code: CodeType, _offset: int) -> None:
        function = self._functions.get(id(code))
        if function is not None and function.is_followed:
            function.calls += 1
            line = code.co_firstlineno
            if function.lines <= _MOST_LINES:
                line = vars(sys)["_getframe"](1).f_lineno or line
            self._enter(self._thread(), function, line)

    def _comes_to(self, code: CodeType, line: int) -> object:
        thread = self._threads.get(get_ident())
        call = None if thread is None else _call_of(thread, code)
        if thread is None or call is None:
            return None
        function = call.function
        function.lines += 1
        if function.lines > _MOST_LINES:
            self._follow(code, closely=False)
            line = code.co_firstlineno
        self._note(thread, call.places.get(line) or self._new_place(call, line))
        return None

    def _leaves(self, code: CodeType, _offset: int, _value: object) -> None:
        if id(code) not in self._functions:
            return
        thread = self._threads.get(get_ident())
        call = None if thread is None else _call_of(thread, code)
        if thread is not None and call is not None:
            thread.calls.pop()
            self._note(thread, call.above)

    # ---- places ----

    def _enter_all_that_run(self) -> None:
        """Enter the functions that run already, such as the main module."""
        stack: list[FrameType] = []
        above: FrameType | None = vars(sys)["_getframe"](1)
        while above is not None:
            stack.append(above)
            above = above.f_back
        for frame in reversed(stack):
            function = self._look(frame.f_code)
            if function is not None:
                self._enter(self._thread(), function, frame.f_lineno)

    def _enter(self, thread: _Thread, function: _Function, line: int) -> None:
        key = (thread.now, id(function.code))
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _Call(function, thread.now)
        thread.calls.append(call)
        self._note(thread, call.places.get(line) or self._new_place(call, line))

    def _look(self, code: CodeType) -> _Function | None:
        """Find out whether a function is the user's own; follow it if it is."""
        path = code.co_filename
        if path.startswith(("<", _HERE)) or _GENERATED in path or is_library(path):
            return None
        function = self._functions[id(code)] = _Function(code)
        self._follow(code, closely=True)
        return function

    def _follow(self, code: CodeType, *, closely: bool) -> None:
        events = self._monitoring.events
        wanted = events.PY_START | events.PY_RESUME | events.PY_RETURN | events.PY_YIELD
        wanted |= events.LINE if closely else 0
        self._ask(code, wanted)

    def _ask(self, code: CodeType, events: int) -> None:
        try:
            self._monitoring.set_local_events(self._tool, code, events)
        except ValueError:
            pass  # another thread has stopped it meanwhile

    def _thread(self) -> _Thread:
        ident = get_ident()
        thread = self._threads.get(ident)
        if thread is None or thread.native != get_native_id():
            thread = self._threads[ident] = _Thread()
        return thread

    def _new_place(self, call: _Call, line: int) -> int:
        code = call.function.code
        with self._lock:
            frame = call.function.frames.get(line)
            if frame is None:
                frame = call.function.frames[line] = len(self._frames)
                self._frames.append([code.co_filename, line, code.co_qualname])
            place = call.places[line] = len(self._above)
            self._above.append(call.above)
            self._frame_of.append(frame)
        return place

    def _note(self, thread: _Thread, place: int) -> None:
        if self._tool < 0:
            return  # a thread that was on its way when another one stopped it
        thread.now = place
        thread.moments.append(time_ns())
        thread.places.append(place)
        self._events += 1
        if self._events > _MOST_EVENTS:
            self.stop()
            for each in list(self._threads.values()):  # where they are from now on isn't known
                each.moments.append(time_ns())
                each.places.append(0)


_FOLLOWING: list[Positions | None] = []
"""The one that follows now; empty: none has."""


def _stop_all() -> None:
    """Follow no process that is forked: it would go on with what its parent has."""
    if _FOLLOWING[0] is not None:
        _FOLLOWING[0].stop()


def _call_of(thread: _Thread, code: CodeType) -> _Call | None:
    """Return the innermost call of a function in a thread; calls in it have ended unseen."""
    calls = thread.calls
    if calls and calls[-1].function.code is code:
        return calls[-1]
    if not any(each.function.code is code for each in calls):
        return None
    while calls[-1].function.code is not code:
        calls.pop()
    return calls[-1]
