"""Changes of a program for an iterator, a file or a cursor that several parts of it use.

Such an object has one position: who reads from it takes what another part was to read.
"""

import ast
from collections.abc import Collection, Iterator

from whet.evidence.experiments.changes import expression, name_of, place_of

_COPY = "whet_copied"
_MOST_ITEMS, _MOST_CHARACTERS = 1_000_000, 20_000_000
"""An iterator may have no end: one that has more items than these isn't copied."""
_PAIR = (
    "(lambda pair, io: lambda own: pair(lambda text: (io.StringIO if isinstance(text, str) else io.BytesIO)(text),"
    f" own.read({_MOST_CHARACTERS}), {_MOST_CHARACTERS}) if hasattr(own, 'seek') and hasattr(own, 'read') else"
    f" pair(iter, list(__import__('itertools').islice(own, {_MOST_ITEMS})), {_MOST_ITEMS}) if hasattr(own, '__next__')"
    " else (own, own))(lambda again, held, most: (again(held), again(held)) if len(held) < most else 1 / 0,"
    " __import__('io'))({source})"
)
"""What is left in an iterator or a file, twice."""
READS = frozenset({"read", "readline", "readlines", "fetchone", "fetchmany", "fetchall"})
LOOP = "for"
TURNS = frozenset({"next", "islice", "readline", "fetchone", "fetchmany"})
"""What takes some items and leaves the rest: repeated at one place, it is meant to take the next ones."""
QUERIES = frozenset({"execute", "executemany"})
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Place = tuple[object, ...]


def uses_in(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield what a module goes through, reads from or hands on, each with its method that is called, or `LOOP`."""
    for node in ast.walk(tree):
        match node:
            case ast.For(iter=used):
                found = [(used, LOOP)]
            case ast.comprehension(iter=used) | ast.Starred(value=used):
                found = [(used, "")]
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[used]):
                found = [(used, "")]
            case ast.Call(func=function):
                given = [*node.args, *(each.value for each in node.keywords)]
                name = name_of(function)
                found = [(each, name if name in TURNS else "") for each in given]
                if name_of(function) in {*READS, *QUERIES} and isinstance(function, ast.Attribute):
                    found.append((function.value, function.attr))
            case _:
                found = []
        yield from (each for each in found if isinstance(each[0], ast.Name | ast.Attribute))


def thrown_away_in(tree: ast.AST) -> set[Place]:
    """Return the places at which a module takes something and doesn't use it, which is mostly meant."""
    alone = (each.value for each in ast.walk(tree) if isinstance(each, ast.Expr))
    calls = (each for each in alone if isinstance(each, ast.Call) and name_of(each.func) in TURNS)
    return {place_of(used) for call in calls for used in (*call.args, *_receiver(call))}


def _receiver(call: ast.Call) -> list[ast.expr]:
    return [call.func.value] if isinstance(call.func, ast.Attribute) else []


def each_with_a_copy(tree: ast.AST, places: Collection[Place]) -> ast.AST | list[ast.stmt]:
    """Return a module in which some uses of an object leave it as it was for those that come later."""
    return _Copying(places).visit(tree)


def with_own_cursor(tree: ast.AST, place: Place) -> ast.AST | list[ast.stmt]:
    """Return a module in which a query has a cursor of its own, which later ones use too."""
    return _Copying([place], cursor=True).visit(tree)


class _Copying(ast.NodeTransformer):
    def __init__(self, places: Collection[Place], *, cursor: bool = False) -> None:
        self._places = places
        self._cursor = cursor
        self._own: set[str] | None = None

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        around, before = self._own, list[ast.stmt]()
        if isinstance(node, _FUNCTIONS):
            self._own = set(_bound(node))
        if isinstance(node, ast.stmt):
            uses = [each for each, _ in uses_in(_head(node)) if place_of(each) in self._places]
            for each in uses:
                before += ast.parse(self._preparing(each)).body
            if not self._cursor:
                node = _Replacing([place_of(each) for each in uses]).visit(node)
        changed = self.generic_visit(node)
        self._own = around
        return [*before, changed] if before and isinstance(changed, ast.stmt) else changed

    def _preparing(self, use: ast.expr) -> str:
        source = ast.unparse(use)
        own = self._own
        is_global = own is not None and isinstance(use, ast.Name) and use.id not in own
        target = f"globals()[{source!r}]" if is_global else source
        if self._cursor:
            return f"{target} = {source}.connection.cursor()"
        return f"{_COPY}, {target} = {_PAIR.replace('{source}', source)}"


class _Replacing(ast.NodeTransformer):
    def __init__(self, places: Collection[Place]) -> None:
        self._places = places

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Name | ast.Attribute) and place_of(node) in self._places:
            return expression(_COPY)
        return self.generic_visit(node)


def _head(statement: ast.stmt) -> ast.AST:
    """Return a statement without the statements in it."""
    parts = [
        each
        for each in ast.iter_child_nodes(statement)
        if isinstance(each, ast.expr | ast.withitem)
    ]
    head = ast.Tuple(elts=[each for each in parts if isinstance(each, ast.expr)], ctx=ast.Load())
    head.elts += [each.context_expr for each in parts if isinstance(each, ast.withitem)]
    return (
        ast.For(iter=statement.iter, target=head, body=[], orelse=[])
        if isinstance(statement, ast.For)
        else head
    )


def _bound(function: ast.AST) -> Iterator[str]:
    for each in ast.walk(function):
        if isinstance(each, ast.arg):
            yield each.arg
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
