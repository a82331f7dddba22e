"""Keys of one dict that look equal and aren't: a number, and the same number as text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whet.core.observations.clue import Clue, Sureness
from whet.core.value_class import value_class
from whet.evidence.provenance.recording import CONTAINER, ObjectState, Recording, Value
from whet.evidence.provenance.suspects import Failing
from whet.evidence.provenance.walk import Walk
from whet.evidence.provenance.wording import Wording

_NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")
_MOST_DEPTH = 4


@value_class
class Twins:
    """Two keys of one dict.

    Attributes:
        holder: the dict.
        first, second: the keys, as the program would write them; the second was added later.
        before, after: when it was first seen to hold them.
    """

    holder: Value
    first: str
    second: str
    before: ObjectState
    after: ObjectState


@dataclass(slots=True)
class KeyClues(Wording):
    """Tells them.

    Attributes:
        walk: goes back through the run.
    """

    walk: Walk

    def twins(self, failing: Failing) -> Iterator[Clue]:
        """Report a number and its text as two keys of a dict: they were meant to be one."""
        twins = twin_keys(failing, self.recording)
        step = None if twins is None else twins.after.step
        if twins is None or step is None:
            return
        path, former = step.frame.code.path, twins.before.step
        there = (
            "" if former is None else f" of {self.place_of(former.frame.code.path, former.line)}"
        )
        yield self.clue(
            f"{self.place_of(path, step.line)} added the key `{twins.second}` to a dict that has the"
            f" key `{twins.first}`{there}: a number and its text are two keys",
            path, step.line, Sureness.SEEN,
        )  # fmt: skip


def twin_keys(failing: Failing, recording: Recording) -> Twins | None:
    """Return two keys of a dict that the failing calls could reach; None: there are none."""
    moment = failing.error.moment
    for holder in _reached(failing, recording):
        for key in holder.parts:
            text = repr(key)
            if not _NUMBER.match(key) or text not in holder.parts:
                continue
            seen = [(_first_with(recording, holder, each, moment), each) for each in (key, text)]
            known = sorted(
                ((one.moment, each, one) for one, each in seen if one is not None),
                key=lambda each: each[0],
            )
            if len({each[0] for each in known}) == len(seen):
                (_, first, before), (_, second, after) = known
                return Twins(holder, first, second, before, after)
    return None


def _first_with(recording: Recording, holder: Value, key: str, moment: int) -> ObjectState | None:
    """Return when a dict was first seen to have a key, whatever was under it."""
    for seen in recording.history(holder.number):
        if seen.moment <= moment and seen.value.type == holder.type and key in seen.value.parts:
            return seen
    return None


def _reached(failing: Failing, recording: Recording) -> Iterator[Value]:
    """Yield the dicts that variables of the calls under way lead to."""
    met: set[int] = set()
    waiting = [
        (value, 0)
        for call in failing.call.around
        for name in call.held
        if (value := recording.held(call, name, failing.error.moment)) is not None
    ]
    while waiting:
        value, depth = waiting.pop(0)
        if not value.number or value.number in met or depth > _MOST_DEPTH:
            continue
        met.add(value.number)
        if value.kind == CONTAINER and "dict" in value.type.lower():
            yield value
        waiting += [(part, depth + 1) for _, part in recording.parts(value)]
