"""Why a key is missing: removed, skipped, lost in an error, or present in another form."""

import ast
import re
from collections.abc import Iterable

from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import CONTROL_FLOW
from whet.evidence.provenance.run.recording import (
    OBJECT,
    SCALAR,
    Call,
    ObjectState,
    Raised,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import Sources, called_name, head
from whet.evidence.provenance.trace.alike import as_it_looks
from whet.evidence.provenance.trace.records import Record, Records
from whet.evidence.provenance.trace.trail import End, Trail
from whet.evidence.provenance.trace.walk import Walk

_TAKING = {
    "pop", "popitem", "popleft", "clear", "remove", "discard", "delattr", "delitem", "__delitem__",
    "__delattr__", "difference_update", "intersection_update", "move_to_end",
}  # fmt: skip


_QUOTES, _LEAST_LETTERS, _PLURAL = "'\"", 5, "s"
_LEAST_SKIPPED = 3
"""A shorter word is in many lines by chance."""


@value_class
class Removed:
    """A step took the key out."""

    step: Step


@value_class
class Dropped:
    """An error came up while what has the key was read, and was caught."""

    error: Raised
    caught: tuple[Call, int] | None
    record: Record | None


@value_class
class Likewise:
    """There is a key that differs in its type, its case or the blanks around it."""

    key: str
    trail: Trail
    asked: Trail


@value_class
class Misspelt:
    """There is a key with two letters swapped, or with one more or one less.

    Attributes:
        key: that key.
        trail: where it comes from.
        asked: where the missing key comes from.
        is_asked: the missing key is the one that is written less often; else the other one is.
        is_sure: the program itself writes the missing key, and it is no plural of the other one.
    """

    key: str
    trail: Trail
    asked: Trail
    is_asked: bool
    is_sure: bool


@value_class
class Skipped:
    """A line of a file that has the key was held in a round of a loop that a `continue` ended.

    Attributes:
        step: the `continue`.
        record: the line of the file.
    """

    step: Step
    record: Record


Reason = Removed | Dropped | Likewise | Misspelt | Skipped


class Missing:
    """Looks for why a key is missing."""

    def __init__(
        self, recording: Recording, sources: Sources, walk: Walk, records: Records
    ) -> None:
        """Make it ready."""
        self._all = recording
        self._sources = sources
        self._walk = walk
        self._records = records

    def reason(self, holder: Value, key: Value, asked: Trail, step: Step) -> Reason | None:
        """Return why something doesn't have a key at a step; None: nothing tells.

        Args:
            holder: what doesn't have it.
            key: the key.
            asked: where that comes from.
            step: the step.
        """
        return (
            self.removed(holder, key.words, step)
            or self.likewise(holder, key, asked, step)
            or self._dropped(key, step)
            or self._skipped(key, step)
            or self.misspelt(holder, key, asked, step)
        )

    def removed(self, holder: Value, key: str, step: Step) -> Removed | None:
        """Return the step that took a key or an attribute out; None: it was not seen there."""
        seen = [each for each in self._all.history(holder.number) if each.moment <= step.begin]
        later: ObjectState | None = None
        for each in reversed(seen):
            if each.value.type != holder.type:
                return None
            if key in each.value.parts:
                taken = None if later is None or not later.has_changed else later.step
                is_one = later is not None and later.value.parts.keys() <= each.value.parts.keys()
                return Removed(taken) if taken and is_one and self._takes_out(taken) else None
            if not each.value.is_whole:
                return None
            later = each
        return None

    def _takes_out(self, step: Step) -> bool:
        """Whether a line takes something out of something."""
        statement = self._sources[step.frame.code.path].statement(step.line)
        if statement is None or step.result is not None:
            return False
        return isinstance(statement, ast.Delete) or any(
            isinstance(node, ast.Call) and called_name(node) in _TAKING for node in head(statement)
        )

    def likewise(self, holder: Value, key: Value, asked: Trail, step: Step) -> Likewise | None:
        """Return a key that is there and looks like the missing one."""
        wanted = as_it_looks(key.words)
        for each in self._keys(holder, step):
            if each != key.words and as_it_looks(each) == wanted:
                return Likewise(each, self._walk.key(holder, each, step), asked)
        return None

    def misspelt(self, holder: Value, key: Value, asked: Trail, step: Step) -> Misspelt | None:
        """Return the only key that is there and differs from the missing one by a slip of the fingers."""
        near = [each for each in self._keys(holder, step) if _is_slip(key.words, each)]
        if len(near) != 1:
            return None
        other = near[0]
        trail = (
            self._walk.part(holder, other, step, None)
            if holder.kind == OBJECT
            else self._walk.key(holder, other, step)
        )
        short, long = sorted((other.strip(_QUOTES), key.words.strip(_QUOTES)), key=len)
        return Misspelt(
            other, trail, asked,
            self._written(key.words) <= self._written(other),
            asked.end is End.LITERAL and long != short + _PLURAL,
        )  # fmt: skip

    def _keys(self, holder: Value, step: Step) -> Iterable[str]:
        """Return the keys of something, or its attributes."""
        seen = [each for each in self._all.history(holder.number) if each.moment <= step.begin]
        # A large dict is recorded with its first and last keys only, but each key was the last one once.
        return dict.fromkeys([*holder.parts, *(name for each in seen for name in each.value.parts)])

    def _written(self, key: str) -> int:
        """Return how often a key is written in the program and in the files that it reads, or is in an object."""
        word = re.compile(rf"(?<!\w){re.escape(key.strip(_QUOTES))}(?!\w)")
        paths = {call.code.path for call in self._all.calls}
        texts = [self._sources[path].text for path in sorted(paths)]
        texts += ["\n".join(lines) for lines in self._records.files.values()]
        held = sum(
            any(key in each.value.parts for each in self._all.history(number))
            for number in self._all.objects
        )
        return held + sum(len(word.findall(text)) for text in texts)

    def _dropped(self, key: Value, step: Step) -> Dropped | None:
        """Return the error that was caught where a variable held what has the key."""
        for error in self._all.errors:
            if error.type in CONTROL_FLOW or error.moment >= step.begin:
                continue
            inside = self._holder_of(error, key)
            if inside is not None:
                return Dropped(
                    error, caught(self._all, error), self._records.find(inside, error.moment)
                )
        return None

    def _skipped(self, key: Value, step: Step) -> Skipped | None:
        """Return the only line with the key that was held when a `continue` was reached."""
        word = key.words.strip(_QUOTES)
        if len(word) < _LEAST_SKIPPED:
            return None
        asked = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
        found: dict[Record, Step] = {}
        for each in self._all.steps:
            call = each.frame
            if each.result is not None or each.begin >= step.begin or not self._goes_on(each):
                continue
            for name in call.held:
                value = self._all.held(call, name, each.begin)
                if value is not None and value.type == "str" and asked.search(value.words):
                    record = self._records.line_of(value)
                    found |= {} if record is None else {record: each}
        if len(found) != 1:
            return None
        ((record, skipped),) = found.items()
        return Skipped(skipped, record)

    def _goes_on(self, step: Step) -> bool:
        statement = self._sources[step.frame.code.path].statement(step.line)
        return isinstance(statement, ast.Continue)

    def _holder_of(self, error: Raised, key: Value) -> Value | None:
        for name in error.call.held:
            value = self._all.held(error.call, name, error.moment)
            if value is None:
                continue
            if value.kind == SCALAR:
                if value.is_same(key):
                    return value
            elif any(part.is_same(key) for _, part in self._all.parts(value)):
                return value
        return None


def caught(recording: Recording, first: Raised) -> tuple[Call, int] | None:
    """Return the line that continued after an error."""
    same = [
        each
        for each in recording.errors
        if each.moment >= first.moment and (each.number, each.type) == (first.number, first.type)
    ]
    last = same[-1]
    for step in last.call.steps:
        if step.begin > last.moment and step.result is None:
            return last.call, step.line
    return None


def _is_slip(one: str, other: str) -> bool:
    """Whether a word is another one with two letters swapped, or with one more or one less behind the first."""
    if one[:1] != other[:1] or (one[:1] == "'") != (other[:1] == "'"):
        return False
    short, long = sorted((one.strip(_QUOTES), other.strip(_QUOTES)), key=len)
    if len(short) < _LEAST_LETTERS or len(long) - len(short) > 1:
        return False
    same = next(
        (at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short)
    )
    if len(short) == len(long):
        swapped = long[:same] + long[same : same + 2][::-1] + long[same + 2 :]
        return same > 0 and short == swapped and long[same : same + 2].isalpha()
    added = long[same]
    return (
        same > 0 and short == long[:same] + long[same + 1 :] and (added.isalpha() or added == "_")
    )
