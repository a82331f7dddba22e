"""When a variable first holds a NaN: whet looks at all variables from time to time.

That costs little, so it covers a long run whole, once the beginning has been followed line by line. A
second run is then followed from the last look that found no NaN. Both runs count the same: calls of the
user's functions, and the lines of functions that are called once or twice, such as a training loop.
"""

from __future__ import annotations

import sys

from .arrays import NAN, spoilt
from .numbers import Numbers
from .report_file import place, stack_of, variables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from .report_file import ReportLines

SPARSE, FROM = "numbers:sparse", "numbers:from="
_FEW_CALLS = 2
_FIRST_SECONDS = 3.0
"""How long whet looks at values while it follows each line at the beginning."""
_TIMES, _PART = 20.0, 50.0
"""A look waits for this many times what it takes, and for this part of the time so far."""
_MOST_FRAMES, _MOST_HELD = 20, 60
_ANYTHING = (Exception,)


class Count:
    """Counts what the user's functions do, and does something when a number is reached."""

    def __init__(self) -> None:
        self.moment = 0
        self.until = 1
        self._calls: dict[CodeType, int] = {}

    def enter(self, frame: FrameType, _note: Callable[..., Any]) -> Any:
        """Count a call; return what follows the function."""
        calls = self._calls[frame.f_code] = self._calls.get(frame.f_code, 0) + 1
        self.moment += 1
        if self.moment >= self.until:
            self.reached(frame)
        return self.line if calls <= _FEW_CALLS else None

    def line(self, frame: FrameType, event: str, _argument: Any) -> Any:
        """Count a line."""
        if event == "line":
            self.moment += 1
            if self.moment >= self.until:
                self.reached(frame)
        return self.line

    def reached(self, frame: FrameType) -> None:
        """Do what is to be done now, and set the next number."""
        raise NotImplementedError


class Sparse(Count):
    """Follows each line for a while, then looks at all variables from time to time, until one holds a NaN."""

    def __init__(self, told: ReportLines, is_own: Callable[[str], bool]) -> None:
        super().__init__()
        self._told = told
        self._is_own = is_own
        self._numbers = Numbers(told, _FIRST_SECONDS)
        self._clean = 0
        times: Any = __import__("time")
        self._clock: Callable[[], float] = times.perf_counter
        self._began = self._clock()

    def enter(self, frame: FrameType, note: Callable[..., Any]) -> Any:
        """Count a call, and at first follow the function."""
        counted = super().enter(frame, note)
        if self._numbers.is_done:
            return counted
        followed = self._numbers.enter(frame, note)

        def both(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal followed
            if counted is not None:
                counted(frame, event, argument)
            if followed is not None:
                followed = followed(frame, event, argument)
            if not self._numbers.is_done:
                return both
            frame.f_trace_lines = True
            return counted

        return both

    def reached(self, frame: FrameType) -> None:
        """Look; the next look comes after a while."""
        started = self._clock()
        try:
            found = self._found(frame)
        except _ANYTHING:
            found = None  # the program is what matters
        if found is not None:
            at, name = found
            self._told.tell(
                "spoilt", clean=self._clean, found=self.moment, name=name, place=place(at)
            )
            self.until = 1 << 60
            sys.settrace(None)
            return
        self._clean = self.moment
        now = self._clock()
        pause = max(_TIMES * (now - started), (now - self._began) / _PART)
        rate = self.moment / max(now - self._began, 1e-6)
        self.until = self.moment + max(1, int(rate * pause))

    def _found(self, frame: FrameType) -> tuple[FrameType, str] | None:
        """Return a function under way, and a variable of it that holds a NaN."""
        for number, each in enumerate(stack_of(frame)):
            if number > _MOST_FRAMES:
                break
            if not self._is_own(each.f_code.co_filename):
                continue
            for name, value in list(variables_of(each).items())[:_MOST_HELD]:
                if any(spoilt(held) == NAN for held in _held(value)):
                    return each, name
        return None


class From(Count):
    """Follows each line from a number on."""

    def __init__(self, numbers: Numbers, until: int, is_own: Callable[[str], bool]) -> None:
        super().__init__()
        self.until = until
        self._numbers = numbers
        self._is_own = is_own
        self._is_begun = False
        self._note: Any = None

    def enter(self, frame: FrameType, note: Callable[..., Any]) -> Any:
        """Count a call, or follow the function."""
        if self._is_begun:
            if self._numbers.is_done:
                sys.settrace(None)
            return self._numbers.enter(frame, note)
        self._note = note
        followed = super().enter(frame, note)
        return self._numbers.enter(frame, note) if self._is_begun else followed

    def reached(self, frame: FrameType) -> None:
        """Follow all functions under way from here."""
        self._is_begun, self.until = True, 1 << 60
        for each in stack_of(frame):
            if self._is_own(each.f_code.co_filename):
                each.f_trace = self._numbers.enter(each, self._note)

    def line(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Count a line, or follow it."""
        super().line(frame, event, argument)
        return frame.f_trace if self._is_begun else self.line


def _held(value: Any) -> list[Any]:
    """Return a value, what its attributes are, and the weights of a model."""
    found = [value]
    own = getattr(value, "__dict__", None) if type(value).__dictoffset__ else None
    if own.__class__ is dict and own is not None and value.__class__.__module__ != "builtins":
        found += list(own.values())[:_MOST_HELD]
        for inner in (own.get("_parameters"), own.get("_buffers")):
            if inner.__class__ is dict and inner is not None:
                found += list(inner.values())
        parts = own.get("_modules")
        if parts.__class__ is dict and parts is not None:
            for part in list(parts.values())[:_MOST_HELD]:
                found += _held(part)
    return found
