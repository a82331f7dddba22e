"""Frames of the program that can be left and made anew.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import sys
import types

from .nodes import NodeTransformer, copied, copy_location, shared, walk
from .past import FUNCTIONS, bound_names, key_of
from .sources import key_of_code
from .typed import cast
from .weave import SCOPES, Weaver, bind, own_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Container, Iterable, Mapping
    from types import CellType, CodeType, FunctionType
    from typing import Union

    from .past import Function
    from .sources import Source
    from .weave import Path, Rest
else:
    from . import nodes as ast


_OUTER = "<outer>"  # no name that a program could have
GENERATOR_FLAGS = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


def cells_of(function: FunctionType) -> dict[str, CellType]:
    """Return a function's free variables."""
    names = function.__code__.co_freevars
    return {name: (function.__closure__ or ())[at] for at, name in enumerate(names)}


class CannotBeMadeAnewError(Exception):
    """A frame made anew would do something else."""


class Frame:
    """A stage frame.

    Attributes:
        source: where its text stands.
        node: its module or function there.
        function: the function object; None: it is the module.
        depth: how many stage frames are below it.
        path: where it stands; empty: at its start.
        has_begun: whether the statement there has been begun: it is in the call of the next frame.
        cells: the variables that it shares with inner or outer functions.
        values: its other variables, when it is to be made anew.
        iterators: those of the loops that it is in, by their paths.
        call: what takes the place of the call in which it is.
        parameters: the names of the variables with which its code is to be called.
    """

    def __init__(
        self,
        source: Source,
        node: Union[ast.Module, Function],
        function: FunctionType | None = None,
        depth: int = 0,
    ) -> None:
        self.source = source
        self.node = node
        self.function = function
        self.depth = depth
        self.path: Path = ()
        self.has_begun = False
        self.cells: dict[str, CellType] = {}
        self.values: dict[str, object] = {}
        self.iterators: dict[Path, Iterable[object]] = {}
        self.call: Rest | None = None
        self.parameters: list[str] = []
        if function is not None:
            self.cells.update(cells_of(function))

    def line(self, back: int = 0) -> int:
        """Return the number of the line at which it stands, or of so many statements before."""
        body, statement = self.node.body, None
        path = self.path
        if back and path and isinstance(path[-1], int):
            path = (*path[:-1], max(path[-1] - back, 0))
        for step in path:
            if isinstance(step, int):
                statement = body[min(step, len(body) - 1)]  # it may stand at the end of a block
            elif statement is not None:
                body = getattr(statement, "body" if step in {"first", "again"} else step)
        return statement.lineno if statement is not None else 0

    def moved(self, sources: Mapping[str, Source], nodes: Mapping[int, object]) -> Frame:
        """Return the same frame in another text."""
        source = sources.get(self.source.path, self.source)
        node = source.tree if self.function is None else nodes.get(id(self.node), self.node)
        new = object.__new__(Frame)
        vars(new).update(vars(self))
        new.source, new.node = source, cast("ast.Module", node)
        return new

    def check_shared(self, node: object) -> None:
        """Refuse a frame with a variable that inner functions share and that is not set.

        Made anew it has that variable from outside, as they have: read before it is set, Python
        calls the error otherwise.

        Args:
            node: its function in the text in which it is to be made anew.

        Raises:
            CannotBeMadeAnewError: if there is one, now or later on.
        """
        function = self.function
        own = set(self.cells) - set(function.__code__.co_freevars if function else ())
        if any(map(_is_empty, map(self.cells.__getitem__, own))):
            raise CannotBeMadeAnewError
        for each in walk(cast("ast.AST", node)) if own else ():
            unset = [getattr(target, "id", "") for target in getattr(each, "targets", ())]
            is_unset = isinstance(each, ast.Delete) and not own.isdisjoint(unset)
            if is_unset or (isinstance(each, ast.ExceptHandler) and each.name in own):
                raise CannotBeMadeAnewError

    def function_of(self, code: CodeType) -> FunctionType:
        """Return a function that runs ``code`` as this frame's function would."""
        function = self.function
        assert function is not None
        closure = tuple(self.cells[name] for name in code.co_freevars)
        new = types.FunctionType(
            code, function.__globals__, function.__name__, function.__defaults__, closure
        )
        new.__kwdefaults__ = function.__kwdefaults__
        new.__qualname__ = function.__qualname__
        new.__module__ = function.__module__
        return new


