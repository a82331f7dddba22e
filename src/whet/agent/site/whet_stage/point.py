"""Looks out for a place in the program that is known by its stack, to take a snapshot before it.

In the run before it was there that native code first saw what a search varies. The line is
reached before that, and an earlier time at the same place is early enough too.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from .unseen import begin_work, end_work, unseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

_MOST_TIMES = 4
_NAME = "gettrace"
_OWN = os.path.dirname(__file__) + os.sep
_settrace: Callable[[object], None] = vars(sys)["settrace"]


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

    def begin(self) -> None:
        """Look out for it from now on."""
        # Before 3.11 a traceback would show the functions that look out.
        if not self._stack or sys.version_info < (3, 11):
            self._stack = []
            return
        if self._tells_hook is not self._original:
            _trace(self._calls_hook)  # once more: what runs inside an audit hook is not traced
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
        if sys.gettrace is self._tells_hook:
            setattr(sys, _NAME, self._original)
        if self._original() is self._calls_hook:
            _trace(None)

    @unseen
    def _calls(self, frame: FrameType, _event: str, _argument: object) -> object:
        if not self._stack:
            return None
        _, function, file = self._stack[-1]
        code = frame.f_code
        return self._lines if code.co_name == function and code.co_filename == file else None

    @unseen
    def _lines(self, frame: FrameType, event: str, _argument: object) -> object:
        if event == "line" and self._stack and frame.f_lineno == self._stack[-1][0]:
            if self._left and self._is_at(frame):
                self._left -= 1
                line, _, file = self._stack[-1]
                self._reached(f"{os.path.basename(file)}:{line}")
            if not self._left:
                self.end()
        if not self._stack:
            del frame.f_trace
            return None
        return self._lines

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


def _trace(hook: object) -> None:
    begin_work()  # the program traces nothing
    try:
        _settrace(hook)
    finally:
        end_work()


def stack_of(told: list[str]) -> list[tuple[int, str, str]]:
    """Return a stack from what whet says of it: ``line``, ``function`` and ``file`` by turns."""
    return [(int(told[at]), told[at + 1], told[at + 2]) for at in range(0, len(told), 3)]
