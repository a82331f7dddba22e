"""What was given for a parameter: by its place or its name, unpacked, passed on, or beside the function."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import (
    CONTAINER,
    Call,
    Code,
    ObjectState,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import COMPREHENSIONS, Sources, called_name, in_order
from whet.evidence.provenance.trace.given import given_for
from whet.evidence.provenance.trace.moments import Moments
from whet.evidence.provenance.trace.trail import Part, is_passed_on

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BOUND = {"self", "cls"}
_NAMED = (ast.Name, ast.Attribute, ast.Subscript)


@value_class(eq=False)
class Given:
    """What a line has given for a parameter.

    Attributes:
        expr: the expression.
        call: the call that it is in.
        step: when it was evaluated.
        key: where in it the argument is, if the line unpacks it; empty: it is the argument.
    """

    expr: ast.expr
    call: Call
    step: Step
    key: str = ""


class Arguments:
    """Looks for them in one recording."""

    def __init__(self, recording: Recording, sources: Sources, now: Moments) -> None:
        """Make it ready."""
        self._all = recording
        self._sources = sources
        self._now = now

    def given(self, name: str, call: Call) -> Given | None:
        """Return what a caller has given for a parameter; None: it left it out, or nothing tells."""
        found = self._calling(call)
        if found is not None:
            made, parent, step = found
            value_of = self._then(parent, step)
            given = _argument(name, _names(self._function(call)), made, value_of)
            if given is not None:
                return Given(given[0], parent, step, given[1])
            if not _unpacks(made):
                return None
        return self._beside(name, call)

    def packed(self, state: ObjectState, key: str) -> Given | None:
        """Return what was given for a part of `*args` or `**options`; None: the object is neither."""
        for call in self._all.calls:
            own = self._function(call) if call.began == state.moment else None
            for packing in () if own is None else (own.args.vararg, own.args.kwarg):
                held = None if packing is None else self._all.held(call, packing.arg, call.began)
                if own is None or packing is None or not state.value.is_same(held):
                    continue
                found = self._calling(call)
                if found is None:  # an object that is called, or one of many calls of a line
                    return self.passed_on(call, self._all.part(state.value, key))
                made, parent, step = found
                names = _names(own)
                if packing is own.args.vararg:
                    given = _at(len(names) + int(key), made, self._then(parent, step))
                else:
                    given = _named(key.strip("'\""), made, self._then(parent, step))
                return None if given is None else Given(given[0], parent, step, given[1])
        return None

    def kept(self, wanted: Part, made: ast.Call, call: Call, step: Step) -> Given | None:
        """Return the argument that became a part of what a call has made; None: nothing tells which."""
        every = (*made.args, *(each.value for each in made.keywords))
        known = [(each, self._now.value(each, call, step)) for each in every]
        given = given_for(wanted, made, known, self._all)
        return None if given is None else Given(given, call, step)

    def passed_on(self, call: Call, target: Value | None) -> Given | None:
        """Return what has given a call an object; who only passed on `*args` or `**kwargs` is left out.

        Args:
            call: who was given it.
            target: the object.
        """
        while target is not None and (parent := call.parent) is not None:
            step = parent.step_at(call.began)
            given = None if step is None else self._same_in(parent, step, target)
            if given is not None and step is not None:
                return Given(given, parent, step)
            held = [self._all.held(parent, name, call.began) for name in parent.given]
            packed = [
                part for each in held if each is not None for _, part in self._all.parts(each)
            ]
            same = sum(part.is_same(target) for part in packed)
            if not same or (same > 1 and not target.number):
                return None  # of two equal scalars nothing tells which
            call = parent
        return None

    def _same_in(self, call: Call, step: Step, target: Value | None) -> ast.expr | None:
        """Return what a line names that was the value: a language may pass it on in other ways."""
        for node in self._now.nodes(call, step):
            if isinstance(node, ast.expr) and not isinstance(node, ast.Call):
                value = self._now.value(node, call, step)
                if is_passed_on(value, target):
                    return node
        return None

    def _calling(self, call: Call) -> tuple[ast.Call, Call, Step] | None:
        """Return the expression that has made a call; None: that isn't clear."""
        parent = call.parent
        step = None if parent is None else parent.step_at(call.began)
        if parent is None or step is None:
            return None
        calls = [each for each in self._now.nodes(parent, step) if isinstance(each, ast.Call)]
        names = {call.code.short, call.code.name.rpartition(".")[0]}
        found = [each for each in calls if called_name(each) in names] or [
            each for each in calls if call.code.is_of(self._now.value(each.func, parent, step))
        ]
        own = [each for each in self._all.called_in(step) if each.code == call.code]
        here = [each for each in found if each.lineno <= step.line <= (each.end_lineno or 0)]
        found = found if len(found) == len(own) else here  # a step of a statement of many lines
        made = _made_by(found, own.index(call) if call in own else 0, len(own))
        return None if made is None else (made, parent, step)

    def _beside(self, name: str, call: Call) -> Given | None:
        """Return what was given with the function itself, to be given to it later.

        So do `partial(f, 1)`, a job of a queue, a thread. Such a line tells nothing if what stands behind
        the function is not what the call got, or if another line did the same.
        """
        found: dict[ast.expr, Given] = {}
        for step in reversed(self._all.steps):
            if step.begin >= call.began or step.result is not None:
                continue
            for handing, at in self._handing(call.code, step):
                given = self._agreeing(name, call, handing, at)
                if given is not None:
                    found.setdefault(given.expr, given)
        return next(iter(found.values())) if len(found) == 1 else None

    def _handing(self, code: Code, step: Step) -> Iterator[tuple[ast.Call, Step]]:
        """Yield the calls of a line that were given a function, as if what follows it were all they got."""
        is_inner = step.frame.code.short in COMPREHENSIONS
        at = replace(step, begin=step.end, since=step.begin) if is_inner and step.end else step
        for node in self._now.nodes(step.frame, step):
            for place, each in enumerate(node.args if isinstance(node, ast.Call) else ()):
                if isinstance(each, _NAMED) and code.is_of(self._now.value(each, step.frame, at)):
                    assert isinstance(node, ast.Call)
                    yield ast.Call(each, node.args[place + 1 :], node.keywords), at

    def _agreeing(self, name: str, call: Call, handing: ast.Call, step: Step) -> Given | None:
        own, value_of = self._function(call), self._then(step.frame, step)
        names = _names(own)
        known = 0
        for other in call.given:
            given = _argument(other, names, handing, value_of)
            value = (
                None if given is None else self._value(Given(given[0], step.frame, step, given[1]))
            )
            if value is not None and not value.is_same(self._all.held(call, other, call.began)):
                return None
            known += value is not None
        given = _argument(name, names, handing, value_of)
        return Given(given[0], step.frame, step, given[1]) if given is not None and known else None

    def _value(self, given: Given) -> Value | None:
        value = self._now.value(given.expr, given.call, given.step)
        return self._all.part(value, given.key) if given.key else value

    def _function(self, call: Call) -> Function | None:
        node = self._sources[call.code.path].node_of(call.code)
        return node if isinstance(node, Function) else None

    def _then(self, call: Call, step: Step) -> Callable[[ast.expr], Value | None]:
        return lambda expr: self._now.value(expr, call, step)


