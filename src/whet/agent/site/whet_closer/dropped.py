"""Statements that drop what a call has returned, where that is new or tells of trouble.

Each statement that is a call and no more hands its value to a mark on the way; no line moves.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast
import os
import sys

from .dropping import DROPPED, OUTPUT, begun_with, dropping, span_of
from .report_file import place, variables_of
from .troubles import (
    absent_in,
    exit_status_of,
    futures_in,
    is_group,
    is_new,
    kind_of,
    told_of_error,
    trouble_of,
)
from .woven import Cell, Woven

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from whet.agent.site.whet_probe.instrument import Mark, call

    from .report_file import ReportLines
else:
    from whet_probe.instrument import Mark, call

_MOST_LOOKS = 100
"""How often whet looks at what a statement drops: a long loop's later rounds resemble the first."""
_MOST_TARGETS = 3
_SHELL = "os.system"
_LIBRARIES = {"numpy", "pandas", "torch", "polars"}
_ANYTHING = (Exception,)


class _Site:
    """A call whose value is dropped, or of which only the output is used.

    Attributes:
        fate: what becomes of the value, see `dropping.py`.
        left: how often whet looks at it yet.
        kinds: what was told of it.
    """

    def __init__(self, value: Any, fate: int) -> None:
        self.call: Any = vars(value)["value"] if isinstance(value, ast.Await) else value
        self.fate = fate
        self.line: int = value.lineno
        self.span = span_of(value)
        function: Any = self.call.func
        self.receiver = function.value if isinstance(function, ast.Attribute) else None
        self.name: str = getattr(function, "attr", getattr(function, "id", ""))
        self.left = _MOST_LOOKS
        self.kinds: set[str] = set()
        self.cell: Cell | None = None


class Dropped(Woven):
    """Compiles the user's modules with a mark at each statement that drops a value."""

    def __init__(self, told: ReportLines) -> None:
        """Watch nothing yet."""
        super().__init__()
        self._told = told
        self._command = ""

    def begin(self) -> None:
        """Take over the main script; hear of each command that a shell is given."""
        sys.addaudithook(lambda name, given: self._hear(given) if name == _SHELL else None)
        super().begin()

    def _hear(self, arguments: tuple[Any, ...]) -> None:
        self._command = os.fsdecode(arguments[0])

    def weave(self, tree: Any) -> Callable[[str], object]:
        """Let each statement that drops a value hand it to a mark on the way."""
        sites: list[_Site] = []
        for node, fate in dropping(tree):
            sites.append(_Site(node.value, fate))
            node.value = call("{}".format(len(sites) - 1), node.value, node.value)
        return lambda text: self._mark(sites[int(text)])

    def _mark(self, site: _Site) -> Cell:
        site.cell = Cell(Mark(lambda frame, value: self._met(site, frame, value[0])).__call__)
        return site.cell

    # ---- what is dropped ----

    def _met(self, site: _Site, frame: FrameType, value: object) -> None:
        site.left -= 1
        if site.left <= 0 and site.cell is not None:
            site.cell.rest()
        if site.left < 0:
            return
        try:
            self._look(site, frame, value)
        except _ANYTHING:
            return  # the program is what matters

    def _look(self, site: _Site, frame: FrameType, value: Any) -> None:
        owner = None if site.receiver is None else _held(site.receiver, frame)
        status = exit_status_of(owner, site.name)
        if site.fate == OUTPUT:
            if type(value).__name__ == "CompletedProcess":
                self._tell_of(site, frame, trouble_of(value, owner, [], site.name))
            return
        if status:
            absent = absent_in(getattr(owner, "args", ""))
            self._tell(site, frame, "status", status=status, said="", absent=absent)
        if value is None:
            return
        at = place(frame)
        for future in () if is_group(owner) else futures_in(value):
            future.watch(
                lambda error: self._tell(site, at, "errors", count=1, of=1, **told_of_error(error))
            )
        given = [_held(each, frame) for each in site.call.args]
        given = [self._command] if site.name == "system" else given
        self._tell_of(site, frame, trouble_of(value, owner, given, site.name))
        if "new" in site.kinds or site.fate != DROPPED:
            return
        is_method = site.receiver is not None and type(owner) is not type(sys)
        made_of = [*begun_with(site.receiver), *site.call.args[:_MOST_TARGETS]]
        targets = [
            span_of(each)
            for each in made_of
            if is_new(value, _held(each, frame), is_method=is_method and each is site.receiver)
        ]
        if targets:
            self._tell(site, frame, "new", targets=targets, type=type(value).__name__)

    def _tell_of(self, site: _Site, frame: FrameType, facts: dict[str, Any] | None) -> None:
        if facts is not None:
            self._tell(site, frame, facts.pop("is"), **facts)

    def _tell(self, site: _Site, at: Any, kind: str, **facts: Any) -> None:
        if kind in site.kinds:
            return
        site.kinds.add(kind)
        where: list[Any] = place(at) if hasattr(at, "f_code") else at
        self._told.tell(
            "dropped",
            place=[where[0], site.line, where[2]],
            span=site.span,
            trouble=kind,
            **facts,
        )


def _held(node: Any, frame: FrameType) -> Any:
    """Return what an expression holds if that can be seen without running code; None: it can't."""
    if isinstance(node, ast.Name):
        variables = variables_of(frame)
        return variables[node.id] if node.id in variables else frame.f_globals.get(node.id)
    holder = _held(node.value, frame) if isinstance(node, (ast.Attribute, ast.Subscript)) else None
    try:
        if holder is None:
            return None
        if isinstance(node, ast.Attribute):
            return object.__getattribute__(holder, "__dict__").get(node.attr)
        return _item(node, holder, frame)
    except _ANYTHING:  # it has no such attribute, or no such item
        return None


def _item(node: Any, holder: Any, frame: FrameType) -> Any:
    """Return an item of what runs no code of the program's for it."""
    kind = kind_of(holder)
    if kind not in (dict, list, tuple) and kind.__module__.partition(".")[0] not in _LIBRARIES:
        return None
    key = node.slice
    key = key.value if type(key).__name__ == "Index" else key  # before Python 3.9
    wanted = key.value if isinstance(key, ast.Constant) else _held(key, frame)
    return None if wanted is None else holder[wanted]
