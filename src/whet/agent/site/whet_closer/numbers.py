"""Where a number that is none came up first: the line after which a variable holds a NaN.

Before and after each line of the user's functions the variables that the line names are looked at.
What holds a NaN (or is infinite) afterwards, while nothing that the line names did before, was made
there. Arrays of numpy, tensors of torch and columns of pandas are known, also in lists, in
dictionaries, and as what an optimizer of torch trains.
"""

from __future__ import annotations

import re

from .arrays import INFINITE, NAN, described, spoilt
from .report_file import place, variables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from .report_file import ReportLines

_NAMES = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?")
_WRITTEN = {
    NAN: re.compile(r"\bnan\b", re.IGNORECASE),
    INFINITE: re.compile(r"\binf(?:inity)?\b", re.IGNORECASE),
}
_RETURNS = re.compile(r"\s*return\b")
_LOOPS = re.compile(r"\bfor\s+(.+?)\s+in\b")
_MOST_TOLD, _MOST_NAMES = 3, 6
_MOST_LINES = 200_000  # of one function; the rest of a long loop is like its beginning
_MOST_SECONDS = 20.0  # for looking at values
_ANYTHING = (Exception,)


class Numbers:
    """Follows the lines of the user's functions, and looks at what they change."""

    def __init__(self, told: ReportLines, seconds: float = _MOST_SECONDS) -> None:
        self._told = told
        self._count = {NAN: 0, INFINITE: 0}
        self._returned = 0  # calls of the user's functions that returned one
        self._names: dict[CodeType, dict[int, tuple[str, ...]]] = {}
        self._lines: dict[CodeType, int] = {}
        self._sources: dict[str, list[str]] = {}
        self._left_seconds = seconds
        self._clock: Callable[[], float] = vars(__import__("time"))["perf_counter"]

    def enter(self, frame: FrameType, note: Callable[..., Any]) -> Any:
        """Return what follows a function of the user's that has just been called."""
        code = frame.f_code
        names = self._names.get(code)
        if names is None:
            names = self._names[code] = self._read(code)
        if not names or self._is_over(code):
            frame.f_trace_lines = False
            return note
        # The line under way, what of its names was no number before it, and how many were seen by then.
        before: tuple[int, dict[str, str], int] | None = None
        returning = (
            before  # the last `return`: Python leaves its `with` and `try` by lines of theirs
        )

        def follow(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal before, returning
            if event == "exception":
                note(frame, event, argument)
                return follow
            started = self._clock()
            try:
                is_over = event == "return"
                made = returning if is_over and returning else before
                if made is not None:
                    self._after(frame, made, names, argument if is_over else None)
                line = frame.f_lineno
                before = None
                if event == "line" and line in names:
                    before = (line, self._spoilt(frame, names[line]), self._event_count)
                    is_returning = _RETURNS.match(self._text(code.co_filename, line))
                    returning = before if is_returning else returning
            except _ANYTHING:
                before = None  # the program is what matters
            self._left_seconds -= self._clock() - started
            self._lines[code] = self._lines.get(code, 0) + 1
            frame.f_trace_lines = not self._is_over(code)
            return follow

        return follow

    @property
    def is_done(self) -> bool:
        """Whether enough was told."""
        return self._count[NAN] >= _MOST_TOLD or self._left_seconds <= 0

    @property
    def _event_count(self) -> int:
        return sum(self._count.values()) + self._returned

    def _is_over(self, code: CodeType) -> bool:
        return self.is_done or self._lines.get(code, 0) > _MOST_LINES

    def _spoilt(self, frame: FrameType, names: tuple[str, ...]) -> dict[str, str]:
        """Return which of these hold what is no number."""
        found: dict[str, str] = {}
        for name in names:
            what = spoilt(_value(frame, name))
            if what:
                found[name] = what
        return found

    def _after(
        self,
        frame: FrameType,
        before: tuple[int, dict[str, str], int],
        names: dict[int, tuple[str, ...]],
        returned: Any,
    ) -> None:
        """Tell what the line that is over has made; what a function that it called made is told."""
        line, old, seen = before
        new = self._spoilt(frame, names[line])
        result = spoilt(returned)
        came = self._event_count > seen  # out of a function that the line has called
        if result:
            new.setdefault("", result)
            self._returned += 1
        text = self._text(frame.f_code.co_filename, line)
        given = _NAMES.findall(" ".join(_LOOPS.findall(text)))  # by what the line goes through
        given_now = {new[name] for name in given if name in new}
        for name, what in new.items():
            # An infinite number may be meant; a NaN that came of one is told.
            made = what not in old.values() and not came and what not in given_now
            met = (name in old or name in given) and not came and not sum(self._count.values())
            if (made or met) and self._count[what] < _MOST_TOLD:
                self._count[what] += 1
                value = returned if not name else _value(frame, name)
                made_of = [
                    [other, shown]
                    for other in names[line]
                    if other != name and (shown := described(_value(frame, other)))
                ]
                path, _, function = place(frame)
                self._told.tell(
                    "number",
                    what=what,
                    name=name,
                    value=described(value),
                    of=type(value).__name__,
                    made_of=made_of[:_MOST_NAMES],
                    place=[path, line, function],
                    is_met=not made,
                    is_written=bool(_WRITTEN[what].search(text)),
                )
                return

    # ---- the source ----

    def _read(self, code: CodeType) -> dict[int, tuple[str, ...]]:
        """Return the names on each line of a function that has any."""
        found: dict[int, tuple[str, ...]] = {}
        for _, _, line in code.co_lines() if hasattr(code, "co_lines") else ():
            if line is not None and line not in found:
                text = self._text(code.co_filename, line)
                names = dict.fromkeys(_NAMES.findall(text))
                roots = dict.fromkeys(name.partition(".")[0] for name in names)
                found[line] = tuple(dict.fromkeys((*names, *roots)))
        return {line: names for line, names in found.items() if names}

    def _text(self, path: str, line: int) -> str:
        if path not in self._sources:
            try:
                with open(path, "rb") as file:
                    self._sources[path] = file.read().decode("utf-8", "replace").splitlines()
            except OSError:
                self._sources[path] = []
        lines = self._sources[path]
        return lines[line - 1] if 0 < line <= len(lines) else ""


# ---- variables; no code of the program's is run to look at them ----


def _value(frame: FrameType, name: str) -> Any:
    first, _, attribute = name.partition(".")
    variables = variables_of(frame)
    value: Any = variables[first] if first in variables else frame.f_globals.get(first)
    return _attribute(value, attribute) if attribute else value


def _attribute(value: Any, name: str) -> Any:
    """Return what a plain object holds under a name, and a module of torch."""
    if type(value).__dictoffset__ == 0:
        return None
    own = getattr(value, "__dict__", None)
    if own.__class__ is not dict or own is None:
        return None
    for inner in (own, own.get("_parameters"), own.get("_buffers")):
        if inner.__class__ is dict and inner is not None and name in inner:
            return inner[name]
    return None