def _made_by(calls: Sequence[ast.Call], number: int, of: int) -> ast.Call | None:
    """Return which call of a line is number ``number`` of its ``of`` calls; None: that isn't clear."""
    if len(calls) == of:
        return in_order(calls)[number]
    return calls[0] if len(calls) == 1 else None


def _unpacks(made: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in made.args) or any(
        each.arg is None for each in made.keywords
    )


def _names(own: Function | None) -> list[str]:
    """Return the parameters that the arguments of a call stand for by their places."""
    names = [] if own is None else [each.arg for each in (*own.args.posonlyargs, *own.args.args)]
    return names[1:] if names and names[0] in _BOUND else names


def _argument(
    name: str, names: Sequence[str], made: ast.Call, value_of: Callable[[ast.expr], Value | None]
) -> tuple[ast.expr, str] | None:
    """Return what a call has given for a parameter, and where in that it is; empty: it is all of it."""
    found = _named(name, made, value_of)
    if found is None and name in names:
        return _at(names.index(name), made, value_of)
    if found is None and name == "self" and isinstance(made.func, ast.Attribute):
        return made.func.value, ""
    return found


def _named(
    name: str, made: ast.Call, value_of: Callable[[ast.expr], Value | None]
) -> tuple[ast.expr, str] | None:
    for each in made.keywords:
        if each.arg == name:
            return each.value, ""
        held = value_of(each.value) if each.arg is None else None
        if held is not None and repr(name) in held.parts:
            return each.value, repr(name)
    return None


def _at(
    place: int, made: ast.Call, value_of: Callable[[ast.expr], Value | None]
) -> tuple[ast.expr, str] | None:
    """Return the argument at a place, after all are unpacked."""
    for each in made.args:
        if isinstance(each, ast.Starred):
            held = value_of(each.value)
            if held is None or held.kind != CONTAINER:
                return None
            if place < held.size:
                return (each.value, str(place)) if str(place) in held.parts else None
            place -= held.size
        elif not place:
            return each, ""
        else:
            place -= 1
    return None
