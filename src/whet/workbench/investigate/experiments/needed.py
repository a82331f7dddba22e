"""Whether the failing run used the code that a small change is about."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from whet.evidence.experiments.bound_otherwise import GIVEN_AGAIN, SCALARS
from whet.evidence.experiments.bound_otherwise import SCALAR as ONE_SCALAR
from whet.evidence.experiments.changes import Needed
from whet.evidence.experiments.inherited_otherwise import HAS_RUN
from whet.evidence.experiments.repairs import SETS_MODULES
from whet.evidence.experiments.shaped_otherwise import EACH_WITH_EACH, NARROW
from whet.evidence.experiments.taken_otherwise import ITERATOR, MAKES_KEYS, MARKED, SPELT, TRUTH
from whet.evidence.provenance.failure.unlike import Spread, spread_in
from whet.evidence.provenance.run.recording import (
    ARRAY,
    CONTAINER,
    OBJECT,
    SCALAR,
    Call,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.trace.walk import Walk

_ITERATORS = frozenset(
    {"generator", "map", "filter", "zip", "enumerate", "reversed", "_csv.reader", "csv.DictReader"}
)
_MARK = r"\ufeff"
_NARROW_KIND, _WIDE_KIND = (
    re.compile(kinds)
    for kinds in (r"(uint\d+|int(8|16|32))\Z", r"(int64|float\d+|complex\d+|object)\Z")
)
_MOST_STEPS = 100
_CHANGING = frozenset({CONTAINER, OBJECT, ARRAY})


def is_met(needs: Needed | None, path: str, recording: Recording | None) -> bool:
    """Return whether a run had what a change needs; not so if nothing is known of the run."""
    if needs is None:
        return True
    if recording is None:
        return False
    if needs.is_met_by == MARKED:
        return any(_MARK in each.words or _MARK in "".join(each.parts) for each in recording.values)
    asked = _ASKED.get(needs.is_met_by)
    if asked is not None:
        return asked(needs, path, recording)
    values = _values(ast.parse(needs.expression, mode="eval").body, path, recording)
    if needs.is_met_by == ITERATOR:
        return any(each.type in _ITERATORS or each.type.endswith("iterator") for each in values)
    if needs.is_met_by in {SCALARS, ONE_SCALAR}:
        is_one = needs.is_met_by == ONE_SCALAR
        targets = (
            values if is_one else (part for each in values for _, part in recording.parts(each))
        )
        return {each.kind for each in targets} == {SCALAR}
    twice = _held_twice(recording)
    return any(each.number in twice for each in values)


def _is_each_with_each(needs: Needed, path: str, recording: Recording) -> bool:
    """Whether an operation has met a row of n numbers with a column of as many."""
    found = _spread_in(recording)
    if found is None or (found.step.frame.code.path, found.step.line) != (path, needs.lines[0]):
        return False
    return all(ast.unparse(operand) in needs.expression for operand, _ in found.operands)


def _is_narrow(needs: Needed, path: str, recording: Recording) -> bool:
    """Whether an operation had integers of fewer than 64 bits, or without a sign, and no other arrays."""
    expr = ast.parse(needs.expression, mode="eval").body
    operands = [expr.left, expr.right] if isinstance(expr, ast.BinOp) else [expr]
    for values in _each_time(operands, needs, path, recording):
        kinds = {_kind(each) for each in values}
        if any(map(_NARROW_KIND.match, kinds)) and not any(map(_WIDE_KIND.match, kinds)):
            return True
    return False


def _each_time(
    asked: Sequence[ast.expr], needs: Needed, path: str, recording: Recording
) -> Iterator[list[Value | None]]:
    """Yield what some expressions were, each time that a change's line was run."""
    walk, steps = _walk(recording), _steps_by_line(recording)
    for step in (each for line in needs.lines for each in steps.get((path, line), ())):
        yield [walk.now.value(each, step.frame, step) for each in asked]


@lru_cache(maxsize=1)
def _steps_by_line(recording: Recording) -> dict[tuple[str, int], list[Step]]:
    """Return the first steps of each line."""
    steps: dict[tuple[str, int], list[Step]] = {}
    for each in recording.steps:
        here = steps.setdefault((each.frame.code.path, each.line), [])
        if each.result is None and len(here) < _MOST_STEPS:
            here.append(each)
    return steps


def _is_bool(needs: Needed, path: str, recording: Recording) -> bool:
    """Whether what a line calls was `bool`."""
    called = ast.parse(needs.expression, mode="eval").body
    values = (value for (value,) in _each_time([called], needs, path, recording))
    return any(each is not None and each.type == "type" and "bool" in each.words for each in values)


