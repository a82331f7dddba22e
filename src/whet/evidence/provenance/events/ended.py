"""Which line closed an object before its use, or took a lock that others wait for."""

import ast
import re
from collections.abc import Iterator

from whet.core.value_class import value_class
from whet.evidence.provenance.events.iterated import gone_through
from whet.evidence.provenance.failure.suspects import Failing
from whet.evidence.provenance.run.recording import Recording, Step, Value
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.trace.walk import Walk

_SAYS_CLOSED = re.compile(r"closed|shut ?down|not open|uninitialized|detached", re.IGNORECASE)
_SAYS_LOCKED = re.compile(r"database (?:table )?is locked")
_FLAGS = re.compile(r"_?(?:is_)?(?:closed|shutdown|shut_down|stopped|finished|done)")
_CLOSED, _TRANSACTION = "closed", "in a transaction"


@value_class
class Ended:
    """A line after which something was in another state.

    Attributes:
        value: what it was then.
        said: its name on the failing line; empty: it is behind an object that the line names.
        step: the line.
    """

    value: Value
    said: str
    step: Step


@value_class
class Dropped:
    """A transaction that was never committed.

    Attributes:
        began: the line that wrote first.
        closed: the line that closed the connection.
    """

    began: Step
    closed: Step


def closed_before(
    failing: Failing, recording: Recording, sources: Sources, walk: Walk
) -> Ended | None:
    """Return the line that has closed what the failing line uses; None: that isn't why it failed."""
    if not _SAYS_CLOSED.search(_words(failing, recording)):
        return None
    for said, value in _used(failing, sources, walk):
        step = _since(recording, value, failing, _CLOSED)
        if step is not None:
            return Ended(value, said, step)
    return None


def kept_waiting(failing: Failing, recording: Recording, walk: Walk) -> Ended | None:
    """Return the line that has begun what another connection to a database waits for.

    This knows Python's own sqlite3 and nothing else: no other module shows what it waits for.
    """
    if not _SAYS_LOCKED.search(_words(failing, recording)):
        return None
    own = {
        value.number
        for node in ast.walk(failing.node)
        if (value := walk.now.value(node, failing.call, failing.step)) is not None
    }
    found: list[Ended] = []
    for number in recording.objects:
        history = recording.history(number)
        value = history[-1].value
        if number not in own and value.type == "sqlite3.Connection":
            step = _since(recording, value, failing, _TRANSACTION)
            if step is not None:
                found.append(Ended(value, "", step))
    return found[0] if len(found) == 1 else None


def dropped_before(failing: Failing, recording: Recording) -> Iterator[Dropped]:
    """Yield the transactions that were closed with their connection: nothing of them is kept."""
    for number in recording.objects:
        seen = [e for e in recording.history(number) if e.moment <= failing.error.moment]
        began: Step | None = None
        for each in seen:
            if each.value.words == _TRANSACTION:
                began = began or each.step
                continue
            if each.value.words == _CLOSED and began is not None and each.step is not None:
                yield Dropped(began, each.step)
            began = None


def _words(failing: Failing, recording: Recording) -> str:
    return " ".join(part.words for _, part in recording.parts(failing.error.arguments))


def _used(failing: Failing, sources: Sources, walk: Walk) -> Iterator[tuple[str, Value]]:
    """Yield what the failing line uses, and what that was made of."""
    source = sources[failing.call.code.path]
    for node in ast.walk(failing.node):
        if isinstance(node, ast.Name | ast.Attribute):
            value = walk.now.value(node, failing.call, failing.step)
            if value is not None:
                yield source.said(node), value
                trail = walk.back(node, failing.call, failing.step, value, None)
                for hop in trail.hops:
                    if hop.expr is not None and hop.step is not None:
                        for _, behind in walk.now.operands(ast.Expr(hop.expr), hop.call, hop.step):
                            if behind is not None:
                                yield "", behind
    yield from (("", value) for value in gone_through(failing, sources, walk))


def _since(recording: Recording, value: Value, failing: Failing, state: str) -> Step | None:
    """Return the line since which something is in a state; None: it isn't, or always was."""
    seen = [each for each in recording.history(value.number) if each.moment <= failing.error.moment]
    seen = [each for each in seen if each.value.type == value.type]
    if not seen or not _is_in(recording, seen[-1].value, state):
        return None
    for before, after in zip(reversed(seen[:-1]), reversed(seen), strict=False):
        if not _is_in(recording, before.value, state):
            return after.step if after.has_changed else None
    return None


def _is_in(recording: Recording, value: Value, state: str) -> bool:
    """Whether something is in a state, by its own words or by a flag that it keeps."""
    if value.words == state:
        return True
    return state == _CLOSED and any(
        _FLAGS.fullmatch(name) and part.words == "True" for name, part in recording.parts(value)
    )
