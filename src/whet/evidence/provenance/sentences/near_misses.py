"""Tests that found nothing because what they compared only looks alike: keys of a join, names of a unit."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from whet.core.observations.clue import Clue, Sureness
from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import Failing
from whet.evidence.provenance.run.recording import CONTAINER, SCALAR, Step, Value
from whet.evidence.provenance.run.source import COMPREHENSIONS
from whet.evidence.provenance.sentences.wording import Wording, cut, spots
from whet.evidence.provenance.trace.alike import difference, hashable, plain, read
from whet.evidence.provenance.trace.records import Record
from whet.evidence.provenance.trace.trail import Trail
from whet.evidence.provenance.trace.walk import Walk

_GETTING = {"get", "pop", "setdefault"}
_MOST_LINES, _MOST_TRIED = 200, 8_000
_MAKING = ("defaultdict", "Counter")
"""They have a value for each key."""


@value_class(eq=False)
class _Pair:
    """Two values of which a test says whether they are the same, or one is among the other's.

    Attributes:
        test: the part of the program.
        asked: the expression on one side.
        holder: the expression on the other side.
        step: when.
        key: the value of the one.
        held: the value of the other.
        others: what it may be equal to.
    """

    test: ast.expr
    asked: ast.expr
    holder: ast.expr
    step: Step
    key: Value
    held: Value
    others: "_Others"


class _Others:
    """What a value may be equal to, by what it is and as a reader takes it."""

    def __init__(self, words: Sequence[str]) -> None:
        """Make it of how they are written."""
        self.values = {hashable(read(each)) for each in words}
        self.plain: dict[str, str] = {}
        for each in words:
            self.plain.setdefault(plain(each), each)


@value_class(eq=False)
class _Missed:
    """A test that came out negative for a value with a twin on its other side.

    Attributes:
        pairs: where it did, each with the twin.
        times: how often the test was made.
        hits: how often the two were the same.
    """

    pairs: Sequence[tuple[_Pair, str]]
    times: int
    hits: int


@dataclass(slots=True)
class NearMisses(Wording):
    """Tells them.

    Attributes:
        walk: goes back through the run.
        record_of: returns the record that the value of a trail was read from.
    """

    walk: Walk
    record_of: Callable[[Trail], Record | None]
    _known: dict[object, _Others | None] = field(
        init=False, default_factory=dict[object, "_Others | None"]
    )

    def clues(self, failing: Failing, told: Sequence[Clue]) -> Iterator[Clue]:
        """Yield the test that has missed most.

        Args:
            failing: what failed.
            told: what is known already; two values needn't be said again to be nearly the same.
        """
        near = {call.code for call in failing.call.around}
        near |= {each.frame.code for each in self._steps_of_way()}
        missed = [each for each in self._missed(failing) if each.pairs]
        missed.sort(key=lambda each: (each.hits > 0, -len(each.pairs)))
        for each in missed[:1]:
            pair, twin = each.pairs[0]
            if any(frozenset({pair.key.words, twin}) == clue.alike for clue in told):
                return
            code = pair.step.frame.code
            is_near = any(one.path == code.path and _is_part(code.name, one.name) for one in near)
            yield self._clue_of(each, is_near=is_near)

    def _steps_of_way(self) -> Iterator[Step]:
        passed = set(self.walk.passed)
        return (e for e in self.recording.steps if (e.frame.code.path, e.line) in passed)

    # ---- tests ----

    def _missed(self, failing: Failing) -> Iterator[_Missed]:
        """Yield the tests of the program with what they have missed."""
        tried = 0
        for steps in self._by_line(failing):
            found: dict[tuple[ast.expr, ast.expr], list[_Pair]] = {}
            for step in steps:
                tried += 1
                if tried > _MOST_TRIED:
                    return
                for pair in self._pairs(step):
                    found.setdefault((pair.test, pair.asked), []).append(pair)
            for pairs in found.values():
                if self._is_fixed(pairs):
                    yield _weighed(pairs)

    def _by_line(self, failing: Failing) -> list[list[Step]]:
        """Return the steps before the failure by their lines, of those that test something."""
        found: dict[tuple[str, int], list[Step]] = {}
        for step in self.recording.steps:
            at = step.frame.code.path, step.line
            is_last = step.frame is failing.call and step.line == failing.error.line
            if step.result is not None or is_last or step.begin >= failing.error.moment:
                continue
            if at in found or any(True for _ in self._tests(step)):
                found.setdefault(at, []).append(step)
        return list(found.values())[:_MOST_LINES]

    def _tests(self, step: Step) -> Iterator[tuple[ast.expr, ast.expr, ast.expr]]:
        """Yield what a line compares with what: the test, the value, and what it may equal."""
        for node in self.walk.now.nodes(step.frame, step):
            match node:
                case ast.Subscript(value=other, slice=one, ctx=ast.Load()):
                    held = self.walk.now.value(other, step.frame, step)
                    if held is not None and held.type.endswith(_MAKING):
                        yield node, one, other
                case ast.Compare() | ast.Call() | ast.BinOp():
                    yield from ((node, one, other) for one, other in _sides(node))
                case _:
                    pass

    def _pairs(self, step: Step) -> Iterator[_Pair]:
        call = step.frame
        # The variables of a comprehension are bound in the step itself.
        is_inner = call.code.short in COMPREHENSIONS
        if is_inner and not step.has_changed:
            return  # it is over
        at = replace(step, begin=step.end) if is_inner else step
        for test, one, other in self._tests(step):
            key, held = self.walk.now.value(one, call, at), self.walk.now.value(other, call, at)
            if key is None or held is None:
                continue
            if isinstance(test, ast.Compare) and held.kind == SCALAR and key.kind == SCALAR:
                is_text = isinstance(test.ops[0], ast.In | ast.NotIn)
                for asked, value, expr in ((one, key, other), (other, held, one)):
                    if not is_text and not isinstance(asked, ast.Constant):
                        against = held if value is key else key
                        yield _Pair(test, asked, expr, at, value, against, self._one(against))
                        break
                continue
            keys = self._others(held)
            if keys is None:
                continue
            if key.kind == SCALAR:
                yield _Pair(test, one, other, at, key, held, keys)
                continue
            for words in self._keys(key) or () if _is_meeting(test) else ():
                yield _Pair(test, one, other, at, Value(SCALAR, "", words), held, keys)

    def _keys(self, held: Value) -> tuple[str, ...] | None:
        """Return the keys or the items of a value, as they are written; None: not all are known."""
        if held.kind != CONTAINER or not held.size:
            return None
        if not held.is_whole:
            keys = self.recording.keys.get(held.number, ())
            return keys if len(keys) == held.size else None
        if held.type in {"list", "tuple", "collections.deque"}:
            parts = [part for _, part in self.recording.parts(held)]
            is_plain = all(each.kind == SCALAR for each in parts)
            return tuple(each.words for each in parts) if is_plain else None
        return tuple(held.parts)

    def _others(self, held: Value) -> _Others | None:
        """Return what a value may be among; None: not all of it is known."""
        if id(held) not in self._known:
            keys = self._keys(held)
            self._known[id(held)] = None if keys is None else _Others(keys)
        return self._known[id(held)]

    def _one(self, held: Value) -> _Others:
        key = held.type, held.words
        found = self._known.get(key) or _Others((held.words,))
        self._known[key] = found
        return found

    def _is_fixed(self, pairs: Sequence[_Pair]) -> bool:
        """Whether what is looked into stays the same: nothing is collected in it on the way."""
        if pairs[0].held.kind == SCALAR:
            return True
        return len({id(each.held) for each in pairs}) == 1

    # ---- words ----

    def _times(self, missed: _Missed) -> str:
        """Say how often a test came out so; empty: it was made once."""
        step, count = missed.pairs[0][0].step, len(missed.pairs)
        if missed.times == 1:
            return ""
        known = len(self.recording.at_line(step.frame.code, step.line))
        is_part = known < self.recording.times_of(step.frame.code, step.line).times
        first = "first " if is_part else ""
        if count == missed.times:
            return f" each of the {first}{count} times"
        return f" {count} of the {first}{missed.times} times"

    def _clue_of(self, missed: _Missed, *, is_near: bool) -> Clue:
        pair, twin = missed.pairs[0]
        path, line, call = pair.step.frame.code.path, pair.step.line, pair.step.frame
        said, holder = self.said(pair.test, call), self.said(pair.holder, call)
        trail = self.walk.back(pair.asked, call, pair.step, pair.key, None)
        record = self.record_of(trail) if trail.hops else None
        of = f", from {self.record(record)}," if record is not None else ""
        is_lookup = pair.held.kind == CONTAINER
        against = f"`{holder}` {'has' if is_lookup else 'was'}"
        if isinstance(pair.holder, ast.Constant):
            against = "it is compared with"
        says = (
            f"{self.at(path, line)} (`{said}`) {_outcome(pair.test)}{self._times(missed)}:"
            f" `{self.said(pair.asked, call)}` was {cut(pair.key.words)}{of} and {against} {cut(twin)}."
            f" The two differ in their {difference(pair.key.words, twin)} only"
        )
        is_whole = not missed.hits and len(missed.pairs) == missed.times
        is_sure = is_near and is_lookup and (is_whole or record is not None)
        sureness = Sureness.SEEN if is_sure else Sureness.POSSIBLE
        steps = () if record is None else (self.record_step(record),)
        clue = self.clue(says, path, line, sureness, steps)
        advice = f"Make the two alike before {self.at(path, line)} compares them."
        named = "" if record is None else self.record(record)
        return replace(clue, next_step=advice, record=named, records=spots(record))


def _outcome(test: ast.expr) -> str:
    """Say how a test comes out for values that aren't the same."""
    match test:
        case ast.Compare(ops=[ast.NotEq() | ast.NotIn()]):
            return "was true"
        case ast.Compare():
            return "was false"
        case _:
            return "found nothing"


