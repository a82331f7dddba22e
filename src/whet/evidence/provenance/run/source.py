"""The statements of a program by their lines."""

import ast
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from whet.core.text.code_lines import module_of
from whet.evidence.provenance.run.recording import Code

COMPREHENSIONS = {
    "<listcomp>": ast.ListComp,
    "<setcomp>": ast.SetComp,
    "<dictcomp>": ast.DictComp,
    "<genexpr>": ast.GeneratorExp,
    "<lambda>": ast.Lambda,
}
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | Comprehension


@dataclass(frozen=True, eq=False)
class Source:
    """The text of one file."""

    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its statements; none if it can't be read."""
        with suppress(SyntaxError, ValueError, RecursionError):
            return module_of(self.text)
        return ast.Module(body=[], type_ignores=[])

    @cached_property
    def _by_line(self) -> dict[int, ast.stmt]:
        """The innermost statement on each line; the first of several on one line."""
        found: dict[int, ast.stmt] = {}
        for node in ast.walk(self.tree):  # outer ones come first
            if isinstance(node, ast.stmt):
                first = min([node.lineno, *(each.lineno for each in _decorators(node))])
                for line in range(first, _last_line(node) + 1):
                    known = found.get(line)
                    if known is None or known.lineno != node.lineno:
                        found[line] = node
        return found

    def statement(self, line: int) -> ast.stmt | None:
        """Return the statement that a line belongs to."""
        return self._by_line.get(line)

    def given_on(self, line: int, *, is_none: bool) -> ast.expr | None:
        """Return what a call returns or yields that ends with a line.

        Args:
            line: its number.
            is_none: None came back. A condition may then have let the call fall through.
        """
        statement = self.statement(line)
        given = given_back(statement)
        if given is not None or statement is None or isinstance(statement, ast.Return):
            return given
        inner = [each for each in ast.walk(statement) if isinstance(each, ast.Return)]
        beside = [each for each in inner if each.lineno == line]  # `if n: return 1`
        is_sure = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) or not is_none
        return beside[0].value if is_sure and len(beside) == 1 else None

    def line(self, number: int) -> str:
        """Return a line without what is around it."""
        return self.lines[number - 1].strip() if 0 < number <= len(self.lines) else ""

    @cached_property
    def lines(self) -> list[str]:
        """Its lines."""
        return self.text.splitlines()

    def node_of(self, code: Code) -> ast.AST | None:
        """Return the function or the comprehension that a code was made of."""
        kind = COMPREHENSIONS.get(code.short)
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef) if kind is None else (kind,)
        for node in self._functions.get(code.first_line, ()):
            if isinstance(node, kinds) and getattr(node, "name", code.short) == code.short:
                return node
        return None

    @cached_property
    def _functions(self) -> dict[int, list[ast.AST]]:
        """The functions and comprehensions that begin on each line, also with a decorator of theirs."""
        found: dict[int, list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, _FUNCTIONS):
                decorators = _decorators(node) if isinstance(node, ast.stmt) else []
                for line in {node.lineno, *(each.lineno for each in decorators)}:
                    found.setdefault(line, []).append(node)
        return found

    def said(self, node: ast.AST) -> str:
        """Return what the program says for a node, on one line; a call that is made elsewhere is shortened."""
        text = " ".join((ast.get_source_segment(self.text, node) or "").split())
        if isinstance(node, ast.Call) and not text.endswith(")"):
            text = f"({text})(…)" if isinstance(node.func, ast.Lambda) else f"{text}(…)"
        return text


@dataclass(slots=True)
class Sources:
    """The files of a program by their paths."""

    known: dict[str, Source] = field(default_factory=dict[str, Source])

    def __getitem__(self, path: str) -> Source:
        """Return a file; an empty one if it can't be read."""
        if path not in self.known:
            text = ""
            with suppress(OSError):
                text = Path(path).read_text("utf-8", "replace")
            self.known[path] = Source(text)
        return self.known[path]


def _decorators(node: ast.AST) -> list[ast.expr]:
    found: list[ast.expr] = getattr(node, "decorator_list", [])
    return found


def _last_line(node: ast.stmt) -> int:
    """Return the last line of a statement; of one with a body, of its head."""
    body: list[ast.stmt] = getattr(node, "body", [])
    if body:
        return max(node.lineno, body[0].lineno - 1)
    return node.end_lineno or node.lineno


