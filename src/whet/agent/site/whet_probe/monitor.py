"""Looks out by `sys.monitoring` (PEP 669): Python itself tells, of the code that is asked for alone.

Every function's first call is looked at once, to find those that are meant; then Python tells of
that code no more. What is found gets events of its own.

Python 3.12 or later.
"""

from __future__ import annotations

import sys

from .hits import LAMBDA, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from .hits import Hits, Probe

_frame_above: Callable[[int], FrameType] = vars(sys)["_getframe"]
_TOOLS = (4, 3, 5)  # debuggers, coverage and profilers have numbers of their own
_NAME = "whet probe"


class _Asked:
    """What is asked for in one code object.

    Attributes:
        calls: probes of its beginning.
        returns: probes of its end.
        follows: those that its calls are followed for.
        lines: by the line on which Python comes to a statement, its last line and its probes.
    """

    __slots__ = ("calls", "follows", "inside", "lines", "returns")

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.returns: list[int] = []
        self.follows: list[int] = []
        self.lines: dict[int, tuple[int, list[int]]] = {}
        self.inside: dict[int, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self.calls or self.returns or self.follows or self.lines)


class Monitor:
    """One process's events."""

    def __init__(self, hits: Hits) -> None:
        self._hits = hits
        self._monitoring: Any = vars(sys)["monitoring"]
        self._tool = -1
        self._asked: dict[CodeType, _Asked | None] = {}
        self._files: dict[str, list[Probe]] = {}
        self._wants_code = any(each.kind != "raise" for each in hits.probes)
        self._wants_errors = any(each.kind == "raise" for each in hits.probes)
        self._follows = any(each.kind == "trace" for each in hits.probes)

    def begin(self) -> bool:
        """Ask Python for events; say whether there is room for one who does."""
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
        monitoring.register_callback(self._tool, events.PY_START, self._starts)
        monitoring.register_callback(self._tool, events.LINE, self._comes_to)
        monitoring.register_callback(self._tool, events.PY_RETURN, self._returns)
        monitoring.register_callback(self._tool, events.PY_UNWIND, self._unwinds)
        monitoring.register_callback(self._tool, events.RAISE, self._raises)
        wanted = events.PY_START if self._wants_code else 0
        wanted |= events.PY_UNWIND if self._follows else 0
        wanted |= events.RAISE if self._wants_errors else 0
        monitoring.set_events(self._tool, wanted)
        return True

    # ---- what Python tells ----

    def _starts(self, code: CodeType, _offset: int) -> object:
        asked = self._asked[code] if code in self._asked else self._look(code)
        if asked is None:
            return self._monitoring.DISABLE
        frame = _frame_above(1)
        asked.inside.pop(id(frame), None)
        if asked.calls:
            self._hits.at(asked.calls, frame)
        if asked.follows:
            self._hits.enters(asked.follows, frame)
        return None

    def _comes_to(self, code: CodeType, line: int) -> object:
        asked = self._asked.get(code)
        if asked is None or not asked.lines:
            return self._monitoring.DISABLE
        frame = _frame_above(1)
        key = id(frame)
        within = asked.inside.pop(key, None) if asked.inside else None
        if within is not None and within[0] <= line <= within[1]:
            # A statement over several lines: Python comes back to its first one.
            asked.inside[key] = within
            return None
        found = asked.lines.get(line)
        if found is not None:
            last, numbers = found
            if last > line:
                asked.inside[key] = (line, last)
            self._hits.at(numbers, frame)
        elif all(last == first for first, (last, _) in asked.lines.items()):
            return self._monitoring.DISABLE
        return None

    def _returns(self, code: CodeType, _offset: int, value: object) -> None:
        asked = self._asked.get(code)
        if asked is not None:
            frame = _frame_above(1)
            asked.inside.pop(id(frame), None)
            if asked.follows:
                self._hits.leaves(frame, value, None)
            if asked.returns:
                self._hits.at(asked.returns, frame, __return__=value)

    def _unwinds(self, code: CodeType, _offset: int, error: BaseException) -> None:
        asked = self._asked.get(code)
        if asked is not None and asked.follows:
            self._hits.leaves(_frame_above(1), None, error)

    def _raises(self, code: CodeType, _offset: int, error: BaseException) -> None:
        if not self._hits.is_own(code.co_filename):
            return
        trace = error.__traceback__
        below = None if trace is None else trace.tb_next
        while below is not None:
            if self._hits.is_own(below.tb_frame.f_code.co_filename):
                return  # it was told of there
            below = below.tb_next
        self._hits.raised(_frame_above(1), error)

    # ---- which code is meant ----

    def _look(self, code: CodeType) -> _Asked | None:
        name = code.co_filename
        if code.co_name == "<module>":
            self._loads(name)
        if name not in self._files:
            self._files[name] = self._hits.of_file(self._hits.path_of(name), "")
        asked = _Asked()
        if self._files[name]:
            for probe in self._files[name]:
                self._note(probe, code, asked)
        self._asked[code] = asked or None
        if not asked:
            return None
        events = self._monitoring.events
        wanted = events.PY_START
        wanted |= events.LINE if asked.lines else 0
        wanted |= events.PY_RETURN if asked.returns or asked.follows else 0
        self._monitoring.set_local_events(self._tool, code, wanted)
        return asked

    def _loads(self, name: str) -> None:
        """Note that a module begins to run, maybe from another file than was thought."""
        space = _frame_above(3).f_globals
        module = str(space.get("__name__", ""))
        path = self._hits.path_of(name)
        # Text that a module executes runs in its namespace, but isn't that module.
        is_module = self._hits.path_of(str(space.get("__file__"))) == path
        found = self._hits.of_file(path, module if is_module else "")
        if found:
            self._files[name] = found
            self._hits.loads(path, module, found)

    def _note(self, probe: Probe, code: CodeType, asked: _Asked) -> None:
        if probe.kind in ("line", "loop"):
            lines = [line for _, _, line in code.co_lines() if line is not None]
            inside = [each for each in lines if probe.line <= each <= probe.last]
            # Of code around it, only the `def` or the `class` statement is there.
            if inside and not _holds_below(code, probe):
                first = probe.line if probe.line in inside else inside[0]
                asked.lines.setdefault(first, (probe.last, []))[1].append(probe.number)
            return
        is_function = bool(code.co_flags & 0x01) and code.co_name[:1] != "<"
        is_lambda = code.co_name == probe.name == LAMBDA and code.co_firstlineno == probe.line
        if is_lambda or (is_function and probe.is_asked(name_of(code))):
            kinds = {"call": asked.calls, "return": asked.returns, "trace": asked.follows}
            kinds[probe.kind].append(self._hits.number(probe, name_of(code)))


def _holds_below(code: CodeType, probe: Probe) -> bool:
    """Whether the statement belongs to a function or class that is defined in this code."""
    return any(
        isinstance(each, type(code))
        and each.co_name[:1] != "<"
        and each.co_firstlineno < probe.line
        and any(line == probe.line for _, _, line in each.co_lines())
        for each in code.co_consts
    )