def _weighed(pairs: Sequence[_Pair]) -> _Missed:
    missed: list[tuple[_Pair, str]] = []
    hits = 0
    for each in pairs:
        if hashable(read(each.key.words)) in each.others.values:
            hits += 1
            continue
        twin = _twin(each)
        if twin:
            missed.append((each, twin))
    return _Missed(missed, len(pairs), hits)


def _twin(pair: _Pair) -> str:
    """Return what a value has missed by its spelling or its type alone; empty: there is nothing."""
    wanted = plain(pair.key.words)
    if not wanted or pair.key.words in {"None", "True", "False"}:
        return ""
    return pair.others.plain.get(wanted, "")


def _sides(test: ast.Compare | ast.Call | ast.BinOp) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the value that a test is about, and what it may equal; of two sets either may be that."""
    match test:
        case ast.Compare(left=one, ops=[ast.Eq() | ast.NotEq()], comparators=[other]):
            if not _is_of(one, other) and not _is_of(other, one):
                yield one, other
        case ast.Compare(left=one, ops=[ast.In() | ast.NotIn()], comparators=[other]):
            yield one, other
        case ast.Call(func=ast.Attribute(value=other, attr=name), args=[one, *_]) if (
            name in _GETTING
        ):
            yield one, other
        case (
            ast.Call(
                func=ast.Attribute(value=other, attr="intersection" | "isdisjoint"), args=[one]
            )
            | ast.BinOp(left=one, op=ast.BitAnd(), right=other)
        ):
            yield from ((one, other), (other, one))
        case _:
            pass


def _is_meeting(test: ast.expr) -> bool:
    return not isinstance(test, ast.Compare)


def _is_of(one: ast.expr, other: ast.expr) -> bool:
    """Whether one side of a comparison is made of the other: then their difference is what it asks for."""
    wanted = ast.dump(other)
    return any(ast.dump(each) == wanted for each in ast.walk(one) if isinstance(each, ast.expr))


def _is_part(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}.<locals>.")
