"""What a statement was given that the failed value comes from."""

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from whet.evidence.provenance.failure.way import Way
from whet.evidence.provenance.run.recording import (
    ARRAY,
    CONTAINER,
    OBJECT,
    SCALAR,
    Call,
    Raised,
    Recording,
    Value,
)
from whet.evidence.provenance.run.source import Sources, changed_in, handed_over

_CHANGING = frozenset({CONTAINER, OBJECT, ARRAY})
_LEAST_CHARACTERS = 6
"""A shorter text may be the same by chance."""
_SELF = {"self", "cls"}
"""All methods of an object have it: alone it ties nothing."""


class Shared:
    """Compares what two statements had: the same object that can change, or the same long text."""

    def __init__(self, recording: Recording | None, way: Way | None) -> None:
        """Compare with what a value came by; with None nothing is known of it."""
        self._recording = recording
        self._way = way
        self._sources = Sources()

    def name(self, path: str, node: ast.expr | ast.stmt) -> str:
        """Return what a statement, or a part of it, calls the first such thing; empty: there is none."""
        lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        own = {(path, line) for line in lines}
        return self._first(self._had(path, lines, [*handed_over(node), *_named(node)]), own)

    def has_passed(self, path: str, line: int) -> bool:
        """Whether the failed value came by a line."""
        return self._way is not None and (path, line) in self._way.followed

    def lost(self, path: str, line: int) -> str:
        """Return what the error of a line kept from being changed, and the failed value comes from."""
        errors = () if self._recording is None else self._recording.errors
        numbers = {e.number for e in errors if (e.call.code.path, e.line) == (path, line)}
        return self._first(
            (ast.unparse(each), value)
            for error in errors
            if error.number in numbers
            for each in self._changed_from(error)
            for value in self._values(each, error.call)
        )

    def _changed_from(self, error: Raised) -> Iterator[ast.expr]:
        """Yield what a function changes from the line on that an error went through."""
        source = self._sources[error.call.code.path]
        node = source.node_of(error.call.code)
        for each in ast.walk(node) if node is not None else ():
            if isinstance(each, ast.stmt) and (each.end_lineno or 0) >= error.line:
                yield from changed_in(each)

    def _first(
        self, values: Iterable[tuple[str, Value]], own: Collection[tuple[str, int]] = ()
    ) -> str:
        """Return the first that was also had where the failed value came by, but for some lines."""
        failing = None if self._way is None else self._way.failing
        others = (keys for at, keys in self._on_the_way.items() if at == failing or at not in own)
        found = set[object]().union(*others) - {None}
        return next((name for name, value in values if _key(value) in found), "")

    @cached_property
    def _on_the_way(self) -> dict[tuple[str, int], set[object]]:
        found: dict[tuple[str, int], set[object]] = {}
        for path, line in () if self._way is None else {self._way.failing, *self._way.followed}:
            statement = self._sources[path].statement(line)
            named = () if statement is None else _named(statement, holders=True)
            found[path, line] = {_key(value) for _, value in self._had(path, (line,), named)}
        return found

    def _had(
        self, path: str, lines: Iterable[int], named: Iterable[ast.expr]
    ) -> Iterator[tuple[str, Value]]:
        """Yield what expressions held in the calls that ran one of some lines, in the program's words."""
        wanted, many = set(lines), list(named)
        for call in () if self._recording is None else self._recording.calls:
            if call.code.path != path or all(step.line not in wanted for step in call.steps):
                continue
            for each in many:
                name = ast.unparse(each)
                for value in self._values(each, call):
                    yield name, value

    def _values(self, expr: ast.expr, call: Call) -> Iterator[Value]:
        if isinstance(expr, ast.Name):
            yield from (each for _, each in call.held.get(expr.id, ()) if each is not None)
        elif isinstance(expr, ast.Attribute) and self._recording is not None:
            for holder in self._values(expr.value, call):
                part = self._recording.part(holder, expr.attr)
                if part is not None:
                    yield part


def _named(statement: ast.expr | ast.stmt, *, holders: bool = False) -> list[ast.expr]:
    """Return the variables and attributes that a statement reads, but for the functions that it calls.

    What something is an attribute of counts as read with ``holders``, or if a method of it is called.
    """
    nodes = list(ast.walk(statement))
    called = {id(each.func) for each in nodes if isinstance(each, ast.Call)}
    left_out = called | {
        id(each.value)
        for each in nodes
        if isinstance(each, ast.Attribute) and id(each) not in called and not holders
    }
    return [
        each
        for each in nodes
        if isinstance(each, ast.Name | ast.Attribute)
        and isinstance(each.ctx, ast.Load)
        and id(each) not in left_out
        and not (isinstance(each, ast.Name) and each.id in _SELF)
    ]


def _key(value: Value) -> object:
    """Return what is the same only of the same thing; None: it may be the same by chance."""
    if value.kind in _CHANGING and value.number:
        return value.number
    words = value.words
    if value.type.startswith("pathlib."):
        words = words.partition("(")[2].removesuffix(")")
    elif value.kind != SCALAR or value.type != "str":
        return None
    return words if len(words) > _LEAST_CHARACTERS + 1 else None
