"""Why so many items come to a line: a dict has most of its items under one key, or many under each."""

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeGuard, cast

from whet.core.observations.clue import Clue, Sureness, TrailStep
from whet.core.text.literal import literal_in
from whet.core.text.quantity import listed, shown_count
from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import Failing
from whet.evidence.provenance.run.control import is_in
from whet.evidence.provenance.run.recording import (
    SCALAR,
    Call,
    Field,
    Grouping,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import Comprehension, head
from whet.evidence.provenance.sentences.wording import Wording, cut, upper
from whet.evidence.provenance.trace.trail import End
from whet.evidence.provenance.trace.walk import Walk

_LEAST_ITEMS, _LEAST_EACH = 8, 8
_GETTING = {"get", "pop", "setdefault"}
_EXHAUSTING = {"MemoryError", "RecursionError"}
_Loop = ast.For | ast.AsyncFor


@value_class(eq=False)
class _Asked:
    """A line that goes through what a dict holds under a key.

    Attributes:
        grouping: the dict.
        call: the function.
        holder: what it calls the dict; None: it goes through a variable that holds the group.
        line: the line.
        loop: the loop that goes through it; None: the line takes all at once.
    """

    grouping: Grouping
    call: Call
    holder: str
    line: int
    loop: _Loop | None


@dataclass(slots=True)
class GroupingClues(Wording):
    """Tells them.

    Attributes:
        walk: goes back through the run.
    """

    walk: Walk

    def clues(self, failing: Failing) -> Iterator[Clue]:
        """Yield why so many items have come to the line where there was no room left for them."""
        if failing.error.type in _EXHAUSTING:
            yield from self.behind(failing.call, failing.error.line, failing.error.moment)

    def on_the_way(self, failing: Failing, clues: Sequence[Clue]) -> Iterator[Clue]:
        """Yield why so many items came to a line that what failed was followed through.

        Args:
            failing: what failed.
            clues: where it came from.
        """
        moment = failing.error.moment
        for path, line in [*((each.path, each.line) for each in clues), *self.walk.passed]:
            if failing.error.type in _EXHAUSTING:
                return
            for call in reversed(self.recording.calls):
                ran = [each for each in call.steps if each.line == line and each.begin < moment]
                if call.code.path != path or not ran:
                    continue
                for asked in self._asked(call, line, ran[-1].begin):
                    if asked.loop is None or self._rounds(asked):
                        yield replace(self._clue_of(asked, moment), sureness=Sureness.POSSIBLE)
                        return

    def behind(self, call: Call, line: int, moment: int) -> Iterator[Clue]:
        """Yield why so many items come to a line.

        Args:
            call: the function.
            line: the line.
            moment: when.
        """
        for each in call.around:
            for asked in self._asked(each, line, moment):
                yield self._clue_of(asked, moment)
                return
            line = each.line

    # ---- the line that goes through a group ----

    def _asked(self, call: Call, line: int, moment: int) -> Iterator[_Asked]:
        """Yield the lookups of the loops around a line, and its own, the innermost first."""
        step = call.step_at(moment)
        if step is None or not self.recording.groupings:
            return
        at = replace(step, begin=moment)
        loops = self._loops(call, line)
        for loop in reversed(loops):
            yield from self._of(loop.iter, call, at, loop)
        statement = self.sources[call.code.path].statement(line)
        beside = [each for each in loops[-1].body if each is not statement] if loops else []
        for each in (statement, *beside):
            for node in head(each):
                taken = [one.iter for one in node.generators] if _is_made(node) else []
                for expr in (*taken, *_taken_whole(node)):
                    yield from self._of(expr, call, at, None)

    def _of(self, expr: ast.expr, call: Call, step: Step, loop: _Loop | None) -> Iterator[_Asked]:
        line = expr.lineno
        for holder in _holders(expr):
            value = self.walk.now.value(holder, call, step)
            for each in self.recording.groupings:
                is_named = each.call is call and each.name == ast.unparse(holder)
                is_it = value is not None and value.number == each.number
                if (is_it or is_named) and _is_crowded(each):
                    yield _Asked(each, call, self.said(holder, call), line, loop)
        value = self.walk.now.value(expr, call, step)
        for each in self.recording.groupings if value is not None and value.number else ():
            if value is not None and value.number == each.largest and _is_crowded(each):
                yield _Asked(each, call, each.name, line, loop)

    def _loops(self, call: Call, line: int) -> list[_Loop]:
        """Return the loops of a function around a line, the outermost first; it may be theirs."""
        source = self.sources[call.code.path]
        own = source.node_of(call.code) or source.tree
        return [
            node
            for node in ast.walk(own)
            if isinstance(node, _Loop) and (node.lineno == line or is_in(node.body, line))
        ]

    # ---- words ----

    def _clue_of(self, asked: _Asked, moment: int) -> Clue:
        grouping, path = asked.grouping, asked.call.code.path
        crowd = self._crowd(grouping, asked.holder)
        field = _telling(grouping)
        is_same = field is not None and field.different == 1
        made = None if is_same else self._made(grouping, moment)
        place = "" if made is None else self.place_of(*made)
        name = "" if field is None else _named(field)
        says, advice = "", ""
        if field is not None and field.different > 1:
            two = listed([cut(each.words) for each in field.values])
            makes = f"{place} makes that key of" if place else "That is the key of"
            says = f"{makes} different {name}, such as {two}"
            if made is not None:
                advice = (
                    f"See whether {self.at(*made)} keeps enough of {name} to tell the items apart."
                )
        elif field is not None:
            says = f"All of these have the same {name}"
            there = self.at(path, asked.line)
            advice = (
                f"See why {grouping.size:,} items have it, and whether {there} needs all of them."
            )
        elif made is not None:
            says = f"{place} makes that key"
            advice = f"See whether {self.at(*made)} makes one key of items that belong apart."
        spot = made if made is not None else (path, asked.line)
        sentence = upper(". ".join(filter(None, [self._rounds(asked), crowd, says])))
        clue = self.clue(sentence, *spot, Sureness.SEEN, tuple(self._steps(asked, made)))
        return replace(clue, next_step=advice)

    def _crowd(self, grouping: Grouping, holder: str) -> str:
        key, size = cut(grouping.key.words), grouping.size
        if grouping.keys == 1:
            return f"`{holder}` has all its {size:,} items under one key, {key}"
        return (
            f"`{holder}` has {grouping.items:,} items under {grouping.keys:,} keys,"
            f" {size:,} of them under {key}"
        )

    def _steps(self, asked: _Asked, made: tuple[str, int] | None) -> Iterator[TrailStep]:
        path = asked.call.code.path
        yield TrailStep(
            says="goes through the items under a key",
            place=self.at(path, asked.line),
            source=self.line(path, asked.line),
        )
        if made is not None:
            yield TrailStep(says="makes the key", place=self.at(*made), source=self.line(*made))

    def _rounds(self, asked: _Asked) -> str:
        """Say how often a loop went round for each round of the one around it; empty: not known."""
        call, loop = asked.call, asked.loop
        if loop is None:
            return ""
        outer = [each for each in self._loops(call, loop.lineno) if each is not loop]
        times = self._times(call, loop)
        if not outer or times is None:
            return ""
        around = self._times(call, outer[-1])
        if around is None or not around[0] or times[0] < _LEAST_EACH * around[0]:
            return ""
        rounds = shown_count(around[0], "round")
        rounds = f"the first {rounds}" if times[1] or around[1] else rounds
        path = call.code.path
        return (
            f"the loop at {self.at(path, loop.lineno)} went round {times[0]:,} times in"
            f" {rounds} of the loop at line {outer[-1].lineno}"
        )

    def _times(self, call: Call, loop: _Loop) -> tuple[int, bool] | None:
        """Return how often a loop went round, and whether that is only a part; None: not known."""
        first, line = loop.body[0], loop.lineno
        if isinstance(first, ast.For | ast.AsyncFor | ast.While):
            # Its own line comes up in each of its rounds; that of this loop once more when it ends.
            is_once = sum(each.code is call.code for each in self.recording.calls) == 1
            if not is_once or len(self._loops(call, line)) > 1:
                return None
        elif isinstance(first, _BLOCKS) or first.lineno == first.end_lineno:
            line = first.lineno
        else:  # its first line comes up again for what is called at its end
            return None
        found = self.recording.times_of(call.code, line)
        return found.times, found.is_cut

    def _made(self, grouping: Grouping, moment: int) -> tuple[str, int] | None:
        """Return the line that makes the keys of a dict; None: not known."""
        states = [e for e in self.recording.history(grouping.number) if e.moment <= moment]
        for state in states:
            step = state.step
            if step is None or not state.has_changed:
                continue
            for key in state.value.parts:
                trail = self.walk.key(state.value, key, replace(step, begin=state.moment))
                for hop in trail.hops:
                    is_other = hop.value is None or hop.value.words != key
                    if hop.value is not None and hop.value.kind == SCALAR and is_other:
                        return hop.path, hop.line
                if trail.hops:
                    last = trail.hops[-1 if trail.end is End.MADE else 0]
                    return last.path, last.line
        return None


_BLOCKS = ast.If | ast.With | ast.AsyncWith | ast.Try


def _is_crowded(grouping: Grouping) -> bool:
    return grouping.size >= _LEAST_ITEMS


def _is_made(node: ast.AST) -> TypeGuard[Comprehension]:
    return isinstance(node, Comprehension)


def _taken_whole(node: ast.AST) -> Sequence[ast.expr]:
    """Return what a call or an addition takes all items of."""
    match node:
        case ast.Call(func=ast.Attribute(attr="extend" | "update" | "extendleft"), args=[given]):
            return [given]
        case ast.AugAssign(op=ast.Add(), value=given):
            return [given]
        case _:
            return []


def _holders(expr: ast.expr) -> Iterator[ast.expr]:
    """Yield the dicts of which an expression takes what is under a key."""
    for node in ast.walk(expr):
        match node:
            case ast.Subscript(value=holder):
                yield holder
            case ast.Call(func=ast.Attribute(value=holder, attr=name), args=[_, *_]) if (
                name in _GETTING
            ):
                yield holder
            case _:
                pass


def _telling(grouping: Grouping) -> Field | None:
    """Return the field that the key was made of: different values first; None: none is seen to be."""
    texts = _texts(grouping.key)
    fields = [each for each in grouping.fields if each.values]
    cut_short = [each for each in fields if each.different > 1 and _is_cut_to(each, texts)]
    same = [each for each in fields if each.different == 1 and _plain(each.values[0]) in texts]
    return next(iter((*sorted(cut_short, key=lambda each: -each.different), *same)), None)


def _is_cut_to(field: Field, keys: Sequence[str]) -> bool:
    """Whether a key is a part of each of two values that differ from it."""
    texts = [_plain(each) for each in field.values]
    return any(key and all(key in each and key != each for each in texts) for key in keys)


def _texts(key: Value) -> list[str]:
    """Return a key, or the parts of a tuple, without spaces around and without case."""
    parts: list[object] = [key.words]
    with suppress(ValueError):
        value = literal_in(key.words)
        parts = [*cast("tuple[object, ...]", value)] if isinstance(value, tuple) else [value]
    return [str(each).strip().casefold() for each in parts]


def _plain(value: Value) -> str:
    return _texts(value)[0] if _texts(value) else ""


def _named(field: Field) -> str:
    if not field.name:
        return "values"
    return f"item {field.name}" if field.name.isdigit() else f"`{field.name}`"
