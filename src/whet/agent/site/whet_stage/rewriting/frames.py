"""Frames of the program that can be left and made again.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import sys
import types

from ..hiding.nodes import NodeTransformer, copied, copy_location, shared, walk
from ..hiding.typed import cast
from .instrument import MARK, SCOPES, Instrumenter, bind, own_nodes
from .prefix_check import FUNCTIONS, bound_names, key_of
from .sources import key_of_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Container, Iterable, Mapping
    from types import CellType, CodeType, FrameType, FunctionType
    from typing import Union

    from .instrument import Path
    from .managers import Exit
    from .prefix_check import Function
    from .sources import Source
else:
    from ..hiding import nodes as ast


_OUTER = "<outer>"  # no name that a program could have
GENERATOR_FLAGS = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


def cells_of(function: FunctionType) -> dict[str, CellType]:
    """Return a function's free variables."""
    names = function.__code__.co_freevars
    return {name: (function.__closure__ or ())[at] for at, name in enumerate(names)}


class CannotBeMadeAnewError(Exception):
    """A frame made again would do something else."""


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
        values: its other variables, when it is to be made again.
        iterators: those of the loops that it is in, by their paths.
        exits: what the managers of the `with` statements that it is in do at the end, by their paths.
        call: what takes the place of the call in which it is.
        order: the names of its variables, in the order in which its code is to be given their values.
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
        self.exits: dict[Path, Exit] = {}
        self.call: str | None = None
        self.order: list[str] = []
        if function is not None:
            self.cells.update(cells_of(function))

    def line(self, back: int = 0) -> int:
        """Return the number of its current line, or of the line ``back`` statements before."""
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

    def forget(self) -> None:
        """Hold nothing of the program's any more: the frame has ended."""
        self.function, self.cells = None, {}

    def managers(self) -> list[Path]:
        """Return the paths of the managers of all `with` statements that it is in."""
        found: list[Path] = []
        body: list[ast.stmt] = self.node.body
        for at in range(0, len(self.path) - 1, 2):
            statement, name = body[int(self.path[at])], str(self.path[at + 1])
            if isinstance(statement, ast.With):
                here = self.path[: at + 1]
                found += [(*here, "items", each) for each in range(len(statement.items))]
            body = getattr(statement, "body" if name in {"first", "again"} else name)
        return found

    def moved(self, sources: Mapping[str, Source], nodes: Mapping[int, object]) -> Frame:
        """Return the same frame in another text."""
        source = sources.get(self.source.path, self.source)
        node = source.pin() if self.function is None else nodes.get(id(self.node), self.node)
        new = object.__new__(Frame)
        vars(new).update(vars(self))
        new.source, new.node = source, cast("ast.Module", node)
        return new

    def check_shared(self, node: object) -> None:
        """Refuse a frame with a variable that inner functions share and that isn't set.

        Made again it has that variable from outside, as they have: read before it is set, Python
        calls the error otherwise.

        Args:
            node: its function in the text in which it is to be made again.

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

    def take_values(self, live: FrameType) -> None:
        """Note the values of the variables that it shares with nobody.

        Raises:
            CannotBeMadeAnewError: if it has one more, which `locals()` was given: its code knows
                of none.
        """
        found = dict(live.f_locals)
        self.values = {name: found[name] for name in found.keys() - self.cells.keys()}
        if self.values.keys() - set(live.f_code.co_varnames):
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
    node = source.node_of(key_of_code(code))
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
    if frame.path:
        _take_back_cells(frame)
    while True:
        code = _compiled(frame, Instrumenter(number, marking, cells), found)
        if not set(code.co_cellvars) - set(cells):
            return code
        cells = code.co_cellvars  # inner functions share them: each point must know of them


def _take_back_cells(frame: Frame) -> None:
    """Let a variable be the frame's own again where the text has no inner function with it now."""
    plain = _plain_code(frame)
    shared_names = {*plain.co_cellvars, *plain.co_freevars}
    for name in frame.cells.keys() - shared_names:
        frame.values[name] = frame.cells[name].cell_contents
    frame.cells = {name: cell for name, cell in frame.cells.items() if name in shared_names}


def _plain_code(frame: Frame) -> CodeType:
    """Return the code of a frame's function as a cold run has it, but for places and names."""
    node = frame.node
    assert isinstance(node, ast.FunctionDef)
    return _code_of(frame, node.args, node.body)


