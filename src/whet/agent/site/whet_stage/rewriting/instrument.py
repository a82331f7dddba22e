"""Puts points between the statements of a body, so that its frame can be left there and made again.

A *path* says where in a body a point is: the index of a statement, then the name of one of its
blocks and the index of a statement in that, and so on: ``(3, "body", 0)``. The blocks of a loop
are ``first`` (its first round) and ``again`` (any other); ``(3, "items", 0)`` is the first manager
of a `with`.

Nothing that is put in has a name: what it calls is a constant, written as a text that `bind`
replaces. Points stand neither in `match`, `except` and `finally` nor in the later rounds of a loop,
but at the start of each, where a gate that costs next to nothing stands before the point, and
after each checkpoint that the program itself sets (`whet.checkpoint`).

A frame that is left to be made again leaves its `with` and `try` statements too. Nothing of the
program's may run then: the exits of its managers do nothing any more, a handler of whet's own comes
before all others, and each `finally` asks first.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

from ..hiding.nodes import copied, copy_location, iter_child_nodes, shared, walk
from ..hiding.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Container, Sequence
    from types import CodeType
    from typing import TypeVar, Union

    Node = TypeVar("Node", bound=ast.AST)

    Path = tuple[Union[int, str], ...]
    Place = Union[ast.stmt, ast.expr]
else:
    from ..hiding import nodes as ast

MARK = "\0whet:"
_RUN_FIRST = {
    "Expr": "value", "Assign": "value", "AnnAssign": "value", "Return": "value", "Assert": "test",
    "AugAssign": "target", "Raise": "exc", "If": "test", "While": "test", "For": "iter",
    "With": "items", "FunctionDef": "decorator_list", "AsyncFunctionDef": "decorator_list",
    "ClassDef": "decorator_list", "Call": "func", "Attribute": "value", "Subscript": "value",
    "BinOp": "left", "BoolOp": "values", "Compare": "left", "UnaryOp": "operand", "IfExp": "test",
    "Tuple": "elts", "List": "elts", "Set": "elts",
}  # fmt: skip
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_HEADS = ("decorator_list", "args", "returns", "bases", "keywords")  # of functions and classes
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Instrumenter:
    """Makes the statements of one frame.

    Attributes:
        calls: paths of the statements whose call may be entered.
    """

    def __init__(
        self,
        number: Callable[[Path], int],
        marking: Container[str] = (),
        cells: Sequence[str] = (),
    ) -> None:
        """Make it ready.

        Args:
            number: gives each path a number, unique in the program, by which a point is known.
            marking: names of functions in which checkpoints are set: they are entered in later
                rounds of a loop as well.
            cells: variables of the frame that inner functions share.
        """
        self._number = number
        self._marking = marking
        self._cells = cells

    def block(
        self, body: list[ast.stmt], where: Path = (), since: Path = (), call: str | None = None
    ) -> list[ast.stmt]:
        """Return the statements of a block, from ``since`` on, which is a path within it.

        Args:
            body: all of its statements.
            where: the path of the block itself.
            since: where to continue; empty: from the start.
            call: the text of the constant whose function takes the place of the one that the
                statement at ``since`` calls; None: that statement has not been begun.
        """
        start = 0 if not since else int(since[0])
        woven: list[ast.stmt] = []
        for index in range(start, len(body)):
            statement, here = body[index], (*where, index)
            is_resumed = bool(since) and index == start
            if is_resumed and len(since) > 1:
                woven += self._resumed(statement, here, since[1:], call)
            elif is_resumed and call:
                woven.append(_with_call(statement, call))
            else:
                # A checkpoint has a point of its own, with a name.
                is_marked = any(map(is_checkpoint, body[max(index - 1, start) : index + 1]))
                is_first = here == (0,) or must_lead(body, index)
                # At the one where it is resumed a debugger may be opened.
                if is_resumed or not (is_first or is_marked):
                    woven.append(self._point(here, statement))
                woven += self._statement(statement, here)
        return woven or [ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)]

    def _statement(self, statement: ast.stmt, here: Path) -> list[ast.stmt]:
        if isinstance(statement, ast.If):
            woven = shared(statement)
            woven.body = self.block(statement.body, (*here, "body"))
            if statement.orelse:
                woven.orelse = self.block(statement.orelse, (*here, "orelse"))
            return [woven]
        if isinstance(statement, (ast.For, ast.While)):
            number = self._number(here)
            loop = shared(statement)
            if isinstance(loop, ast.For):
                loop.iter = _over("hooks.loop", [ast.Constant(number), loop.iter], loop.iter)
            begins, later = statement.body[0], self._later(statement.body, (*here, "again"))
            rare = ast.If(
                _call("hooks.rare", [ast.Constant(number)], begins),
                self.block(statement.body, (*here, "first")),
                [self._point((*here, "again", 0), begins), *later],
            )
            # Nearly all rounds ask this one question more.
            gate = ast.If(_gate(number, begins), [_placed(rare, begins)], later)
            loop.body = [_placed(gate, begins)]
            if loop.orelse:
                loop.orelse = self.block(statement.orelse, (*here, "orelse"))
            return [_do("hooks.start", [number], statement), loop]
        if isinstance(statement, ast.With):
            entering = shared(statement)
            entering.items = [
                self._managed(item, (*here, "items", at)) for at, item in enumerate(statement.items)
            ]
            entering.body = self.block(statement.body, (*here, "body"))
            return [entering]
        if isinstance(statement, ast.Try):
            return [self._trying(statement, here, self.block(statement.body, (*here, "body")))]
        if is_checkpoint(statement):
            after = (*here[:-1], int(here[-1]) + 1)
            return [
                _do("hooks.expect", [], statement),
                statement,
                self._point(after, statement, "hooks.named"),
            ]
        call = entered_call(statement)
        return [statement if call is None else self._entering(statement, here)]

    def _managed(self, item: ast.withitem, here: Path) -> ast.withitem:
        number = ast.Constant(self._number(here))
        manager = _over("hooks.manager", [number, item.context_expr], item.context_expr)
        return ast.withitem(manager, item.optional_vars)

    def _trying(self, statement: ast.Try, here: Path, body: list[ast.stmt]) -> ast.Try:
        """Return a `try` around a body, of which nothing else runs when its frame is left."""
        woven = shared(statement)
        woven.body = body
        if statement.handlers:
            woven.handlers = [_leaving(statement.handlers[0]), *statement.handlers]
        if statement.orelse:
            woven.orelse = self.block(statement.orelse, (*here, "orelse"))
        woven.finalbody = _unless_left(statement)
        return woven

    def _later_round(self, loop: Union[ast.For, ast.While], here: Path) -> list[ast.stmt]:
        begins = loop.body[0]
        number = self._number(here)
        rare = [
            _do("hooks.rare", [number], begins),
            self._point((*here, "again", 0), begins),
        ]
        gate = ast.If(_gate(number, begins), rare, [])
        return [_placed(gate, begins), *self._later(loop.body, (*here, "again"))]

    def _later(self, body: list[ast.stmt], where: Path) -> list[ast.stmt]:
        """Return the statements of a block as they are, but for what leads to a checkpoint."""
        woven: list[ast.stmt] = []
        for index, statement in enumerate(body):
            here = (*where, index)
            if not self._marks(statement):
                woven.append(statement)
            elif isinstance(statement, ast.If):
                either = shared(statement)
                either.body = self._later(statement.body, (*here, "body"))
                either.orelse = self._later(statement.orelse, (*here, "orelse"))
                woven.append(either)
            else:
                woven += self._statement(statement, here)
        return woven

    def _marks(self, statement: ast.stmt) -> bool:
        """Whether a checkpoint may be set in a statement, in a frame that can be made again."""
        if isinstance(statement, (ast.If, ast.For, ast.While, ast.Try)):
            return any(map(self._marks, [*statement.body, *statement.orelse]))
        if isinstance(statement, ast.With):
            return any(map(self._marks, statement.body))
        call = entered_call(statement)
        return is_checkpoint(statement) or (
            call is not None and _last_name(call.func) in self._marking
        )

    def _resumed(
        self, statement: ast.stmt, here: Path, inner: Path, call: str | None
    ) -> list[ast.stmt]:
        """Return what continues inside a compound statement, and after it."""
        name, rest = str(inner[0]), inner[1:]
        if name in {"body", "orelse"}:  # the body of a loop has other names
            block: list[ast.stmt] = getattr(statement, name)
            going_on = self.block(block, (*here, name), rest, call)
            return self._around(statement, here, name, going_on)
        assert isinstance(statement, (ast.For, ast.While)), name
        number = self._number(here)
        going_on = self.block(statement.body, (*here, name), rest, call)
        loop = shared(statement)
        if isinstance(loop, ast.For):
            loop.iter = _over("hooks.again", [ast.Constant(number)], loop.iter)
        loop.body = self._later_round(statement, here)
        if loop.orelse:
            loop.orelse = self.block(statement.orelse, (*here, "orelse"))
        # `continue` in the rest of this round leads to the loop over what is left, `break` past it.
        once = ast.While(
            _call("hooks.pop", [ast.Constant(number), ast.Constant(value=False)], statement),
            going_on,
            [loop],
        )
        return [
            _do("hooks.set", [number, True], statement),
            copy_location(once, statement),
        ]

    def _around(
        self, statement: ast.stmt, here: Path, name: str, going_on: list[ast.stmt]
    ) -> list[ast.stmt]:
        """Return what continues inside a statement, with what is around it."""
        if isinstance(statement, ast.With):
            again = shared(statement)
            again.items = []
            for at, item in enumerate(statement.items):
                number = ast.Constant(self._number((*here, "items", at)))
                manager = _over("hooks.reenter", [number], item.context_expr)
                again.items.append(ast.withitem(manager, None))
            again.body = going_on
            return [again]
        if isinstance(statement, ast.Try) and name == "body":
            return [self._trying(statement, here, going_on)]
        if isinstance(statement, ast.Try) and statement.finalbody:
            rest = shared(statement)
            rest.body, rest.handlers, rest.orelse = going_on, [], []
            rest.finalbody = _unless_left(statement)
            return [rest]
        return going_on

    def _point(self, here: Path, before: ast.stmt, text: str = "hooks.point") -> ast.stmt:
        arguments: list[ast.expr] = [ast.Constant(self._number(here))]
        if self._cells:
            names = [ast.Name(name, ast.Load()) for name in self._cells]
            nothing = ast.arguments([], [], None, [], [], None, [])
            arguments.append(ast.Lambda(nothing, ast.Tuple(list(names), ast.Load())))
        return _placed(ast.Expr(_call(text, arguments, before)), before)

    def _entering(self, statement: ast.stmt, here: Path) -> ast.stmt:
        woven = copied(statement)
        call = entered_call(woven)
        assert call is not None
        called = call.func
        number = ast.Constant(self._number(here))
        call.func = _call("hooks.enter", [number, called], called)
        return woven


def _leaving(handler: ast.ExceptHandler) -> ast.ExceptHandler:
    """Return a handler before another one: what leaves a frame to make it again passes.

    All of it is where the other one begins to run, so that a tracer sees no line more.
    """
    at = handler if handler.type is None else _first_run(handler.type)
    kind = ast.Constant(f"{MARK}resumed")
    again = ast.Raise(None, None)
    leaving = ast.ExceptHandler(kind, None, [again])
    for each in (kind, again, leaving):
        copy_location(each, at)
    return leaving


def _unless_left(statement: ast.Try) -> list[ast.stmt]:
    """Return what a `try` does finally, unless its frame is left to be made again."""
    runs = [
        each for each in statement.finalbody if not isinstance(each, (ast.Global, ast.Nonlocal))
    ]
    if not runs:
        return statement.finalbody
    stays = ast.Attribute(ast.Constant(f"{MARK}hooks"), "stays", ast.Load())
    return [_placed(ast.If(stays, statement.finalbody, []), runs[0])]


def is_round(path: Path) -> bool:
    """Whether a point is at the start of another round of a loop."""
    return path[-2:] == ("again", 0)


CHECKPOINT = "whet.checkpoint"
"""The audit event by which a program says that it is at a place worth a snapshot."""


def is_checkpoint(statement: ast.stmt) -> bool:
    """Whether a statement looks like one that sets a checkpoint."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    first = call.args[0] if call.args else None
    is_event = isinstance(first, ast.Constant) and first.value == CHECKPOINT
    return is_event or _last_name(call.func) == "checkpoint"


