"""Which line changed a collection while a loop iterated over it."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import Failing
from whet.evidence.provenance.run.recording import (
    CONTAINER,
    Call,
    ObjectState,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import Comprehension, Sources
from whet.evidence.provenance.trace.walk import Walk

_CHANGED = re.compile(r"(changed size|keys changed|mutated) during iteration")


@value_class
class Resized:
    """A container had another size after a line.

    Attributes:
        before: what it held before the line.
        after: what it held after it, and the line.
    """

    before: Value
    after: ObjectState


def resized_in_loop(
    failing: Failing, recording: Recording, sources: Sources, walk: Walk
) -> Resized | None:
    """Return the line of a loop's last round that has changed what the loop goes through.

    Returns:
        None if that isn't why it failed, or if nothing tells which of several containers it is.
    """
    words = " ".join(part.words for _, part in recording.parts(failing.error.arguments))
    if failing.error.type != "RuntimeError" or not _CHANGED.search(words):
        return None
    begun = _round_begun(failing)
    found: list[Resized] = []
    for number in recording.objects:
        history = recording.history(number)
        for before, after in pairwise(history):
            is_then = begun < after.moment <= failing.error.moment and after.has_changed
            is_it = before.value.kind == CONTAINER and before.value.type == after.value.type
            if is_then and is_it and before.value.size != after.value.size:
                if _is_of(words, before.value):
                    found.append(Resized(before.value, after))
                break
    if len(found) > 1:
        own = {each.number for each in gone_through(failing, sources, walk) if each.number}
        found = [each for each in found if each.before.number in own]
    return found[0] if len(found) == 1 else None


def gone_through(failing: Failing, sources: Sources, walk: Walk) -> Iterator[Value]:
    """Yield what the loop goes through, and what that is a view of."""
    source, call, step = sources[failing.call.code.path], failing.call, failing.step
    own, made = source.node_of(call.code), walk.now.maker(call)
    statement = source.statement(failing.error.line)
    expr = failing.node if isinstance(failing.node, ast.expr) else None
    begun = [step]
    if isinstance(own, Comprehension) and made is not None:
        expr, call, begun = own.generators[0].iter, made[0], [made[1]]
    elif isinstance(statement, ast.For | ast.AsyncFor):
        # The first time of a loop's line it is asked what to go through.
        expr = statement.iter
        begun += [each for each in call.steps if each.line == failing.error.line and each.end]
    if expr is None:
        return
    places: list[tuple[ast.expr, Call, Step]] = []
    for then in begun:
        trail = walk.back(expr, call, then, walk.now.value(expr, call, then), None)
        places.append((expr, call, then))
        places += [(hop.expr, hop.call, hop.step) for hop in trail.hops if hop.expr and hop.step]
    for place in places:
        for each in walk.now.gone_through(place[0]):
            value = walk.now.value(each, *place[1:])
            if value is not None:
                yield value


def _round_begun(failing: Failing) -> int:
    """Return when the round of the loop began that was its last one."""
    call, until = failing.call, failing.step.since or failing.step.begin
    rounds = [
        step.begin
        for step in call.steps
        if step.line == failing.error.line and step.result is None and step.begin < until
    ]
    return rounds[-1] if rounds else call.began


def _is_of(words: str, value: Value) -> bool:
    """Whether an error speaks of such a container."""
    kind = value.type.rpartition(".")[2].casefold()
    return kind[:4] in words.casefold() or (kind in {"defaultdict", "counter"} and "dict" in words)
