"""Keys of one dict that look equal and aren't, and values that were lost under one key."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whet.core.observations.clue import Clue, Sureness, TrailStep
from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import NO_DATA, Failing
from whet.evidence.provenance.run.recording import (
    CONTAINER,
    Call,
    Event,
    ObjectState,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import Sources, head, lookups
from whet.evidence.provenance.sentences.wording import Wording, cut, shown
from whet.evidence.provenance.trace.walk import Walk

_NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")
_MOST_DEPTH = 4
_MOST_LINES, _LINES_BACK = 2, 2
_LEAST_KEYS = 2
_MOST_WRITES, _MOST_LOST = 4_000, 40


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


@value_class(eq=False)
class Write:
    """A value that was put under a key.

    Attributes:
        holder: the number of the dict.
        key: how the key is written.
        value: what was put there.
        step: the step that did.
        expr: the key in the program.
        at: when that was evaluated, in a comprehension that it made.
    """

    holder: int
    key: str
    value: Value
    step: Step
    expr: ast.expr
    at: Step


@value_class(eq=False)
class Lost:
    """A value that the same line has put another one in the place of.

    Attributes:
        before: it.
        after: what took its place.
        given: what the key was computed from then and now, if that differs; empty: it doesn't.
    """

    before: Write
    after: Write
    given: tuple[str, str] = ("", "")


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
        clue = self.clue(
            f"{self.place_of(path, step.line)} added the key `{twins.second}` to a dict that has the"
            f" key `{twins.first}`{there}: a number and its text are two keys",
            path, step.line, Sureness.SEEN,
        )  # fmt: skip
        yield replace(clue, alike=frozenset({twins.second, twins.first}))

    def with_lost(self, failing: Failing, clues: list[Clue], slips: Sequence[Clue]) -> list[Clue]:
        """Return clues with those of values that were lost as the same line put others in their place.

        A key of two different texts, or a function that another one has replaced, is no chance;
        where a value is only newer than another one, that is a part of its way.

        Args:
            failing: what failed.
            clues: those to what it had.
            slips: other operations that seldom are meant.
        """
        firm = [each for each in clues if each.sureness is not Sureness.POSSIBLE]
        clues = firm or clues
        found, later = [*slips, *self._files(failing)], list[Clue]()
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


class Overwritten:
    """Looks for them in one recording."""

    def __init__(self, recording: Recording, sources: Sources, walk: Walk) -> None:
        """Make it ready."""
        self._all = recording
        self._sources = sources
        self._walk = walk

    def values(self, failing: Failing) -> list[Lost]:
        """Return the values that were lost before a failure, each with what took its place."""
        found: list[Lost] = []
        known: dict[tuple[int, str], Write] = {}
        keys: dict[int, set[str]] = {}
        for write in self._writes(failing.error.moment):
            place = write.holder, write.key
            before = known.get(place)
            keys.setdefault(write.holder, set()).add(write.key)
            if before is not None and self._is_lost(before, write):
                found.append(Lost(before, write))
            known[place] = write
        among = [each for each in found if len(keys[each.after.holder]) >= _LEAST_KEYS]
        return [self._with_given(each) for each in among[:_MOST_LOST]]

    def files(self, failing: Failing) -> tuple[Event, Event] | None:
        """Return where one line opened a file a second time that it had written, among others."""
        written: dict[tuple[str, int], dict[str, Event]] = {}
        paths: dict[tuple[str, int], set[str]] = {}
        found: tuple[Event, Event] | None = None
        for event in self._all.events:
            if event.moment > failing.error.moment:
                break
            at = written.setdefault((event.path, event.line), {})
            path = event.words[0] if event.words else ""
            if event.name != "open":
                for each in written.values():
                    each.pop(path, None)  # removed or renamed: it is another file then
                continue
            mode = event.words[1] if event.words[1:] else "r"
            if not mode.startswith("w"):
                for each in written.values():
                    each.pop(path, None)  # what was written was read, or is added to
                continue
            if path in at and found is None:
                found = at[path], event
            at[path] = event
            paths.setdefault((event.path, event.line), set()).add(path)
        is_one_of_many = found and len(paths[found[0].path, found[0].line]) >= _LEAST_KEYS
        return found if is_one_of_many else None

    def _writes(self, until: int) -> Iterator[Write]:
        """Yield what lines and comprehensions put under keys, in their order."""
        count = 0
        for step in self._all.steps:
            if step.begin > until or count > _MOST_WRITES:
                return
            if step.result is not None:
                continue
            statement = self._sources[step.frame.code.path].statement(step.line)
            match statement:
                case ast.Assign(targets=[ast.Subscript() as target], value=value):
                    write = self._write(target, value, step)
                    count += 1
                    if write is not None:
                        yield write
                case (
                    ast.Assign(value=ast.DictComp() as made)
                    | ast.Return(value=ast.DictComp() as made)
                ):
                    for write in self._made(made, step):
                        count += 1
                        yield write
                case _:
                    pass

    def _write(self, target: ast.Subscript, value: ast.expr, step: Step) -> Write | None:
        call, now = step.frame, self._walk.now
        holder = now.value(target.value, call, step)
        if holder is None or holder.kind != CONTAINER or "dict" not in holder.type:
            return None
        over = now.value(target.value, call, replace(step, begin=step.over))
        asked = now.value(target.slice, call, step)
        key = (asked.words if asked is not None else "") or _changed_key(holder, over)
        if not key:
            return None
        held = ast.unparse(target.value)
        if held in ast.unparse(value) or self._is_asked(call, held):
            return None  # what was there goes into what takes its place, or the program asks for it
        made = now.value(value, call, step) or self._all.part(over, key)
        if made is None:
            return None
        return Write(holder.number, key, made, step, target.slice, step)

    def _made(self, made: ast.DictComp, step: Step) -> Iterator[Write]:
        now, code = self._walk.now, step.frame.code
        if self._sources[code.path].node_of(code) is made:
            return  # one of its own rounds
        for inner, at in reversed(list(now.rounds(made, step.frame, step))):
            key, value = now.value(made.key, inner, at), now.value(made.value, inner, at)
            if key is not None and value is not None:
                round_ = replace(at, frame=inner)
                yield Write(-step.begin, key.words, value, step, made.key, round_)

    def _with_given(self, lost: Lost) -> Lost:
        before, after = self._given(lost.before), self._given(lost.after)
        is_other = before and after and before != after
        return Lost(lost.before, lost.after, (before, after)) if is_other else lost

    def _given(self, write: Write) -> str:
        """Return what a key was computed from, as it is written."""
        key, step = write.expr, write.at
        if isinstance(key, ast.Name):
            value = self._walk.now.value(key, step.frame, step)
            behind = self._walk.back(key, step.frame, step, value, None)
            expr, call, at = behind.expression, behind.call, behind.step
            if expr is None or call is None or at is None:
                return ""
            return self._operands(expr, call, at)
        return self._operands(key, step.frame, step)

    def _operands(self, key: ast.expr, call: Call, step: Step) -> str:
        parts = key.elts if isinstance(key, ast.Tuple) else [key]
        if not any(map(_is_computed, parts)):
            return ""
        operands = self._walk.now.operands(key, call, step)
        return ", ".join(
            value.words for _, value in operands if value is not None and value.type not in NO_DATA
        )

    def _is_asked(self, call: Call, held: str) -> bool:
        """Whether the function asks what the dict holds: then it knows of keys that come twice."""
        own = self._sources[call.code.path].node_of(call.code)
        if own is None:
            own = self._sources[call.code.path].tree
        for node in ast.walk(own):
            match node:
                case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[right]):
                    if ast.unparse(right) == held:
                        return True
                case ast.Call(func=ast.Attribute(value=inner, attr="get" | "pop" | "setdefault")):
                    if ast.unparse(inner) == held:
                        return True
                case _:
                    pass
        return False

    def _is_lost(self, before: Write, after: Write) -> bool:
        """Whether the same line has put another value in the place of one that was still there."""
        one, other = before.step, after.step
        if one.line != other.line or one.frame.code is not other.frame.code:
            return False
        if before.value.is_same(after.value) or before.value.words == after.value.words != "":
            return False
        for state in self._all.history(after.holder):
            is_between = one.over < state.moment <= other.begin
            if is_between and state.value.is_whole and after.key not in state.value.parts:
                return False  # it was taken out in between
        return True


def _is_computed(key: ast.expr) -> bool:
    """Whether a key is made of something else: two of these may give one key."""
    match key:
        case ast.Call() | ast.BinOp() | ast.JoinedStr() | ast.Subscript(slice=ast.Slice()):
            return True
        case _:
            return False


def _changed_key(before: Value, after: Value | None) -> str:
    """Return the only key under which a dict holds something else than before; empty: there is none."""
    if after is None:
        return ""
    keys = [key for key, part in after.parts.items() if before.parts.get(key) != part]
    return keys[0] if len(keys) == 1 else ""