def called_names(function: ast.AST) -> set[str]:
    """Return the last names of what a function calls; `CHECKPOINT` if it sets one."""
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Expr) and is_checkpoint(node):
            found.add(CHECKPOINT)
        elif isinstance(node, ast.Call):
            found.add(_last_name(node.func))
    return found


def _last_name(function: ast.expr) -> str:
    return str(getattr(function, "attr", None) or getattr(function, "id", None) or "")


def entered_call(statement: ast.stmt) -> ast.Call | None:
    """Return the call that a statement makes before all else, if it is of a plain name.

    ``f(…)``, ``x = f(…)``, ``return f(…)``, ``sys.exit(f(…))``, ``raise SystemExit(f(…))``.
    """
    value: ast.AST | None = None
    if isinstance(statement, (ast.Expr, ast.Return, ast.Assign)):
        value = statement.value
    elif isinstance(statement, ast.Raise) and statement.cause is None:
        value = statement.exc
    if not isinstance(value, ast.Call) or not _is_plain(value.func):
        return None
    if len(value.args) == 1 and not value.keywords:
        inner = value.args[0]
        if isinstance(inner, ast.Call) and _is_plain(inner.func):
            return inner
    return None if isinstance(statement, ast.Raise) else value


def _is_plain(function: ast.expr) -> bool:
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name)


