"""Puts calls into a module's tree where something is asked for; no line of it moves.

Before Python 3.12 nothing in Python tells of a line but a trace function, which is called for each
call of every function. Code that is compiled with one more call where it is probed costs what
that call costs, and nothing anywhere else.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType, FrameType
    from typing import Any

    Node = Any

MARK = "whet marks here"
_frame_above: Callable[[int], FrameType] = vars(sys)["_getframe"]
_gettrace, _settrace = sys.gettrace, sys.settrace
_FUNCTIONS = {"FunctionDef", "AsyncFunctionDef"}
_INNER = {*_FUNCTIONS, "Lambda", "ClassDef"}
_LOOPS = {"For", "While", "AsyncFor"}
_GUARDED = {"Try", "TryStar", "With", "AsyncWith"}


class Mark:
    """Stands in code where something is asked for."""

    __slots__ = ("_met",)

    def __init__(self, met: Callable[[FrameType, tuple[object, ...]], None]) -> None:
        self._met = met

    def __call__(self, *value: object) -> object:
        """Tell that Python has come here; return what was handed over on the way."""
        frame: Any = _frame_above(0)
        if frame.f_code is Mark.__call__.__code__:  # it isn't, where this one can't be seen
            frame = frame.f_back
        tracer = _gettrace()
        if tracer is not None:
            _settrace(None)  # a debugger, or a measure of coverage, isn't to see what whet does
        try:
            self._met(frame, value)
        finally:
            if tracer is not None and _gettrace() is None:
                _settrace(tracer)
        return value[0] if value else None

    def __reduce__(self) -> tuple[Any, ...]:
        """Be a function that does nothing where code is pickled for another machine."""
        return eval, ("lambda *value: value[0] if value else None",)


class Wanted:
    """What is asked for in one module.

    Attributes:
        lines: the probes of each line.
        loops: the probes of each loop's rounds, by its line.
        calls: returns the probes of a function's beginning by its qualified name.
        returns: the same of its end.
        traced: whether calls of it are followed.
        lambdas: by the line on which one begins, its probes by their kind.
        raises: whether errors that come through are told of.
    """

    def __init__(self) -> None:
        self.lines: dict[int, list[int]] = {}
        self.loops: dict[int, list[int]] = {}
        self.lambdas: dict[int, dict[str, list[int]]] = {}
        self.calls: Callable[[str], list[int]] = _none
        self.returns: Callable[[str], list[int]] = _none
        self.traced: Callable[[str], list[int]] = _none
        self.raises = False


def _none(_name: str) -> list[int]:
    return []


def weave(tree: Node, wanted: Wanted) -> None:
    """Put marks into a module's tree."""
    if wanted.lambdas:
        _weave_lambdas(tree, wanted.lambdas)
    if wanted.raises:
        _guard_all(tree)
    _weave_block(tree, "", wanted)


def bind(code: CodeType, made: Callable[[str], object]) -> CodeType:
    """Return code in which each mark is what ``made`` returns for its text."""
    consts: list[object] = []
    for each in code.co_consts:
        if isinstance(each, type(code)):
            consts.append(bind(each, made))
        elif type(each) is str and each.startswith(MARK + ":"):
            consts.append(made(each[len(MARK) + 1 :]))
        else:
            consts.append(each)
    return code.replace(co_consts=tuple(consts))


def call(text: str, place: Node, *arguments: Node) -> Node:
    """Return the call of a mark, as an expression that stands where ``place`` stands."""
    mark = ast.Constant(value="{}:{}".format(MARK, text), kind=None)
    # By an attribute: Python warns of a text that is called.
    attribute = ast.Attribute(value=mark, attr="__call__", ctx=ast.Load())
    made = ast.Call(func=attribute, args=list(arguments), keywords=[])
    for each in (made, attribute, mark):
        _put(each, place)
    return made


def _put(node: Node, place: Node) -> Node:
    """Let a node stand on the line on which ``place`` begins, and on no other."""
    node.lineno = node.end_lineno = place.lineno
    node.col_offset = node.end_col_offset = place.col_offset
    return node


def lead(body: Sequence[Node]) -> int:
    """Return how many statements must stay first: a docstring, and those about the future."""
    at = 0
    if body and type(body[0]).__name__ == "Expr" and isinstance(body[0].value, ast.Constant):
        at = int(isinstance(body[0].value.value, str))
    while at < len(body) and getattr(body[at], "module", None) == "__future__":
        at += 1
    return at


def first_line(statement: Node) -> int:
    """Return the line on which a statement begins, its decorators counted."""
    decorators = getattr(statement, "decorator_list", [])
    first: int = min([statement.lineno, *(each.lineno for each in decorators)])
    return first


def blocks(node: Node) -> Iterator[list[Node]]:
    """Yield the lists of statements in a statement."""
    for part in ("body", "orelse", "finalbody"):
        found = getattr(node, part, None)
        if isinstance(found, list):
            yield found
    for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield inner.body