def names_in(target: ast.AST) -> Iterator[str]:
    """Yield the names that a target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from names_in(each)
    elif isinstance(target, ast.Starred):
        yield from names_in(target.value)


def is_beginning(expr: ast.expr | None) -> bool:
    """Whether an expression is what something begins with that is added to: nothing, or zero."""
    match expr:
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Constant(value=value):
            return value is not None and not value
        case ast.Call(args=[], keywords=[]):
            return called_name(expr) in {"list", "dict", "set", "Counter", "deque"}
        case ast.Call(args=[ast.Name() | ast.Lambda()], keywords=[]):
            return called_name(expr) == "defaultdict"
        case _:
            return False


def is_placeholder(statement: ast.stmt | None) -> bool:
    """Whether a list or dict is made of `None` to be filled: the question is why a place stayed empty."""
    match statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None:
        case ast.BinOp(left=ast.List(elts=[ast.Constant(value=None)]), op=ast.Mult()):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys"), args=[_]):
            return True
        case _:
            return False


def varied_in(expr: ast.expr) -> Iterator[str]:
    """Yield the variables that a comprehension goes through with."""
    for generator in expr.generators if isinstance(expr, Comprehension) else ():
        yield from names_in(generator.target)


def is_straight(expr: Comprehension) -> bool:
    """Whether a comprehension makes a list with one element of each round."""
    return isinstance(expr, ast.ListComp) and not any(each.ifs for each in expr.generators)


def bindings(statement: ast.stmt | None) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """Yield targets with what they are bound to, and whether it is an element of that."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _paired(target, value)
        case ast.AugAssign(target=target, value=value) | ast.AnnAssign(target=target, value=value):
            if value is not None:
                yield target, value, False
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield target, value, True
        case ast.With(items=items) | ast.AsyncWith(items=items):
            named = [(each.optional_vars, each.context_expr) for each in items]
            yield from ((target, value, False) for target, value in named if target is not None)
        case _:
            pass
    named_inside = (node for node in head(statement) if isinstance(node, ast.NamedExpr))
    yield from ((node.target, node.value, False) for node in named_inside)


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    if (
        isinstance(target, ast.Tuple | ast.List)
        and isinstance(value, ast.Tuple | ast.List)
        and len(target.elts) == len(value.elts)
        and not any(isinstance(each, ast.Starred) for each in target.elts)
    ):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from _paired(one, other)
    else:
        yield target, value, False


def other_binding(source: Source, name: str, line: int) -> ast.expr | None:
    """Return the test at a line that has kept a name from being bound otherwise."""
    statement = source.statement(line)
    if not isinstance(statement, ast.If) or statement.lineno != line:
        return None
    inside = [each for each in ast.walk(statement) if isinstance(each, ast.stmt)]
    binds = any(
        name in names_in(target)
        for each in inside
        if each is not statement
        for target, _, _ in bindings(each)
    )
    return statement.test if binds else None


def element_of(expr: Comprehension) -> ast.expr:
    """Return what a comprehension makes in each round; of a dict the value."""
    return expr.value if isinstance(expr, ast.DictComp) else expr.elt


def head(statement: ast.stmt | None) -> Iterator[ast.AST]:
    """Yield the nodes of a statement without those of the statements in it."""
    waiting: list[ast.AST] = [] if statement is None else [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [
            each
            for each in ast.iter_child_nodes(node)
            if not isinstance(each, ast.stmt | ast.excepthandler | ast.match_case)
        ]


def called_name(expr: ast.Call) -> str:
    """Return the last name of what is called."""
    match expr.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def in_order(calls: Iterable[ast.Call]) -> list[ast.Call]:
    """Return calls in the order in which they are made: what a call is given is called before it."""
    return sorted(calls, key=lambda each: (each.end_lineno or 0, each.end_col_offset or 0))


def is_parameter(name: str, node: ast.AST | None) -> bool:
    """Whether a function has a parameter of this name."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    own = node.args
    others = [each for each in (own.vararg, own.kwarg) if each is not None]
    return name in {each.arg for each in (*own.posonlyargs, *own.args, *own.kwonlyargs, *others)}


def default_of(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> ast.expr | None:
    """Return what a parameter is if nothing is given for it."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    last = zip(reversed(arguments), reversed(node.args.defaults), strict=False)
    for argument, default in (
        *last,
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ):
        if argument.arg == name:
            return default
    return None


def given_back(statement: ast.stmt | None) -> ast.expr | None:
    """Return what a statement returns or yields."""
    if isinstance(statement, ast.Return):
        return statement.value
    for node in head(statement):
        if isinstance(node, ast.Yield):
            return node.value
    return None


def lookups(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the container and the key of each lookup."""
    for each in ast.walk(node):
        match each:
            case ast.Subscript(value=holder, slice=key):
                yield holder, key
            case ast.Call(func=ast.Attribute(value=holder, attr="pop" | "remove"), args=[key, *_]):
                yield holder, key
            case _:
                pass


def changed_in(statement: ast.stmt | None) -> Iterator[ast.expr]:
    """Yield what a statement may change in place, as far as its words tell."""
    deleted = statement.targets if isinstance(statement, ast.Delete) else []
    for target in (*(each for each, _, _ in bindings(statement)), *deleted):
        if isinstance(target, ast.Subscript | ast.Attribute):
            yield target.value
        elif isinstance(target, ast.Name) and isinstance(statement, ast.AugAssign):
            yield target
    for node in head(statement):
        if isinstance(node, ast.Call) and called_name(node) in _CHANGING:
            yield from (node.func.value,) if isinstance(node.func, ast.Attribute) else node.args


def handed_over(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a call may change later: a method of it that does so is an argument."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            for given in (*each.args, *(word.value for word in each.keywords)):
                if isinstance(given, ast.Attribute) and given.attr in _CHANGING:
                    yield given.value


_CHANGING = {
    "append", "extend", "insert", "remove", "pop", "popitem", "popleft", "clear", "sort", "reverse",
    "add", "discard", "update", "setdefault", "appendleft", "fill", "resize", "put", "setattr",
    "delattr", "heappush", "heappop", "shuffle", "difference_update", "intersection_update",
}  # fmt: skip


def is_literal(node: ast.AST) -> bool:
    """Whether a node is written out, or says where a slice begins and ends."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant | ast.Slice)
