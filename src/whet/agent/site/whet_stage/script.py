"""Runs the main script so that it can be left and gone on with between two statements.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import ast
import os
import sys
from _frozen_importlib_external import SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import cast
else:

    def cast(_kind: str, value: object) -> object:  # noqa: D103 - as of `typing`, which is slow
        return value


_POINT = "\0whet: a statement has ended"
_FUTURE_FLAGS = 0x1FF0000  # compile(): all that `from __future__ import` can set


class Resumed(BaseException):
    """The rest of the main script is another one now."""

    def __init__(self, tree: ast.Module, at: int) -> None:
        super().__init__()
        self.tree = tree
        self.at = at


class Script:
    """The main script: what it says, how far it has been run.

    Attributes:
        path: its file; empty until it runs.
        source: what it says.
    """

    def __init__(self, reached: Callable[[int], None]) -> None:
        self.path = ""
        self.source = b""
        self._reached = reached
        self._tree = ast.Module([], [])
        self._flags = 0
        self._constants: dict[object, object] = {}

    def line_of(self, statement: int) -> str:
        """Return file and line of a statement, to be shown."""
        body = self._tree.body
        line = body[statement].lineno if statement < len(body) else 0
        return f"{os.path.basename(self.path)}:{line}"

    def has_same_past(self, source: bytes, statement: int) -> bool:
        """Whether the main script is what it was as far as it has been run."""
        try:
            tree = ast.parse(source, self.path)
        except (SyntaxError, ValueError):
            return False
        if len(tree.body) <= statement:
            return False
        return all(
            ast.dump(now, include_attributes=True) == ast.dump(then, include_attributes=True)
            for now, then in zip(tree.body[:statement], self._tree.body[:statement])  # noqa: B905 - 3.9
        )

    def read(self) -> bool:
        """Read the file; say whether it can be."""
        try:
            with open(self.path, "rb") as file:
                self.source = file.read()
        except OSError:
            return False
        return True

    def run(self, begins: Callable[[], None]) -> None:
        """Run the script in `__main__`, as Python does, statement by statement."""
        module = sys.modules["__main__"].__dict__
        module["__file__"] = self.path
        module["__cached__"] = None
        module["__loader__"] = SourceFileLoader("__main__", self.path)
        tree, at = ast.parse(self.source, self.path), 0
        while True:
            self._tree = tree
            code = self._compiled(tree, at)
            try:
                begins()
                exec(code, module)  # noqa: S102 - that is what a script is for
            except Resumed as resumed:
                tree, at = resumed.tree, resumed.at
            else:
                return

    def rest(self, source: bytes, statement: int) -> Resumed:
        """Return what to raise to go on at a statement of another text."""
        self.source = source
        return Resumed(ast.parse(source, self.path), statement)

    def _compiled(self, tree: ast.Module, at: int) -> CodeType:
        """Return the code of the script from statement ``at`` on, with points between them."""
        body: list[ast.stmt] = []
        for index, statement in enumerate(tree.body[at:], at):
            is_first_of_rest = index == at and at > 0
            if is_first_of_rest and _is_text(statement):
                body.append(ast.copy_location(ast.Pass(), statement))  # no docstring of the rest
            body.append(statement)
            if index + 1 < len(tree.body) and not _must_lead(tree.body, index + 1):
                body.append(_point(index + 1, tree.body[index + 1]))
        rest = ast.Module(body, tree.type_ignores)
        code: CodeType = compile(rest, self.path, "exec", self._flags, dont_inherit=True)
        self._flags |= code.co_flags & _FUTURE_FLAGS
        return self._sharing(code)

    def _sharing(self, code: CodeType) -> CodeType:
        """Return code that has the constants of before: `is` compares them across statements."""
        constants: list[object] = []
        for constant in code.co_consts:
            if isinstance(constant, type(code)):
                constants.append(self._sharing(constant))
            elif constant == _POINT:
                constants.append(self._reached)
            else:
                constants.append(self._constants.setdefault(_identity(constant), constant))
        return code.replace(co_consts=tuple(constants))


def _identity(constant: object) -> object:
    """Return what two constants of one compilation must share to be one object."""
    if isinstance(constant, tuple):
        return "tuple", tuple(map(_identity, cast("tuple[object, ...]", constant)))
    if isinstance(constant, frozenset):
        return "frozenset", tuple(sorted(map(repr, cast("frozenset[object]", constant))))
    return type(constant), repr(constant)


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _must_lead(body: list[ast.stmt], index: int) -> bool:
    """Whether nothing may stand before a statement: `from __future__`, after a docstring."""
    return any(
        isinstance(each, ast.ImportFrom) and each.module == "__future__" for each in body[index:]
    )


def _point(index: int, before: ast.stmt) -> ast.stmt:
    place = {
        "lineno": before.lineno, "col_offset": before.col_offset,
        "end_lineno": before.lineno, "end_col_offset": before.col_offset,
    }  # fmt: skip
    function = ast.Attribute(ast.Constant(_POINT), "__call__", ast.Load())
    call = ast.Expr(ast.Call(function, [ast.Constant(index)], []))
    for node in ast.walk(call):
        for name, value in place.items():
            setattr(node, name, value)
    return call