def _weave_block(node: Node, within: str, wanted: Wanted) -> None:
    for block in blocks(node):
        for statement in tuple(block):
            # Taken out: of several statements on the line it is the first.
            numbers = wanted.lines.pop(first_line(statement), None)
            if numbers:
                told = ast.Expr(value=call("line:" + _listed(numbers), statement))
                at = max(block.index(statement), lead(block))
                block.insert(at, _put(told, statement))
            kind = type(statement).__name__
            name = within + statement.name if kind in _FUNCTIONS or kind == "ClassDef" else ""
            _weave_block(statement, name + "." if name else within, wanted)
            rounds = wanted.loops.pop(statement.lineno, None) if kind in _LOOPS else None
            if rounds:
                first = statement.body[0]
                told = ast.Expr(value=call("line:" + _listed(rounds), first))
                statement.body.insert(0, _put(told, first))
            if kind in _FUNCTIONS:
                _weave_function(statement, name, wanted)


def _weave_function(function: Node, name: str, wanted: Wanted) -> None:
    begins, ends, follows = wanted.calls(name), wanted.returns(name), wanted.traced(name)
    if not (begins or ends or follows):
        return
    keep = lead(function.body)
    first, last = function.body[min(keep, len(function.body) - 1)], function.body[-1]
    body = function.body[keep:]
    for numbers, kind in ((ends, "return"), (follows, "leave")):
        if numbers:
            text = "{}:{}".format(kind, _listed(numbers))
            marks = _ReturnMarks(text)
            body = [marks.visit(each) for each in body]
            nothing = _put(ast.Constant(value=None, kind=None), last)
            body.append(_put(ast.Expr(value=call(text, last, nothing)), last))
    if follows:
        body = [_guarded(body, "fail:" + _listed(follows), first)]
    for numbers, kind in ((follows, "enter"), (begins, "call")):
        if numbers:
            told = ast.Expr(value=call("{}:{}".format(kind, _listed(numbers)), first))
            body.insert(0, _put(told, first))
    function.body[keep:] = body


def _weave_lambdas(tree: Node, wanted: dict[int, dict[str, list[int]]]) -> None:
    for each in ast.walk(tree):
        if not isinstance(each, ast.Lambda) or each.lineno not in wanted:
            continue
        body: Node = each.body
        for kind, numbers in sorted(wanted[each.lineno].items(), reverse=True):
            text = "{}:{}".format(kind, _listed(numbers))
            if kind == "return":
                body = call(text, each.body, body)
            else:  # a mark returns nothing: what follows is worked out
                body = _put(
                    ast.BoolOp(op=ast.Or(), values=[call(text, each.body), body]), each.body
                )
        each.body = body


class _ReturnMarks(ast.NodeTransformer):
    """Hands what a function returns to a mark; not what functions inside it return."""

    def __init__(self, text: str) -> None:
        self._text = text

    def visit(self, node: Node) -> Node:
        kind = type(node).__name__
        if kind == "Return":
            value = node.value
            if value is None:
                value = _put(ast.Constant(value=None, kind=None), node)
            node.value = call(self._text, value, value)
            return node
        return node if kind in _INNER else self.generic_visit(node)


def _guard_all(tree: Node) -> None:
    """Let each error be seen on its way: out of a function, and out of what may catch it."""
    keep = lead(tree.body)
    seen = _guard_below(tree)
    if tree.body[keep:]:
        tree.body[keep:] = [_guarded(tree.body[keep:], _raised(seen), tree.body[keep])]


def _guard_below(node: Node) -> list[tuple[int, int]]:
    """Guard what is in a statement; return the lines whose errors have been told of by then."""
    seen: list[tuple[int, int]] = []
    for block in blocks(node):
        for statement in block:
            kind = type(statement).__name__
            inner = _guard_below(statement)
            if kind in _FUNCTIONS or kind in _GUARDED:
                keep = lead(statement.body) if kind in _FUNCTIONS else 0
                rest = statement.body[keep:]
                if rest:
                    span = (first_line(rest[0]), rest[-1].end_lineno)
                    statement.body[keep:] = [_guarded(rest, _raised(inner), rest[0])]
                    inner = [*inner, span] if kind in _GUARDED else []
            seen += inner if kind != "ClassDef" else []
    return seen


def _raised(seen: list[tuple[int, int]]) -> str:
    return "raised:" + ",".join("{}-{}".format(*each) for each in seen)


def _guarded(body: list[Node], text: str, place: Node) -> Node:
    told = _put(ast.Expr(value=call(text, place)), place)
    again = _put(ast.Raise(exc=None, cause=None), place)
    handler = _put(ast.ExceptHandler(type=None, name=None, body=[told, again]), place)
    return _put(ast.Try(body=body, handlers=[handler], orelse=[], finalbody=[]), place)


def _listed(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))
