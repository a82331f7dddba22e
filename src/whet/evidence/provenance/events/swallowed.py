"""Errors that the program swallowed, in an ``__exit__`` that returned a true value or in a handler."""

import ast
from collections.abc import Iterable, Iterator

from whet.core.value_class import value_class
from whet.evidence.provenance.events.missing import caught
from whet.evidence.provenance.failure.suspects import CONTROL_FLOW, Failing, Suspect
from whet.evidence.provenance.run.recording import Call, Raised, Recording, Step
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.trace.trail import Trail

_EXITS = {"__exit__", "__aexit__"}
_FALSE = {"None", "False", "0", "''", "0.0"}


@value_class
class Swallowed:
    """An error, and the return that has ended it."""

    error: Raised
    result: Step


def swallowed_before(failing: Failing, recording: Recording) -> Iterator[Swallowed]:
    """Yield the errors that were swallowed so before a failure, the last first, each line once."""
    told: set[tuple[str, int]] = set()
    for call in reversed(recording.calls):
        if call.code.short not in _EXITS or call.began > failing.error.moment:
            continue
        result = next((each for each in call.results if each.begin < failing.error.moment), None)
        error = _under_way(call, recording)
        if result is None or result.result is None or error is None:
            continue
        value = result.result
        is_true = value.words not in _FALSE and not (value.kind == "container" and not value.size)
        goes_on = any(
            each.number == error.number and each.moment > result.begin for each in recording.errors
        )
        place = (call.code.path, result.line)
        if is_true and not goes_on and place not in told:
            told.add(place)
            yield Swallowed(error, result)


def _under_way(call: Call, recording: Recording) -> Raised | None:
    """Return the error that a context manager was left with; None: with none."""
    given = [value for held in call.held.values() for moment, value in held if moment == call.began]
    for error in reversed(recording.errors):
        if error.moment > call.began or error.type in CONTROL_FLOW:
            continue
        if any(value is not None and value.number == error.number for value in given):
            # The same error where it came by first, further in.
            return next(each for each in recording.errors if each.number == error.number)
    return None


@value_class
class HalfDone:
    """An error that was caught, and what the same `try` had done before it came up."""

    error: Raised
    caught: tuple[Call, int]
    before: tuple[ast.stmt, ...]


def half_done_before(
    failing: Failing, recording: Recording, sources: Sources
) -> Iterator[HalfDone]:
    """Yield the errors whose handlers let stand what the `try` had changed, the last first, each line once."""
    told: set[tuple[str, int]] = set()
    for error in reversed(recording.errors):
        if error.type in CONTROL_FLOW or error.moment >= failing.error.moment:
            continue
        there = caught(recording, error)
        if there is None or error.number == failing.error.number:
            continue
        path = there[0].code.path
        through = [
            e.line for e in recording.errors if e.number == error.number and e.call is there[0]
        ]
        for tried in ast.walk(sources[path].tree):
            if not isinstance(tried, ast.Try) or not through:
                continue
            reached = [n for n, each in enumerate(tried.body) if _spans(each, through[-1])]
            before = tuple(filter(_changes, tried.body[: reached[0]])) if reached else ()
            is_caught = any(_spans(each, there[1]) for each in tried.handlers)
            if before and is_caught and (path, through[-1]) not in told:
                told.add((path, through[-1]))
                yield HalfDone(error, there, before)


def _spans(node: ast.stmt | ast.excepthandler, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _changes(statement: ast.stmt) -> bool:
    """Whether a statement may have changed more than a variable of its function."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call | ast.Await)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AugAssign) else targets
    return any(isinstance(each, ast.Attribute | ast.Subscript) for each in targets)


def fallbacks_on(trail: Trail, recording: Recording, sources: Sources) -> set[tuple[str, int]]:
    """Return where the errors came up whose handlers gave the value of a trail."""
    found: set[tuple[str, int]] = set()
    for hop in trail.hops:
        if hop.step is not None and recording.called_in(hop.step):
            continue  # what the handler has called made the value, and may be what is wrong
        for tried in ast.walk(sources[hop.path].tree):
            if not isinstance(tried, ast.Try) or not any(
                _spans(each, hop.line) and not isinstance(each.body[-1], ast.Raise)
                for each in tried.handlers
            ):
                continue
            first, last = tried.body[0].lineno, tried.body[-1].end_lineno or 0
            caught = [
                each
                for each in recording.errors
                if each.call is hop.call and first <= each.line <= last
            ]
            for each in caught:
                begun = next(one for one in recording.errors if one.number == each.number)
                found.add((begun.call.code.path, begun.line))
    return found


def used_error(
    failing: Failing, recording: Recording, suspects: Iterable[Suspect]
) -> tuple[Suspect, Raised] | None:
    """Return the error that a failing line takes for another value, and where it was raised."""
    about = " ".join(part.words for _, part in recording.parts(failing.error.arguments))
    for suspect in suspects:
        held = (suspect.value, *(part for _, part in recording.parts(suspect.value)))
        objects = {(each.number, each.type.rpartition(".")[2]) for each in held if each.number}
        for error in recording.errors:
            kind = error.type.rpartition(".")[2]
            is_earlier = error.moment < failing.error.moment
            if is_earlier and (error.number, kind) in objects and f"'{kind}'" in about:
                return suspect, error
    return None


def tests_for(kind: str, tree: ast.AST) -> bool:
    """Whether a program tells errors from other values: it means to have one of a type."""
    names = {kind.rpartition(".")[2], "Exception", "BaseException"}
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"isinstance", "issubclass"}
        and any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))
        for node in ast.walk(tree)
    )