def _with_call(statement: ast.stmt, text: str) -> ast.stmt:
    woven = copied(statement)
    call = entered_call(woven)
    assert call is not None
    call.func = _placed(ast.Attribute(ast.Constant(MARK + text), "f", ast.Load()), call)
    call.args, call.keywords = [], []
    return woven


def must_lead(body: list[ast.stmt], index: int) -> bool:
    """Whether nothing may stand before a statement: `from __future__`, after a docstring."""
    return any(map(is_future, body[index:]))


def is_future(statement: ast.stmt) -> bool:
    """Whether a statement is `from __future__ import`."""
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a text, which is a docstring where it is the first."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def own_nodes(body: list[ast.stmt]) -> list[ast.AST]:
    """Return all nodes of a scope, those of inner scopes left out but for their heads."""
    found: list[ast.AST] = []
    left: list[ast.AST] = list(body)
    while left:
        node = left.pop()
        found.append(node)
        if isinstance(node, SCOPES):
            left += _head(node)
        elif isinstance(node, _COMPREHENSIONS):
            left += [node.generators[0].iter, *_bound_outside(node)]
        else:
            left += iter_child_nodes(node)
    return found


def _head(scope: ast.AST) -> list[ast.AST]:
    """Return what of a scope is evaluated outside of it: `:=` binds a name there."""
    head: list[ast.AST] = []
    for name in _HEADS:
        found: object = getattr(scope, name, None)
        if isinstance(found, ast.AST):
            head.append(found)
        elif isinstance(found, list):
            head += cast("list[ast.AST]", found)
    return head