def _compiled(frame: Frame, weaver: Instrumenter, found: Callable[[str], object]) -> CodeType:
    node, source = frame.node, frame.source
    assert isinstance(node, ast.FunctionDef)
    body = weaver.block(node.body, since=frame.path, call=frame.call)
    body = source.hooked(body)
    arguments = copied(node.args)
    if frame.path:
        body = [*_declarations(frame), *_without_declarations(body)]
        arguments = _bare(arguments, frame.cells)
    code = bind(_code_of(frame, arguments, body), found, source.same)
    return _qualified(code, f"{_OUTER}.<locals>.{node.name}", _compiled_name(frame))


def _code_of(frame: Frame, arguments: ast.arguments, body: list[ast.stmt]) -> CodeType:
    """Return the code of a function in a frame's place."""
    node = frame.node
    assert isinstance(node, ast.FunctionDef)
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
    return next(
        inner
        for inner in _inner_codes(frame.source.compiled([outer]))
        if inner.co_name == node.name and inner.co_firstlineno == key[1]
    )


def _bare(arguments: ast.arguments, cells: Container[str]) -> ast.arguments:
    """Return the parameters of a function without their defaults, but for some."""

    def left(each: ast.arg | None) -> ast.arg | None:
        return None if each is None or each.arg in cells else ast.arg(each.arg)

    lists = [
        [ast.arg(each.arg) for each in some if each.arg not in cells]
        for some in (arguments.posonlyargs, arguments.args, arguments.kwonlyargs)
    ]
    nothing: list[ast.expr | None] = [None] * len(lists[2])
    return ast.arguments(
        lists[0], lists[1], left(arguments.vararg), lists[2], nothing, left(arguments.kwarg), []
    )


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


def _declarations(frame: Frame) -> list[ast.stmt]:
    """Return what makes each name mean what it means in the whole function, and hold its value.

    The order is that of the function itself, in which `locals()` shows them.
    """
    nodes = own_nodes(frame.node.body)
    declared = sorted({
        name for node in nodes if isinstance(node, ast.Global) for name in node.names
    })  # fmt: skip
    made: list[ast.stmt] = [ast.Pass()]  # no text of the rest is a docstring
    if declared:
        made.append(ast.Global(declared))
    if frame.cells:
        made.append(ast.Nonlocal(sorted(frame.cells)))
    names = {*local_names(frame.node), *frame.values} - {*frame.cells, *declared}
    ranks = {name: rank for rank, name in enumerate(_plain_code(frame).co_varnames)}
    frame.order = []
    for name in sorted(names, key=lambda name: (ranks.get(name, len(ranks)), name)):
        targets: list[ast.expr] = [ast.Name(name, ast.Store())]
        if name in frame.values:
            frame.order.append(name)
            made.append(ast.Assign(targets, _next_value(frame)))
        elif name in parameter_names(frame.node):
            made.append(ast.Delete([ast.Name(name, ast.Del())]))
        else:
            never = ast.Assign(targets, ast.Constant(None))
            made.append(ast.If(ast.Constant(value=False), [never], []))
    return made


def _next_value(frame: Frame) -> ast.expr:
    # Each value is handed over by a call of its own, so that nobody else holds it then.
    function = ast.Attribute(ast.Constant(f"{MARK}values:{frame.depth}"), "n", ast.Load())
    return ast.Call(function, [], [])


def local_names(node: Union[ast.Module, Function]) -> set[str]:
    """Return the names that a function binds, its parameters included."""
    return bound_names(own_nodes(node.body)) | parameter_names(node)


def parameter_names(node: Union[ast.Module, Function]) -> set[str]:
    """Return the names of a function's parameters."""
    if not isinstance(node, FUNCTIONS):
        return set()
    args = node.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every += [each for each in (args.vararg, args.kwarg) if each is not None]
    return {each.arg for each in every}


def _without_declarations(body: list[ast.stmt]) -> list[ast.stmt]:
    return [cast("ast.stmt", _NoDeclarations().visit(copied(statement))) for statement in body]


class _NoDeclarations(NodeTransformer):
    """Takes out `global` and `nonlocal`, which stand at the top; inner scopes keep theirs."""

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            return copy_location(ast.Pass(), node)
        return node if isinstance(node, SCOPES) else self.generic_visit(node)