def _makes_keys(needs: Needed, path: str, recording: Recording) -> bool:
    """Whether what a line looks into was a `defaultdict`."""
    holder = ast.parse(needs.expression, mode="eval").body
    values = (value for (value,) in _each_time([holder], needs, path, recording))
    return any(e is not None and e.type.rpartition(".")[2] == "defaultdict" for e in values)


def _kind(value: Value | None) -> str:
    """Return what numbers a value holds: `uint8`; empty: not known, or a number of Python's."""
    if value is None:
        return ""
    return str(value.facts.get("dtype", "")) or value.type.removeprefix("numpy.")


@lru_cache(maxsize=1)
def _walk(recording: Recording) -> Walk:
    return Walk(recording, Sources())


@lru_cache(maxsize=1)
def _spread_in(recording: Recording) -> Spread | None:
    sources = Sources()
    return spread_in(recording, sources, Walk(recording, sources), sys.maxsize)


def given_as_text(needs: Needed, path: str, recording: Recording) -> tuple[str, int] | None:
    """Return where a call was given a text for what others were given a list, a tuple or a set."""
    calls: list[tuple[Call, Value]] = []
    for call in recording.calls:
        (_, value), *_ = call.held.get(needs.expression) or [(0, None)]
        is_it = call.code.path == path and needs.expression in call.given
        if is_it and value is not None and any(step.line in needs.lines for step in call.steps):
            calls.append((call, value))
    texts = [call for call, value in calls if value.type == "str"]
    is_mixed = any(value.kind == CONTAINER for _, value in calls)
    parents = [(each.parent.code.path, each.line) for each in texts if each.parent is not None]
    return parents[-1] if parents and is_mixed else None


def _values(expr: ast.expr, path: str, recording: Recording) -> Iterator[Value]:
    """Yield all that a variable, or an attribute of one, was seen to hold in a file."""
    if isinstance(expr, ast.Attribute):
        for holder in _values(expr.value, path, recording):
            part = recording.part(holder, expr.attr)
            if part is not None:
                yield part
    elif isinstance(expr, ast.Name):
        for call in recording.calls:
            if call.code.path == path:
                yield from (each for _, each in call.held.get(expr.id, ()) if each is not None)


def _is_given_again(needs: Needed, path: str, recording: Recording) -> bool:
    """Whether a later call of the same function got the same object, with less in it."""
    sizes: dict[int, int] = {}
    for call in recording.calls:
        (_, value), *_ = call.held.get(needs.expression) or [(0, None)]
        is_it = call.code.path == path and needs.expression in call.given
        if value is None or not is_it or value.kind != CONTAINER:
            continue
        if value.size < sizes.get(value.number, 0):
            return True
        sizes[value.number] = value.size
    return False


def _held_twice(recording: Recording) -> set[int]:
    """Return the numbers of the objects that a container, or the records in it, held more than once."""
    ids: set[int] = set()
    for value in recording.values:
        if value.kind == CONTAINER and len(value.parts) > 1:
            counts = Counter(
                number for _, part in recording.parts(value) for number in _numbers(part, recording)
            )
            ids |= {number for number, times in counts.items() if times > 1}
    return ids


def _numbers(part: Value, recording: Recording) -> set[int]:
    """Return the number of an object and, of a record, those of the objects in it."""
    inside = [each for _, each in recording.parts(part)] if part.kind == CONTAINER else []
    return {each.number for each in (part, *inside) if each.kind in _CHANGING}


def _sets_modules(_needs: Needed, _path: str, recording: Recording) -> bool:
    """Whether a file that has run sets variables of modules other than by running them from their start."""
    sources = Sources()
    return any(map(_sets_any, {sources[each.code.path].tree for each in recording.calls}))


def _sets_any(tree: ast.Module) -> bool:
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    top = {id(each) for each in tree.body}
    for node in ast.walk(tree):
        match node:
            case ast.Global():
                return True
            case ast.Subscript(value=ast.Call(func=ast.Name(id="globals")), ctx=ast.Store()):
                return True
            case ast.Attribute(value=ast.Name(id=name), ctx=ast.Store()) if name in imported:
                return True
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=name), *_]) if (
                name in imported
            ):
                return True
            case ast.If() if id(node) in top and "__name__" in ast.unparse(node.test):
                if any(isinstance(each, ast.Assign) for each in node.body):
                    return True
            case _:
                pass
    return False


_ASKED: dict[str, Callable[[Needed, str, Recording], bool]] = {
    SPELT: lambda needs, path, recording: given_as_text(needs, path, recording) is not None,
    EACH_WITH_EACH: _is_each_with_each,
    NARROW: _is_narrow,
    TRUTH: _is_bool,
    MAKES_KEYS: _makes_keys,
    SETS_MODULES: _sets_modules,
    GIVEN_AGAIN: _is_given_again,
    HAS_RUN: lambda needs, path, recording: any(
        (each.code.path, each.code.first_line) == (path, needs.lines[0]) for each in recording.calls
    ),
}