def _bound_outside(comprehension: ast.AST) -> list[ast.AST]:
    """Return the names that a comprehension binds in the scope in which it stands."""
    bound: list[ast.AST] = []
    left = list(iter_child_nodes(comprehension))
    while left:
        node = left.pop()
        if isinstance(node, ast.NamedExpr):
            bound.append(node.target)
        left += [node.args] if isinstance(node, ast.Lambda) else iter_child_nodes(node)
    return bound


def _call(text: str, arguments: list[ast.expr], at: Place) -> ast.expr:
    """Return a call of an attribute of a constant, such as ``hooks.pop``."""
    name, _, attribute = text.partition(".")
    function = ast.Attribute(ast.Constant(MARK + name), attribute, ast.Load())
    return _placed(ast.Call(function, arguments, []), at)


def _gate(number: int, at: Place) -> ast.expr:
    """Return what says whether the gate of a loop is open: an attribute of a constant."""
    return _placed(ast.Attribute(ast.Constant(f"{MARK}gate:{number}"), "n", ast.Load()), at)


def _over(text: str, arguments: list[ast.expr], iterated: ast.expr) -> ast.expr:
    return copy_location(_call(text, arguments, iterated), iterated)


def _do(text: str, arguments: list[int | bool], at: ast.stmt) -> ast.stmt:
    constants: list[ast.expr] = [ast.Constant(each) for each in arguments]
    return _placed(ast.Expr(_call(text, constants, at)), at)


