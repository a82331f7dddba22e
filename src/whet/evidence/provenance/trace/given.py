"""Which argument of a call became an attribute of the object that it made."""

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from whet.evidence.provenance.run.recording import (
    CONTAINER,
    SCALAR,
    Call,
    Code,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import called_name, head
from whet.evidence.provenance.trace.trail import SIMPLE, Part

ADDING = {"append", "add", "appendleft", "put", "put_nowait"}
"""Methods that put what they are given into their object."""
_LEAST_TOGETHER = 2
HolderT = TypeVar("HolderT", bound=Value | None)
Given = tuple[ast.expr, Value | None]


def given_for(
    wanted: Part, expr: ast.Call, known: Sequence[Given], recording: Recording
) -> ast.expr | None:
    """Return the argument that is a part of what a call has made; None: nothing tells which.

    Args:
        wanted: the part.
        expr: the call.
        known: its arguments in their order, those by name last, and what they were.
        recording: the run.
    """
    by_name = (each.value for each in expr.keywords if each.arg == wanted.key)
    by_value = (
        given
        for given, value in known
        if value is not None and value.is_same(wanted.part) and wanted.part.words not in SIMPLE
    )
    return next(by_name, None) or next(by_value, None) or _by_place(wanted, expr, known, recording)


def adds_other(
    statement: ast.stmt | None, part: Value, value_of: Callable[[ast.expr], Value | None]
) -> bool:
    """Whether a statement is known to have put other scalars than a part into something."""
    added = [
        value_of(node.args[0])
        for node in head(statement)
        if isinstance(node, ast.Call) and called_name(node) in ADDING and len(node.args) == 1
    ]
    return bool(added) and all(
        each is not None and each.kind == SCALAR and not each.is_same(part) for each in added
    )


def lone(
    nodes: Iterable[ast.AST],
    value_of: Callable[[ast.expr], Value | None],
    flaw: Callable[[Value], bool] | None,
) -> tuple[ast.expr, Value] | None:
    """Return what names the only value of a line with a flaw; None: there are several, or none."""
    found: dict[int, tuple[ast.expr, Value]] = {}
    for node in nodes if flaw is not None else ():
        value = (
            value_of(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else None
        )
        if value is not None and flaw is not None and flaw(value) and isinstance(node, ast.expr):
            found.setdefault(id(value), (node, value))
    return next(iter(found.values())) if len(found) == 1 else None


def gave_part(wanted: Part, recording: Recording, moment: int) -> Step | None:
    """Return where a part came out of one of as many calls as there are parts, each with its own.

    So tasks, threads and processes give back what is gathered, in their order.
    """
    parts = [part for _, part in recording.parts(wanted.holder)]
    place = list(wanted.holder.parts).index(wanted.key) if wanted.key in wanted.holder.parts else -1
    if place < 0 or len(parts) < _LEAST_TOGETHER or not wanted.holder.is_whole:
        return None
    by_code: dict[Code, list[Call]] = {}
    for call in recording.calls:
        if call.began < moment:
            by_code.setdefault(call.code, []).append(call)
    for calls in by_code.values():
        results = [next(each.results, None) for each in calls]
        if len(results) != len(parts) or results[place] is None:
            continue
        known = [
            (each, part) for each, part in zip(results, parts, strict=True) if each is not None
        ]
        if all(part.is_same(each.result) for each, part in known):
            return results[place]
    return None


def _by_place(
    wanted: Part, expr: ast.Call, known: Sequence[Given], recording: Recording
) -> ast.expr | None:
    """Return the argument instead of the part, where all others are in theirs: a record's."""
    parts = list(recording.parts(wanted.holder))
    names = [name for name, _ in parts]
    if wanted.key not in names[: len(expr.args)] or len(parts) < len(expr.args):
        return None
    if any(isinstance(each, ast.Starred) for each in expr.args):
        return None
    for (_, part), (_, value) in zip(parts, known[: len(expr.args)], strict=False):
        if value is not None and not value.is_same(part):
            return None
    return expr.args[names.index(wanted.key)]


def changed_place(
    recording: Recording, holder: HolderT, key: str, target: Value | None, moment: int
) -> tuple[HolderT | Value, str]:
    """Return the part under a key and where in it a line has put a value since it was made.

    Args:
        recording: of the run.
        holder: what holds the part under the key; without such a change it is returned as it is.
        key: the key.
        target: the value.
        moment: when it was there.
    """
    part = recording.part(holder, key)
    if part is None or target is None or part.kind != CONTAINER or target.kind != SCALAR:
        return holder, key
    for inner, value in recording.parts(part):
        found = recording.first_with(part, inner, moment) if value.is_same(target) else None
        states = recording.history(part.number)
        if found is not None and states and found is not states[0]:
            return part, inner
    return holder, key
