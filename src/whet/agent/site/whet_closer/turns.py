"""Lets other threads come between the lines of one function, or keeps them out of it.

``between:FILE:LINE`` has some calls of the function that begins there wait between two of its lines, one
at a time and long: of threads that all wait, none gets past another. ``alone:FILE:LINE``
waits as well, and lets one thread at a time into the function.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

_PAUSE_SECONDS, _MOST_PAUSES = 0.05, 8
_TURN_SECONDS = 1.0
_BETWEEN, _ALONE = "between:", "alone:"
_STOPPING = 0x20 | 0x80 | 0x200  # generators and coroutines: what runs between isn't another call


class Turns:
    """An experiment on the calls of one function; `is_on` unless none is asked for."""

    def __init__(self, asked: str) -> None:
        kind, _, place = asked.partition(":")
        path, _, number = place.rpartition(":")
        self.is_on = kind + ":" in (_BETWEEN, _ALONE) and number.isdigit()
        self._path = path
        self._first_line = int(number) if self.is_on else 0
        self._is_alone = kind + ":" == _ALONE
        self._calls, self._pauses, self._next, self._is_waiting = 0, 0, 1, False
        self._turn: Any = __import__("_thread").RLock()

    def enter(self, frame: FrameType, note: Callable[..., Any]) -> Any:
        """Return what follows a function of the user's that has just been called."""
        code = frame.f_code
        if code.co_firstlineno != self._first_line or code.co_filename != self._path:
            frame.f_trace_lines = False
            return note
        if not may_be_come_between(code):
            return note
        has_turn = self._is_alone and self._turn.acquire(timeout=_TURN_SECONDS)
        left = self._lines_until_pause(code)
        frame.f_trace_lines = left > 0

        def follow(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal has_turn, left
            if event == "line":
                left -= 1
                if left == 0:
                    vars(__import__("time"))["sleep"](_PAUSE_SECONDS)
                    self._is_waiting = frame.f_trace_lines = False
            elif event == "return":
                if left > 0:  # it came to fewer lines
                    self._is_waiting, left = False, 0
                if has_turn:
                    has_turn = False
                    self._turn.release()
            return follow

        return follow

    def _lines_until_pause(self, code: CodeType) -> int:
        """Return before which of the lines that a call runs it waits; 0: it doesn't."""
        self._calls += 1
        if self._is_waiting or self._calls < self._next or self._pauses >= _MOST_PAUSES:
            return 0
        self._is_waiting = True
        self._pauses += 1
        self._next += 1 + self._pauses
        return 2 + self._pauses % max(len(lines_of(code)) - 1, 1)


def may_be_come_between(code: CodeType) -> bool:
    """Whether a function has two lines, and runs them in one call."""
    return not code.co_flags & _STOPPING and len(lines_of(code)) > 1


def lines_of(code: CodeType) -> set[int]:
    """Return the lines of a function's body."""
    lines = getattr(code, "co_lines", None)
    numbers = set() if lines is None else {number for _, _, number in lines()}
    return numbers - {code.co_firstlineno, None}