def _placed(node: Node, at: Place) -> Node:
    """Give the nodes that have none a place: where another one begins to run.

    There a debugger stops, and what it raises then is marked in a traceback.
    """
    first = _first_run(at)
    is_one_line = first.end_lineno == first.lineno
    end = first.end_col_offset if is_one_line else first.col_offset
    place = {
        "lineno": first.lineno, "col_offset": first.col_offset,
        "end_lineno": first.lineno, "end_col_offset": end,
    }  # fmt: skip
    left: list[ast.AST] = [node]
    while left:
        each = left.pop()
        if isinstance(each, (ast.expr, ast.stmt)):
            if hasattr(each, "lineno"):
                continue
            for name, value in place.items():
                setattr(each, name, value)
        left += iter_child_nodes(each)
    return node


def _first_run(node: Place) -> Place:
    """Return the part of a statement or expression that is evaluated before all else."""
    name = _RUN_FIRST.get(type(node).__name__, "")
    part: object = getattr(node, name, None)
    if isinstance(part, list):
        part = next(iter(cast("list[object]", part)), None)
    part = getattr(part, "context_expr", part)
    if not isinstance(part, ast.expr):
        return node
    if all(map(_is_constant, walk(part))):
        return part if isinstance(node, ast.stmt) else node  # it is evaluated as a whole
    return _first_run(part)


def _is_constant(node: ast.AST) -> bool:
    return not isinstance(node, (ast.Name, ast.Call, ast.Lambda, *_COMPREHENSIONS))


def bind(code: CodeType, found: Callable[[str], object], same: dict[object, object]) -> CodeType:
    """Return code whose marked constants are what they stand for.

    Args:
        code: compiled from what a weaver made.
        found: returns what a constant's text stands for, without its mark.
        same: the constants that the program has already. One compilation has each constant once,
            so that `is` holds between statements; so has the rest of it, compiled later.
    """
    constants: list[object] = []
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            constants.append(bind(constant, found, same))
        elif isinstance(constant, str) and constant.startswith(MARK):
            constants.append(found(constant[len(MARK) :]))
        else:
            constants.append(same.setdefault(_identity(constant), constant))
    return code.replace(co_consts=tuple(constants))


def _identity(constant: object) -> object:
    """Return what two constants of one compilation must share to be one object."""
    if isinstance(constant, tuple):
        return "tuple", tuple(map(_identity, cast("tuple[object, ...]", constant)))
    if isinstance(constant, frozenset):
        return "frozenset", tuple(sorted(map(repr, cast("frozenset[object]", constant))))
    if isinstance(constant, (str, bytes)):
        return type(constant), constant  # their `repr` takes long, and is as long
    return type(constant), repr(constant)
