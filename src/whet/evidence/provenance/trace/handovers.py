"""What a library hands over: which function of the program returned the value that an iterator gave.

A loop over a loader, a pool or a queue gets what other functions made. Python calls these from code
that isn't followed, so no line passes the value on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from whet.core.text.record import items_of
from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import (
    ARRAY,
    CONTAINER,
    SCALAR,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.trace.trail import TEXTS, Flaw, OfType, is_common
from whet.host.inspect.stacks import is_user_code

_OF_ONE = {"float": "float64", "int": "int64", "bool": "bool"}
"""The element type of an array that a library makes of such numbers."""
_LEAST_TEXT = 4


@value_class(eq=False)
class Handover:
    """What a function has returned to a library, which has handed it over.

    Attributes:
        result: the return.
        holder, key: what it returned has the value in this, under this key; None: it is the value.
        flaw: what is wrong with it there; None: it is the same value.
    """

    result: Step
    holder: Value | None = None
    key: str = ""
    flaw: Flaw | None = None


def handed_over(
    recording: Recording,
    target: Value | None,
    step: Step,
    flaw: Flaw | None,
    *,
    is_element: bool = False,
) -> Handover | None:
    """Return where the program returned a value that a line got from a library; None: nothing tells.

    Args:
        recording: the run.
        target: the value.
        step: the line.
        flaw: what is wrong with it. A library that joins items makes another object of them, which
            has the flaw because they have it.
        is_element: a loop got it: the last call of a function gave it, if one did.
    """
    if target is None:
        return None
    results = list(_results(recording, step))
    told = [each for each in results if _is_told(target, each, step)]
    for result in told:
        if _is_it(result.result, target):
            return Handover(result)
    for result in told:
        for holder, key, part in _parts(recording, result.result):
            if _is_it(part, target):
                return Handover(result, holder, key)
    is_a_text = isinstance(flaw, OfType) and flaw.type in TEXTS
    if flaw is None or is_a_text:
        return None
    during = [each for each in results if _is_during(each, step) and _is_given(each, step)]
    if is_element and target.kind != ARRAY:  # an array may be joined from what many calls gave
        last = {each.frame.code: each for each in reversed(during)}
        during = [each for each in during if last[each.frame.code] is each]
    place = _place_of(recording, target, step)
    found = _flawed(recording, during, target, flaw, place)
    return found or _flawed(recording, _of_one_task(results, step), target, flaw, place)


def _results(recording: Recording, step: Step) -> Iterator[Step]:
    """Yield what functions of the program returned until a line got its value, the last first."""
    for each in reversed(recording.steps):
        is_other = each.frame is not step.frame and is_user_code(each.frame.code.path)
        if each.result is not None and each.begin < step.over and is_other:
            yield each


def _is_during(result: Step, step: Step) -> bool:
    return (step.since or step.begin) < result.begin < step.over


def _is_told(target: Value, result: Step, step: Step) -> bool:
    """Whether a value is so much its own that a function which returned it gave it to the line."""
    if target.kind == SCALAR:
        is_long = target.type in TEXTS and target.size >= _LEAST_TEXT
        return not is_common(target) and (is_long or _is_during(result, step))
    # Another object may have had its number before; what it holds tells.
    return target.kind in {ARRAY, CONTAINER} or _is_during(result, step)


def _is_it(value: Value | None, target: Value) -> bool:
    if target.kind in {ARRAY, CONTAINER}:
        return value is target
    return target.is_same(value)


def _parts(recording: Recording, value: Value | None) -> Iterator[tuple[Value, str, Value]]:
    """Yield what a value holds, and what that holds, each with its holder and key."""
    if value is None or value.kind != CONTAINER:
        return
    parts = list(recording.parts(value))
    for key, part in parts:
        yield value, key, part
    for _, part in parts:
        if part.kind == CONTAINER:
            yield from ((part, key, inner) for key, inner in recording.parts(part))


def _flawed(
    recording: Recording, results: Sequence[Step], target: Value, flaw: Flaw, place: str
) -> Handover | None:
    """Return the last item with the flaw; of its parts first the one at the place of the value."""
    for result in results:
        value = result.result
        own = None if value is None else _own_flaw(value, target, flaw)
        if own is not None:
            return Handover(result, flaw=own)
        for holder, key, part in sorted(
            _parts(recording, value), key=lambda each: each[1] != place
        ):
            own = _own_flaw(part, target, flaw)
            if own is not None:
                return Handover(result, holder, key, own)
    return None


def _of_one_task(results: Sequence[Step], step: Step) -> list[Step]:
    """Return what the tasks of other threads returned, if they all ran one function."""
    tasks = [
        each
        for each in results
        if each.frame.parent is None
        and each.frame.thread != step.frame.thread
        and not each.frame.code.is_module
    ]
    return tasks if len({each.frame.code for each in tasks}) == 1 else []


def _is_given(result: Step, step: Step) -> bool:
    """Whether it was returned to a library that the line, or nobody who was followed, called."""
    for above in result.frame.around:
        if above is result.frame:
            continue
        if above is step.frame:
            return True
        if is_user_code(above.code.path):
            return False
    return True


def _place_of(recording: Recording, target: Value, step: Step) -> str:
    """Return where in what the line got the value is; empty: it is all of it."""
    for name in step.has_changed:
        held = recording.held(step.frame, name, step.over)
        for key, part in recording.parts(held) if held is not None else ():
            if part is target:
                return key
    return ""


def _own_flaw(value: Value, target: Value, flaw: Flaw) -> Flaw | None:
    """Return what is wrong with an item, where a library made the value of many like it."""
    if flaw(value):
        return flaw
    if target.kind != ARRAY or not flaw(target):
        return None
    held = _OF_ONE.get(value.type, value.type.removeprefix("numpy."))
    if value.kind == SCALAR:  # that it is one isn't wrong yet
        return _never if flaw(replace(target, facts={"dtype": held})) else None
    if flaw(replace(target, facts=value.facts)):
        return OfType.of(value)
    shape = items_of(target.facts.get("shape")) if "shape" in target.facts else []
    is_row = value.kind == ARRAY and value.facts.get("dtype") == target.facts.get("dtype")
    if is_row and len(shape) > 1 and items_of(value.facts.get("shape", [])) == shape[1:]:
        own = value.facts.get("shape")
        return lambda other: other.facts.get("shape") == own
    return None


def _never(_value: Value) -> bool:
    return False
