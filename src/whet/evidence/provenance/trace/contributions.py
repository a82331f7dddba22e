"""The numbers that a total, a mean or a largest value was made of."""

import ast
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import (
    CONTAINER,
    Call,
    ObjectState,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import (
    Comprehension,
    Sources,
    called_name,
    element_of,
    head,
)
from whet.evidence.provenance.trace.given import ADDING
from whet.evidence.provenance.trace.trail import Trail
from whet.evidence.provenance.trace.walk import Walk

_NEAR, _LEAST = 1e-9, 1e-12
_MOST, _MOST_DEEP, _MOST_PLACES = 2000, 6, 12
_FEW, _FEW_ROUNDS = 2, 3
_DIGITS = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_SAME = {"round", "float", "int", "abs", "Decimal", "Fraction", "str"}
"""What gives back the number that it is given, or nearly."""


@value_class
class Contribution:
    """A number that went into another one.

    Attributes:
        amount: the number.
        step: when it went in.
        expr: what the program says of it; None: it was a part of something.
        holder: what it was a part of; None: it was none.
        key: under which key.
        times: what the number of the program was multiplied with.
    """

    amount: float
    step: Step
    expr: ast.expr | None = None
    holder: Value | None = None
    key: str = ""
    times: float = 1.0

    @property
    def own(self) -> float:
        """The number as the program had it."""
        return self.amount / self.times


@value_class
class Gathered:
    """What a number was made of.

    Attributes:
        amount: the number.
        each: its contributions, in their order.
        line: the line that puts them together.
        call: the call that this line is in.
        is_sum: it is their sum, so that all of them are known; else their mean.
    """

    amount: float
    each: tuple[Contribution, ...]
    line: int
    call: Call
    is_sum: bool = True


def number_in(value: Value | None) -> float | None:
    """Return a number; None: the value is none."""
    if value is None or not value.is_number:
        return None
    found = _DIGITS.findall(value.words.partition("(")[2] or value.words)
    number = float(found[0]) if len(found) == 1 else math.nan
    return number if math.isfinite(number) else None


def is_near(one: float, other: float, around: float = 0.0) -> bool:
    """Whether two numbers are the same but for rounding.

    Args:
        one: a number.
        other: another one.
        around: the size of the numbers that they were calculated from.
    """
    return math.isclose(one, other, rel_tol=_NEAR, abs_tol=max(abs(around) * _NEAR, _LEAST))


class Contributions:
    """Takes numbers apart, in one recording."""

    def __init__(self, recording: Recording, sources: Sources, walk: Walk) -> None:
        """Make it ready."""
        self._all, self._sources, self._walk = recording, sources, walk

    def of(
        self, expr: ast.expr, call: Call, step: Step, known: Value | None = None
    ) -> Gathered | None:
        """Return what the value of an expression was made of; None: it wasn't put together of several.

        Args:
            expr: the expression.
            call: the call that it is in.
            step: the step that evaluates it.
            known: its value, where the program kept it elsewhere.
        """
        value = self._walk.now.value(expr, call, step) or known
        for _ in range(_MOST_PLACES):
            expr = _bare(expr)
            found = self._here(expr, call, step, number_in(value))
            if found is not None:
                return found
            if not isinstance(expr, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
                return None
            trail = self._walk.back(expr, call, step, value, None)
            found = self._on(trail, number_in(value))
            if found is not None:
                return found
            made = trail.expression
            if made is None or trail.call is None or trail.step is None or made is expr:
                return None
            expr, call, step = made, trail.call, trail.step
            value = self._walk.now.value(expr, call, step) or value
        return None

    def of_part(self, holder: Value, key: str, step: Step) -> Gathered | None:
        """Return what a part of something was made of."""
        amount = number_in(self._all.part(holder, key))
        grown = None if amount is None else self._grown_part(holder, key, step.begin, amount)
        if grown is not None:
            return grown
        trail = self._walk.part(holder, key, step, None)
        found = self._on(trail, amount)
        if found is not None or trail.expression is None:
            return found
        if trail.call is None or trail.step is None:
            return None
        return self.of(trail.expression, trail.call, trail.step, self._all.part(holder, key))

    def is_one_of_many(self, trail: Trail) -> bool:
        """Whether a number came by a line that adds to it, and that ran more than a few times."""
        for hop in trail.hops:
            if hop.step is not None and _grows(self._sources[hop.path].statement(hop.line)):
                return len(self._all.at_line(hop.call.code, hop.line)) > _FEW_ROUNDS
        return False

    def leaves(self, gathered: Gathered, depth: int = 0) -> Iterator[Contribution]:
        """Yield the smallest numbers that a number is known to be made of."""
        for each in gathered.each[:_MOST]:
            inner = self.inside(each) if depth < _MOST_DEEP else None
            times = each.times
            if inner is None or not inner.is_sum or not is_near(inner.amount * times, each.amount):
                yield each
                continue
            for leaf in self.leaves(inner, depth + 1):
                yield replace(leaf, amount=leaf.amount * times, times=leaf.times * times)

    def inside(self, each: Contribution) -> Gathered | None:
        """Return what a contribution was made of itself."""
        if each.holder is not None:
            return self.of_part(each.holder, each.key, each.step)
        return None if each.expr is None else self.of(each.expr, each.step.frame, each.step)

    # ---- one line ----

    def _here(
        self, expr: ast.expr, call: Call, step: Step, amount: float | None
    ) -> Gathered | None:
        """Return what an expression puts together itself."""
        known: Sequence[Contribution]
        match expr:
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                known = list(self._terms(expr, call, step, 1.0))
            case ast.BinOp(left=inner, op=ast.Div() | ast.Mult()):
                found = self._here(_bare(inner), call, step, None)
                if found is None or not found.is_sum or not found.amount or not amount:
                    return None
                return _multiplied(found, amount / found.amount)
            case ast.Call(args=[given, *_]) if not self._walk.now.callees(expr, call, step):
                known = self._elements(given, call, step)
            case _:
                return None
        return _gathered(known, amount, expr.lineno, call)

    def _terms(self, expr: ast.expr, call: Call, step: Step, sign: float) -> Iterator[Contribution]:
        if isinstance(expr, ast.BinOp) and isinstance(expr.op, ast.Add | ast.Sub):
            yield from self._terms(expr.left, call, step, sign)
            is_less = isinstance(expr.op, ast.Sub)
            yield from self._terms(expr.right, call, step, -sign if is_less else sign)
            return
        amount = number_in(self._walk.now.value(expr, call, step))
        yield Contribution(math.nan if amount is None else sign * amount, step, expr)

    def _elements(self, given: ast.expr, call: Call, step: Step) -> list[Contribution]:
        """Return the numbers that a call was given to put together."""
        if isinstance(given, Comprehension):
            return list(self._of_rounds(given, call, step))
        for each in self._walk.now.gone_through(given):
            value = self._walk.now.value(each, call, step)
            if value is None or value.kind != CONTAINER:
                continue
            if value.is_whole:
                is_made_here = any(isinstance(node, ast.Call) for node in ast.walk(each))
                at = replace(step, begin=step.over) if is_made_here else step
                return list(self._of_parts(value, at))
            trail = self._walk.back(each, call, step, value, None)
            made, then = trail.expression, trail.step
            if isinstance(made, Comprehension) and trail.call is not None and then is not None:
                return list(self._of_rounds(made, trail.call, then))
            return list(self._appended(value, step))
        return []

    def _of_rounds(self, expr: Comprehension, call: Call, step: Step) -> Iterator[Contribution]:
        element = element_of(expr)
        for inner, at in reversed(list(self._walk.now.rounds(expr, call, step))):
            amount = number_in(self._walk.now.value(element, inner, at))
            given = [
                each.result
                for each in inner.steps
                if each.result is not None and at.begin <= each.begin <= at.over
            ]
            if amount is None and len(given) == 1:
                amount = number_in(given[0])
            if amount is not None:
                yield Contribution(amount, at, element)

    def _of_parts(self, value: Value, step: Step) -> Iterator[Contribution]:
        for key, part in self._all.parts(value):
            amount = number_in(part)
            if amount is not None:
                yield Contribution(amount, step, holder=value, key=key)

    def _appended(self, value: Value, step: Step) -> Iterator[Contribution]:
        """Yield what lines have added to a list, of which a recording keeps only the ends."""
        lines = dict.fromkeys(
            (each.step.frame, each.step.line)
            for each in self._all.history(value.number)
            if each.step is not None and each.has_changed and each.step.begin < step.begin
        )
        for frame, line in lines:
            statement = self._sources[frame.code.path].statement(line)
            for node in head(statement):
                if isinstance(node, ast.Call) and called_name(node) in ADDING and node.args:
                    for at in (each for each in frame.steps if each.line == line):
                        amount = number_in(self._walk.now.value(node.args[0], frame, at))
                        if amount is not None and at.result is None:
                            yield Contribution(amount, at, node.args[0])

    # ---- several rounds ----

    def _on(self, trail: Trail, amount: float | None) -> Gathered | None:
        """Return what was added on the way of a number."""
        for hop in trail.hops:
            step, expr = hop.step, hop.expr
            if step is None or expr is None or amount is None:
                continue
            statement = self._sources[hop.path].statement(hop.line)
            target = _grows(statement)
            if isinstance(target, ast.Name):
                return self._grown_name(target.id, hop.call, step, amount)
            if isinstance(target, ast.Attribute | ast.Subscript):
                holder = self._walk.now.value(target.value, hop.call, step)
                key = target.attr if isinstance(target, ast.Attribute) else ""
                if holder is not None and not key:
                    key = self._changed_key(holder, step)
                if holder is not None and key:
                    return self._grown_part(holder, key, step.over, amount)
        return None

    def _changed_key(self, holder: Value, step: Step) -> str:
        """Return under which key a step has changed a container; empty: under none, or several."""
        states = self._all.history(holder.number)
        for before, after in pairwise(states):
            if after.step is step and after.has_changed:
                keys = [
                    key
                    for key, part in self._all.parts(after.value)
                    if not part.is_same(self._all.part(before.value, key))
                ]
                return keys[0] if len(keys) == 1 else ""
        return ""

    def _grown_name(self, name: str, call: Call, last: Step, amount: float) -> Gathered | None:
        known: list[Contribution] = []
        for step in call.steps:
            if step.begin > last.begin or step.result is not None or name not in step.has_changed:
                continue
            statement = self._sources[call.code.path].statement(step.line)
            target = _grows(statement)
            after = number_in(self._all.held(call, name, step.over))
            before = number_in(self._all.held(call, name, step.begin))
            if not isinstance(target, ast.Name) or target.id != name:
                known = []  # it starts again
                if after:
                    known.append(Contribution(after, step, ast.Name(name)))
            elif after is not None:
                known.append(Contribution(after - (before or 0.0), step, _added(statement)))
        return _gathered(known, amount, last.line, call)

    def _grown_part(self, holder: Value, key: str, moment: int, amount: float) -> Gathered | None:
        states = [each for each in self._all.history(holder.number) if each.moment <= moment]
        known: list[Contribution] = []
        has_grown = False
        for before, after in pairwise([None, *states]):
            step = None if after is None else after.step
            if after is None or step is None or not after.has_changed:
                continue
            less, more = self._at(before, key), self._at(after, key)
            if more is None or is_near(less or 0.0, more):
                continue
            statement = self._sources[step.frame.code.path].statement(step.line)
            if _grows(statement) is None:
                known, has_grown = [], False
            else:
                has_grown = True
            known.append(Contribution(more - (less or 0.0), step, _added(statement)))
        if not has_grown:
            return None
        last = known[-1].step
        return _gathered(known, amount, last.line, last.frame, least=1)

    def _at(self, state: ObjectState | None, key: str) -> float | None:
        return None if state is None else number_in(self._all.part(state.value, key))


def _multiplied(gathered: Gathered, times: float) -> Gathered:
    each = (
        replace(one, amount=one.amount * times, times=one.times * times) for one in gathered.each
    )
    return replace(gathered, amount=gathered.amount * times, each=tuple(each))


def _gathered(
    known: Sequence[Contribution],
    amount: float | None,
    line: int,
    call: Call,
    *,
    least: int = _FEW,
) -> Gathered | None:
    """Return the contributions of a number, if they come to it."""
    amounts = [each.amount for each in known]
    if len(known) < least or any(map(math.isnan, amounts)):
        return None
    total, around = math.fsum(amounts), max(map(abs, amounts))
    if amount is None:
        return Gathered(total, tuple(known), line, call)
    for is_sum, made in ((True, total), (False, total / len(known))):
        if is_near(made, amount, around) or _is_rounded(made, amount):
            return Gathered(amount, tuple(known), line, call, is_sum=is_sum)
    same = [each for each in known if is_near(each.amount, amount)]
    return Gathered(amount, tuple(same), line, call) if len(same) == 1 else None


def _is_rounded(made: float, amount: float) -> bool:
    """Whether a number is another one with fewer digits behind its point."""
    return any(round(made, digits) == amount for digits in range(1, 7))


def _bare(expr: ast.expr) -> ast.expr:
    """Return an expression without what leaves a number as it is."""
    while isinstance(expr, ast.Call) and expr.args and called_name(expr) in _SAME:
        expr = expr.args[0]
    return expr


def _grows(statement: ast.stmt | None) -> ast.expr | None:
    """Return what a statement adds to."""
    match statement:
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub()):
            return target
        case ast.Assign(targets=[target], value=ast.BinOp(op=ast.Add() | ast.Sub()) as value):
            return target if any(_is_before(target, each) for each in _sides(value)) else None
        case _:
            return None


def _sides(expr: ast.BinOp) -> Iterator[ast.expr]:
    for each in (expr.left, expr.right):
        if isinstance(each, ast.BinOp):
            yield from _sides(each)
        else:
            yield each


def _added(statement: ast.stmt | None) -> ast.expr | None:
    """Return what a statement adds."""
    match statement:
        case ast.AugAssign(value=value):
            return value
        case ast.Assign(targets=[target], value=ast.BinOp() as value):
            others = [each for each in _sides(value) if not _is_before(target, each)]
            return others[0] if len(others) == 1 else value
        case ast.Assign(value=value):
            return value
        case _:
            return None


def _is_before(target: ast.expr, side: ast.expr) -> bool:
    """Whether a side of an addition is what the target was before it."""
    match target, side:
        case (
            ast.Subscript(value=one, slice=key),
            ast.Call(func=ast.Attribute(value=other), args=[asked, *_]),
        ):  # `sums.get(key, 0)`
            return (ast.unparse(one), ast.unparse(key)) == (ast.unparse(other), ast.unparse(asked))
        case _:
            return ast.unparse(target) == ast.unparse(side)
