"""Looks out for a place in the program that is known by its stack, to take a snapshot before it.

In the run before it was there that native code first saw what a search varies. The line is
reached before that, and an earlier time at the same place is early enough too.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from ..hiding.hidden_frames import begin_work, caller, end_work, hidden_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, FrameType, ModuleType

_MOST_TIMES = 4
_NAME = "gettrace"
_OWN = os.path.dirname(__file__) + os.sep
_settrace: Callable[[object], None] = vars(sys)["settrace"]
_monitoring: ModuleType | None = vars(sys).get("monitoring")  # PEP 669, from 3.12 on
_IDS = (5, 4, 3, 1, 0)  # 2 is for profilers


class Point:
    """A place in the program."""

    def __init__(
        self, stack: Sequence[tuple[int, str, str]], reached: Callable[[str], None]
    ) -> None:
        """Make it ready.

        Args:
            stack: line, function and file of each frame, the innermost last; empty: no place.
            reached: is called each time that it is reached, and told which it is.
        """
        self._stack = list(stack)
        self._reached = reached
        self._left = _MOST_TIMES
        self._calls_hook = self._calls
        self._original: Callable[[], object] = sys.gettrace
        self._tells_hook: Callable[[], object] = self._original
        self._monitor: _Monitor | None = None

    def begin(self) -> None:
        """Look out for it from now on."""
        # Before 3.11 a traceback would show the functions that look out.
        if not self._stack or sys.version_info < (3, 11):
            self._stack = []
            return
        if _monitoring is not None:
            _, function, file = self._stack[-1]
            self._monitor = self._monitor or _Monitor(
                _monitoring, function, file, self._line_begins
            )
            return
        if self._tells_hook is not self._original:
            _trace(self._calls_hook)  # once more: what runs inside an audit hook isn't traced
            return
        own = self._calls_hook
        original: Callable[[], object] = self._original

        def gettrace() -> object:
            found = original()
            return None if found is own else found

        self._tells_hook = gettrace
        setattr(sys, _NAME, gettrace)
        _trace(own)

    def end(self) -> None:
        """Look out no more."""
        if not self._stack:
            return
        self._stack = []
        if self._monitor is not None:
            self._monitor.end()
        if sys.gettrace is self._tells_hook:
            setattr(sys, _NAME, self._original)
        if self._original() is self._calls_hook:
            _trace(None)

    @hidden_frame
    def _calls(self, frame: FrameType, _event: str, _argument: object) -> object:
        if not self._stack:
            return None
        _, function, file = self._stack[-1]
        code = frame.f_code
        return self._lines if code.co_name == function and code.co_filename == file else None

    @hidden_frame
    def _lines(self, frame: FrameType, event: str, _argument: object) -> object:
        if event == "line":
            self._line_begins(frame, frame.f_lineno)
        if not self._stack:
            del frame.f_trace
            return None
        return self._lines

    def _line_begins(self, frame: FrameType, number: int) -> None:
        if not self._stack or number != self._stack[-1][0]:
            return
        if self._left and self._is_at(frame):
            self._left -= 1
            line, _, file = self._stack[-1]
            self._reached(f"{os.path.basename(file)}:{line}")
        if not self._left:
            self.end()

    def _is_at(self, frame: FrameType | None) -> bool:
        for line, function, file in reversed(self._stack):
            while frame is not None and frame.f_code.co_filename.startswith(_OWN):
                frame = frame.f_back
            if frame is None or (frame.f_lineno, frame.f_code.co_name, frame.f_code.co_filename) != (
                line, function, file,
            ):  # fmt: skip
                return False
            frame = frame.f_back
        return True


class _Monitor:
    """Tells of the lines of one function.

    From 3.12 on a function that traces is called with the innermost frame that can be seen, and
    what unwinds below the main script, where there is none, fails.
    """

    def __init__(
        self,
        monitoring: ModuleType,
        function: str,
        file: str,
        begins: Callable[[FrameType, int], None],
    ) -> None:
        """Begin.

        Args:
            monitoring: `sys.monitoring`.
            function: its name, which others may have.
            file: where it stands.
            begins: is called with the frame when a line begins, and with its number.
        """
        self._function, self._file, self._begins = function, file, begins
        self._codes: list[CodeType] = []
        self._monitoring = monitoring
        self._id = next((each for each in _IDS if self._monitoring.get_tool(each) is None), -1)
        if self._id >= 0:
            begin_work()  # the program monitors nothing
            self._monitoring.use_tool_id(self._id, "")
            self._monitoring.register_callback(
                self._id, self._monitoring.events.PY_START, self._starts
            )
            self._monitoring.register_callback(self._id, self._monitoring.events.LINE, self._line)
            self._monitoring.set_events(self._id, self._monitoring.events.PY_START)
            end_work()

    def end(self) -> None:
        """Tell no more."""
        if self._id < 0:
            return
        begin_work()
        self._monitoring.set_events(self._id, 0)
        for code in self._codes:
            self._monitoring.set_local_events(self._id, code, 0)
        for event in (self._monitoring.events.PY_START, self._monitoring.events.LINE):
            self._monitoring.register_callback(self._id, event, None)
        self._monitoring.free_tool_id(self._id)
        end_work()
        self._id = -1
        self._codes.clear()

    @hidden_frame
    def _starts(self, code: CodeType, _offset: int) -> object:
        if code.co_name == self._function and code.co_filename == self._file:
            self._monitoring.set_local_events(self._id, code, self._monitoring.events.LINE)
            self._codes.append(code)
        return self._monitoring.DISABLE

    @hidden_frame
    def _line(self, _code: CodeType, number: int) -> None:
        self._begins(caller(), number)


def _trace(hook: object) -> None:
    begin_work()  # the program traces nothing
    try:
        _settrace(hook)
    finally:
        end_work()


def stack_of(told: list[str]) -> list[tuple[int, str, str]]:
    """Return a stack from what whet says of it: ``line``, ``function`` and ``file`` by turns."""
    return [(int(told[at]), told[at + 1], told[at + 2]) for at in range(0, len(told), 3)]