def _is_empty(cell: CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return True
    return False


def may_be_entered(
    function: object, sources: Mapping[str, Source]
) -> tuple[FunctionType, Source, Function] | None:
    """Return a function, its text and node if its frame may be a stage frame."""
    function = getattr(function, "__func__", function)
    if not isinstance(function, types.FunctionType):
        return None
    code = function.__code__
    source = sources.get(code.co_filename)
    if source is None or code.co_flags & GENERATOR_FLAGS or "__class__" in code.co_freevars:
        return None
    if function.__globals__ is not source.module:
        return None
    node = source.functions.get(key_of_code(code))
    if not isinstance(node, ast.FunctionDef) or _has_private_names(node):
        return None
    return function, source, node


def _has_private_names(node: ast.FunctionDef) -> bool:
    """Whether it has names that would mean something else inside a class."""
    for each in walk(node):
        name = getattr(each, "attr", None) or getattr(each, "id", None) or ""
        if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
            return True
    return False


def function_code(
    frame: Frame,
    number: Callable[[Path], int],
    found: Callable[[str], object],
    marking: Container[str],
) -> CodeType:
    """Return the code of a frame's function, from where the frame stands on."""
    cells: tuple[str, ...] = ()
    while True:
        code = _compiled(frame, Weaver(number, marking, cells), found)
        if not set(code.co_cellvars) - set(cells):
            return code
        cells = code.co_cellvars  # inner functions share them: each point must know of them


def _compiled(frame: Frame, weaver: Weaver, found: Callable[[str], object]) -> CodeType:
    node, source = frame.node, frame.source
    assert isinstance(node, ast.FunctionDef)
    body = weaver.block(node.body, since=frame.path, call=frame.call)
    body = source.hooked(body)
    arguments = copied(node.args)
    if frame.path:
        names = frame.parameters = list(frame.values)
        arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        body = [*_declarations(frame, names), *_without_declarations(body)]
    first = shared(node.body[0])
    line, column = node.lineno, node.col_offset
    key = key_of(node)
    # Lines count from that of the first decorator: it is named there, and never run.
    decorators: list[ast.expr] = [ast.Constant(None, lineno=key[1])] if key[1] != line else []
    function = ast.FunctionDef(node.name, arguments, body, decorators)
    outer = ast.FunctionDef(
        _OUTER,
        ast.arguments([], [ast.arg(name) for name in frame.cells], None, [], [], None, []),
        [function],
        [],
    )
    for made in (outer, function):
        if sys.version_info >= (3, 12):
            made.type_params = []
        made.lineno = made.end_lineno = line
        made.col_offset = made.end_col_offset = column
    for each in walk(outer):
        if isinstance(each, (ast.expr, ast.stmt, ast.arg)) and not hasattr(each, "col_offset"):
            own_line = getattr(each, "lineno", first.lineno)
            copy_location(each, first).lineno = own_line
    code = next(
        inner
        for inner in _inner_codes(source.compiled([outer]))
        if inner.co_name == node.name and inner.co_firstlineno == key[1]
    )
    code = bind(code, found, source.same)
    return _qualified(code, f"{_OUTER}.<locals>.{node.name}", _compiled_name(frame))


def _compiled_name(frame: Frame) -> str:
    """Return the qualified name that the compiler gave to a frame's function."""
    function = frame.function
    assert function is not None
    name: str = getattr(function.__code__, "co_qualname", function.__qualname__)  # 3.11
    return name


def _qualified(code: CodeType, wrong: str, right: str) -> CodeType:
    """Return code with other qualified names: those of classes and functions are constants."""
    constants: list[object] = []
    for each in code.co_consts:
        if isinstance(each, str) and each.startswith(wrong):
            constants.append(right + each[len(wrong) :])
        else:
            is_code = isinstance(each, type(code))
            constants.append(_qualified(each, wrong, right) if is_code else each)
    code = code.replace(co_consts=tuple(constants))
    if sys.version_info >= (3, 11):
        code = code.replace(co_qualname=right + code.co_qualname[len(wrong) :])
    return code


def _inner_codes(module: CodeType) -> list[CodeType]:
    outer = next(each for each in module.co_consts if isinstance(each, type(module)))
    return [each for each in outer.co_consts if isinstance(each, type(module))]


def _declarations(frame: Frame, parameters: list[str]) -> list[ast.stmt]:
    """Return what makes each name mean what it means in the whole function."""
    nodes = own_nodes(frame.node.body)
    declared = sorted({
        name for node in nodes if isinstance(node, ast.Global) for name in node.names
    })  # fmt: skip
    made: list[ast.stmt] = [ast.Pass()]  # no text of the rest is a docstring
    if declared:
        made.append(ast.Global(declared))
    if frame.cells:
        made.append(ast.Nonlocal(sorted(frame.cells)))
    assert frame.function is not None
    unbound = [
        name
        for name in local_names(frame.node)
        if name not in parameters and name not in frame.cells and name not in declared
    ]
    if unbound:
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in sorted(unbound)]
        assignment = ast.Assign(targets, ast.Constant(None))
        made.append(ast.If(ast.Constant(value=False), [assignment], []))
    return made


def local_names(node: Union[ast.Module, Function]) -> set[str]:
    """Return the names that a function binds, its parameters included."""
    names = bound_names(own_nodes(node.body))
    if isinstance(node, FUNCTIONS):
        args = node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        every += [each for each in (args.vararg, args.kwarg) if each is not None]
        names |= {each.arg for each in every}
    return names


def _without_declarations(body: list[ast.stmt]) -> list[ast.stmt]:
    return [cast("ast.stmt", _NoDeclarations().visit(copied(statement))) for statement in body]


class _NoDeclarations(NodeTransformer):
    """Takes out `global` and `nonlocal`, which stand at the top; inner scopes keep theirs."""

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return copy_location(ast.Pass(), node)
        return node if isinstance(node, SCOPES) else self.generic_visit(node)
