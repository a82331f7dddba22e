"""Puts a call in front of each statement of a module's tree, and where its time ends.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast

from .numbering import numbered, sees_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from whet.agent.site.whet_probe.instrument import blocks, call, first_line, lead

    Node = Any
    Chooses = Callable[[int], bool]
else:
    from whet_probe.instrument import blocks, call, first_line, lead

_FUNCTIONS = {"FunctionDef", "AsyncFunctionDef"}
_LOOPS = {"For", "AsyncFor", "While"}
_BLOCKS_WITH_END = {*_LOOPS, "With", "AsyncWith"}
_INNER = {*_FUNCTIONS, "Lambda", "ClassDef"}
_FRAME = "@whet"


class _Marks:
    """Makes the marks of one frame: those of a function are told which frame it is."""

    def __init__(self, *, is_module: bool) -> None:
        self._is_module = is_module

    def call(self, text: str, place: Node, *value: Node) -> Node:
        frame: Node = ast.Constant(value=None, kind=None)
        if not self._is_module:
            frame = ast.Name(id=_FRAME, ctx=ast.Load())
        return call(text, place, _put(frame, place), *value)

    def statement(self, text: str, statement: Node) -> Node:
        place = _Place(statement)
        return _put(ast.Expr(value=self.call(text, place)), place)

    def surround(self, node: Node) -> None:
        """Have a function, or a module, tell when it ends, however it does."""
        keep = lead(node.body)
        body = node.body[keep:]
        place = _Place(body[0])
        leaves = self.statement("leave:0", body[0])
        whole = [_put(ast.Try(body=body, handlers=[], orelse=[], finalbody=[leaves]), place)]
        if not self._is_module:
            name = _put(ast.Name(id=_FRAME, ctx=ast.Store()), place)
            enter = ast.Assign(targets=[name], value=call("enter:0", place))
            whole.insert(0, _put(enter, place))
        node.body[keep:] = whole


class Weaver:
    """Puts the marks into one module's tree."""

    def __init__(self, tree: Node, chooses: Chooses) -> None:
        """Number the statements.

        Args:
            tree: the module's.
            chooses: whether the statement that begins on a line is asked for.
        """
        self._tree = tree
        self._numbers = {
            id(each): number
            for number, each in enumerate(numbered(tree))
            if chooses(first_line(each))
        }

    def weave(self) -> None:
        """Put them in."""
        marks = _Marks(is_module=True)
        if self._weave_blocks(self._tree, None, marks):
            marks.surround(self._tree)

    def _weave_blocks(self, node: Node, loop: int | None, marks: _Marks) -> bool:
        """Weave what is in a statement; say whether anything of its own frame was."""
        is_woven = False
        for block in blocks(node):
            keep = lead(block)
            whole: list[Node] = []
            held: list[Node] = []
            statements = tuple(block)
            for place, statement in enumerate(statements):
                put, has_woven = self._weave_statement(statement, loop, marks)
                is_woven |= has_woven
                after: list[Node] = []
                following = statements[place + 1] if place + 1 < len(statements) else None
                # What nobody asks about isn't to count for what stands before it.
                if self._is_asked(statement) and following and not self._is_asked(following):
                    after.append(marks.statement("leave:0", following))
                if place < keep:
                    whole.append(statement)
                    held += [*put, *after]
                else:
                    whole += [*held, *put, statement, *after]
                    held.clear()
            block[:] = [*whole, *held]
        return is_woven

    def _is_asked(self, statement: Node) -> bool:
        return id(statement) in self._numbers

    def _weave_statement(
        self, statement: Node, loop: int | None, marks: _Marks
    ) -> tuple[list[Node], bool]:
        """Weave what is in a statement; return what goes before it, and whether anything was woven."""
        kind = type(statement).__name__
        number = self._numbers.get(id(statement))
        if kind in _FUNCTIONS:
            inner = _Marks(is_module=False)
            if not sees_variables(statement) and self._weave_blocks(statement, None, inner):
                inner.surround(statement)
            is_woven = False
        elif kind == "ClassDef":
            self._weave_blocks(statement, None, marks)  # the methods: nothing else is numbered
            is_woven = False
        else:
            around = number if kind in _LOOPS else loop
            is_woven = self._weave_blocks(statement, around, marks)
        if number is None:
            return [], is_woven
        if kind not in _INNER:
            _weave_yields(statement, number, marks)
        if kind in _BLOCKS_WITH_END:
            # What follows the body is the head's doing: the next item, the end of a `with`.
            statement.body.append(marks.statement("head:{}".format(number), statement))
        put = [marks.statement("at:{}".format(number), statement)]
        if kind == "Continue" and loop is not None:
            put.append(marks.statement("head:{}".format(loop), statement))
        return put, True


class _Place:
    """Where a statement begins, with its decorators."""

    def __init__(self, statement: Node) -> None:
        self.lineno = first_line(statement)
        self.col_offset = statement.col_offset


def _put(node: Node, place: Node) -> Node:
    node.lineno = node.end_lineno = place.lineno
    node.col_offset = node.end_col_offset = place.col_offset
    return node


def _weave_yields(statement: Node, number: int, marks: _Marks) -> None:
    """Let no time count while a generator waits for whoever takes what it yields."""
    yields = _Yields(number, marks)
    for name, value in ast.iter_fields(statement):
        if isinstance(value, ast.expr):
            setattr(statement, name, yields.visit(value))
        elif issubclass(type(value), list) and any(map(_has_values, value)):
            setattr(statement, name, [yields.visit(each) for each in value])


def _has_values(node: object) -> bool:
    return isinstance(node, (ast.expr, ast.withitem))


class _Yields(ast.NodeTransformer):
    def __init__(self, number: int, marks: _Marks) -> None:
        self._number = number
        self._marks = marks

    def visit(self, node: Node) -> Node:
        kind = type(node).__name__
        if kind in _INNER:
            return node
        node = self.generic_visit(node)
        if kind not in {"Yield", "YieldFrom"}:
            return node
        value = node.value
        if value is None:
            value = _put(ast.Constant(value=None, kind=None), node)
        node.value = self._marks.call("leave:0", node, value)
        return self._marks.call("resume:{}".format(self._number), node, node)
