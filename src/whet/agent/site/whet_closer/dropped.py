"""Statements that drop what a call has returned, where that is new or tells of trouble.

Each statement that is a call and no more hands its value to a mark on the way; no line moves.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast
import os
import sys

from .dropping import DROPPED, OUTPUT, begun_with, dropping, span_of
from .report_file import is_own, place, variables_of
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from whet.agent.site.whet_probe.beside import execute, hidden_frame
    from whet.agent.site.whet_probe.instrument import Mark, bind, call
    from whet.agent.site.whet_probe.main_script import MainScript, whole

    from .report_file import ReportLines
else:
    from whet_probe.beside import execute, hidden_frame
    from whet_probe.instrument import Mark, bind, call
    from whet_probe.main_script import MainScript, whole

REWRITER = "_pytest.assertion.rewrite"
_MOST_LOOKS = 100
"""How often whet looks at what a statement drops: a long loop's later rounds resemble the first."""
_MOST_TARGETS = 3
_SHELL = "os.system"
_LIBRARIES = {"numpy", "pandas", "torch", "polars"}
_ANYTHING = (Exception,)
_NOTHING: dict[object, object] = {}


def _same() -> Callable[[object], object]:
    """Return what returns what it is given, and isn't written in Python: a loop may call it often."""
    functools: Any = __import__("_functools")
    made: Callable[[object], object] = functools.partial(_NOTHING.get, None)
    return made


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
        self.cell: _Cell | None = None


class _Cell:
    """Stands in code in the place of a mark, until that has seen enough: then of what costs nothing."""

    __slots__ = ("__call__",)

    def __init__(self, mark: Mark) -> None:
        self.__call__: Callable[[object], object] = mark.__call__

    def rest(self) -> None:
        """Look at nothing more; no audit hook hears of it."""
        self.__call__ = _same()

    def __reduce__(self) -> tuple[Any, ...]:
        """Be a function that does nothing where code is pickled for another machine."""
        return eval, ("lambda value: value",)


class Dropped:
    """Compiles the user's modules with a mark at each statement that drops a value.

    Attributes:
        guards: what is called with the namespaces of certain modules when they have been run.
    """

    def __init__(self, told: ReportLines) -> None:
        """Watch nothing yet."""
        self._told = told
        self._own: dict[str, bool] = {}
        self._command = ""
        self.guards: dict[str, Callable[[dict[str, Any]], None]] = {REWRITER: self._watch_rewriter}

    def begin(self) -> None:
        """Take over the main script; hear of each command that a shell is given."""
        sys.addaudithook(self._hear)
        script = sys.argv[0] if getattr(sys, "argv", None) else ""
        if script and os.path.isfile(script) and self._is_own(os.path.realpath(script)):
            MainScript(lambda path: self.code("__main__", path, lambda: whole(path))).begin()

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == _SHELL:
            self._command = os.fsdecode(arguments[0])

    def code(self, _name: str, path: str, read: Callable[[], bytes]) -> CodeType | None:
        """Return the code of a module of the user's; None: it is another one, or can't be compiled."""
        if not self._is_own(path):
            return None
        try:
            code: CodeType | None = self._compiled(ast.parse(read(), path), path)
        except (SyntaxError, ValueError, OSError, RecursionError):
            code = None  # Python says so in its own words
        return code

    def _is_own(self, path: str) -> bool:
        found = self._own.get(path)
        if found is None:
            found = self._own[path] = is_own(path)
        return found

    def _compiled(self, tree: Any, path: str, rewrite: Callable[[Any], None] | None = None) -> Any:
        sites: list[_Site] = []
        for node, fate in dropping(tree):
            sites.append(_Site(node.value, fate))
            node.value = call("{}".format(len(sites) - 1), node.value, node.value)
        if rewrite is not None:
            rewrite(tree)
        code: Any = compile(tree, path, "exec", dont_inherit=True)
        return bind(code, lambda text: self._mark(sites[int(text)]))

    def _mark(self, site: _Site) -> _Cell:
        site.cell = _Cell(Mark(lambda frame, value: self._met(site, frame, value[0])))
        return site.cell

    def _watch_rewriter(self, module: dict[str, Any]) -> None:
        """Run test modules with marks; what pytest keeps of them has none."""
        rewrite = module["rewrite_asserts"]

        def woven(code: CodeType, space: dict[str, Any]) -> CodeType:
            path = code.co_filename
            if not self._is_own(path):
                return code
            source = whole(path)
            config = getattr(space.get("__loader__"), "config", None)
            made: CodeType = self._compiled(
                ast.parse(source, path), path, lambda tree: rewrite(tree, source, path, config)
            )
            return made

        @hidden_frame
        def run(code: CodeType, space: dict[str, Any]) -> None:
            execute(woven(code, space), space)

        module["exec"] = run

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
