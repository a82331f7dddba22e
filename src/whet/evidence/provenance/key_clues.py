"""Keys of one dict that look equal and aren't, and values that were lost under one key."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from whet.core.observations.clue import Clue, Sureness, TrailStep
from whet.core.value_class import value_class
from whet.evidence.provenance.overwritten import Lost, Overwritten
from whet.evidence.provenance.recording import CONTAINER, ObjectState, Recording, Value
from whet.evidence.provenance.source import head, lookups
from whet.evidence.provenance.suspects import Failing
from whet.evidence.provenance.walk import Walk
from whet.evidence.provenance.wording import Wording, cut, shown

_NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")
_MOST_DEPTH = 4
_MOST_LINES, _LINES_BACK = 2, 2


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

    def with_lost(self, failing: Failing, clues: list[Clue]) -> list[Clue]:
        """Return clues with those of values that were lost as the same line put others in their place.

        A key of two different texts, or a function that another one has replaced, is no chance;
        where a value is only newer than another one, that is a part of its way.
        """
        firm = [each for each in clues if each.sureness is not Sureness.POSSIBLE]
        clues = firm or clues
        found, later = [*self._files(failing)], list[Clue]()
        for each, is_slip in self._telling(failing):
            before, after = each.before, each.after
            path, line = after.step.frame.code.path, after.step.line
            given = f", made of {cut(each.given[1])} as of {cut(each.given[0])} before"
            says = (
                f"put {_named(after.value)} under the key `{cut(after.key)}`"
                f"{given if each.given[0] else ''}, in place of {_named(before.value)},"
                " which the same line had put there"
            )
            same = [n for n, one in enumerate(clues) if (one.path, one.line) == (path, line)]
            if is_slip or not same:
                says = f"{self.place_of(path, line)} {says}"
                (found if is_slip else later).append(self.clue(says, path, line, Sureness.POSSIBLE))
                continue
            step = TrailStep(says=says, place=self.at(path, line), source=self.line(path, line))
            clues[same[0]] = replace(clues[same[0]], trail=(*clues[same[0]].trail, step))
        return [*clues, *found] if firm else [*found, *clues, *later]

    def _files(self, failing: Failing) -> Iterator[Clue]:
        """Report a file that was written over, by the line that had written it."""
        twice = Overwritten(self.recording, self.sources, self.walk).files(failing)
        if twice is not None:
            _, again = twice
            yield self.clue(
                f"{self.place_of(again.path, again.line)} opened `{cut(Path(again.words[0]).name)}` for"
                " writing, which it had written before: what was in it is lost",
                again.path, again.line, Sureness.POSSIBLE,
            )  # fmt: skip

    def _telling(self, failing: Failing) -> list[tuple[Lost, bool]]:
        """Return the lost values of which a key is read where it failed, and those that were lost by a slip."""
        lost = Overwritten(self.recording, self.sources, self.walk).values(failing)
        read = set(self._read(failing)) if lost else set[tuple[int, str]]()
        ran = [each.code for each in failing.call.around]
        by_line: dict[tuple[str, int], tuple[Lost, bool]] = {}
        for each in lost:
            step = each.after.step
            has_run = any(code.is_of(each.after.value) for code in ran)
            is_slip = has_run or bool(each.given[0])
            if is_slip or (each.after.holder, each.after.key) in read:
                by_line.setdefault((step.frame.code.path, step.line), (each, is_slip))
        return list(by_line.values())[:_MOST_LINES]

    def _read(self, failing: Failing) -> Iterator[tuple[int, str]]:
        """Yield the dicts and keys that the failing calls read, on the line where each of them is."""
        for call in failing.call.around:
            step = failing.step if call is failing.call else call.step_at(failing.error.moment)
            if step is None:
                continue
            # The line of a failure may only report what a test has read before it.
            for at in [*(each for each in call.steps if each.begin <= step.begin)][-_LINES_BACK:]:
                statement = self.sources[call.code.path].statement(at.line)
                for node in head(statement):
                    for holder, key in lookups(node):
                        held = self.walk.now.value(holder, call, at)
                        asked = self.walk.now.value(key, call, at)
                        if held is not None and asked is not None and held.number:
                            yield held.number, asked.words


def _named(value: Value) -> str:
    """Return a value as a sentence has it."""
    words = shown(value)
    return words or f"another {value.type.rpartition('.')[2]}"


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
