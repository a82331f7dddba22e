"""What attempts of the same work made anew, and the changes by which the first one's value is used again."""

import ast
from collections.abc import Iterable, Iterator

from whet.core.value_class import value_class
from whet.evidence.experiments.changes import Change
from whet.evidence.experiments.retried_otherwise import (
    CALLER,
    OWN,
    is_whole,
    made_in,
    made_once,
    parameters_of,
    retrying_loops,
)
from whet.evidence.provenance.run.control import is_in
from whet.evidence.provenance.run.recording import Call, Raised, Recording, Step
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.trace.moments import Moments

_MOST_CHANGES = 6
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@value_class(eq=False)
class _Again:
    """A piece of work that was tried again after an error.

    Attributes:
        says: what is done again, in words.
        path: its file.
        body: what each attempt runs.
        names: what tells one piece of work from another one.
        rounds: what the loop goes through that tries again; None: each attempt is a call, or there is nothing.
        within: in whose calls its values are made once.
        attempts: the lines of two of them.
    """

    says: str
    path: str
    body: tuple[ast.stmt, ...]
    names: tuple[str, ...]
    attempts: tuple[list[Step], list[Step]]
    within: str = OWN
    rounds: ast.expr | None = None


def retried_changes(recording: Recording) -> list[tuple[str, Change]]:
    """Return the changes by which what differs between attempts of the same work is made once."""
    sources, found = Sources(), dict[tuple[str, str], tuple[bool, str, Change]]()
    now = Moments(recording, sources)
    for again in (*_calls(recording, sources), *_rounds(recording, sources)):
        source = sources[again.path].text
        for made in made_in(again.body):
            values = [_value(made, steps, now) for steps in again.attempts]
            is_known = None not in values
            if (is_known and values[0] == values[1]) or not is_whole(source, made):
                continue
            text = made_once(source, made, again.names, again.rounds, within=again.within)
            what = f"`{sources[again.path].said(made)}` gives another value when {again.says}"
            change = Change(
                node=made, what=what, instead="the value of the first attempt", edit=lambda _: None,
                is_checked=True, is_weighed=True, text=text, advice="by making it once, before the first attempt",
            )  # fmt: skip
            found.setdefault((again.path, text), (not is_known, again.path, change))
    ordered = sorted(found.values(), key=lambda each: each[0])
    return [(path, change) for _, path, change in ordered][:_MOST_CHANGES]


def _value(made: ast.expr, steps: Iterable[Step], now: Moments) -> str | None:
    """Return what an expression was in an attempt, as it is written; None: that isn't known."""
    last = made.end_lineno or made.lineno
    for step in steps:
        if made.lineno <= step.line <= last:
            value = now.outcome(made, step)
            return None if value is None or value.number else value.words
    return None


def _calls(recording: Recording, sources: Sources) -> Iterator[_Again]:
    """Yield the functions that were called again, with the same, by what had called them, after an error."""
    errors: dict[int, Raised] = {each.call.index: each for each in recording.errors}
    caught = {(each.call.index, each.number, each.type) for each in recording.errors}
    last: dict[tuple[int, int], Call] = {}
    seen = set[int]()
    for call in recording.calls:
        if call.parent is None:
            continue
        key = (call.parent.index, id(call.code))
        before, last[key] = last.get(key), call
        error = None if before is None else errors.get(before.index)
        if before is None or error is None or id(call.code) in seen:
            continue
        if (call.parent.index, error.number, error.type) not in caught:
            continue  # it hasn't left the call
        function = sources[call.code.path].node_of(call.code)
        if isinstance(function, _FUNCTIONS) and _is_same(before, call, recording):
            seen.add(id(call.code))
            yield _Again(
                f"`{call.code.short}` is called again after {error.type.rpartition('.')[2]}",
                call.code.path, tuple(function.body), tuple(parameters_of(function)),
                (before.steps, call.steps), within=CALLER,
            )  # fmt: skip


def _is_same(one: Call, other: Call, recording: Recording) -> bool:
    """Whether two calls were given the same, as far as that is known of something."""
    pairs = [
        [recording.held(each, name, each.began) for each in (one, other)] for name in one.given
    ]
    known = [before.is_same(after) for before, after in pairs if before and after]
    return all(known) and bool(known or not pairs)


def _rounds(recording: Recording, sources: Sources) -> Iterator[_Again]:
    """Yield the loops that went on with the same after an error that they had caught."""
    seen = set[ast.AST]()
    for error in recording.errors:
        call = error.call
        function = sources[call.code.path].node_of(call.code)
        for loop, tried in retrying_loops(function) if function is not None else ():
            if tried in seen or not is_in(tried.body, error.line):
                continue
            lines = [each for each in call.steps if each.result is None]
            before = [e for e in lines if e.begin <= error.moment and is_in(loop.body, e.line)]
            after = [e for e in lines if e.begin > error.moment and is_in(loop.body, e.line)]
            if any(is_in(tried.body, each.line) for each in after):
                seen.add(tried)
                yield _Again(
                    f"the loop at line {loop.lineno} goes on after {error.type.rpartition('.')[2]}",
                    call.code.path, tuple(loop.body), (), (before[::-1], after),
                    rounds=loop.iter if isinstance(loop, ast.For) else None,
                )  # fmt: skip
