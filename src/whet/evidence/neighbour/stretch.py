"""Sections of a recorded run: the failing one, and similar ones that passed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import Call, Code, Raised, Recording, Step
from whet.host.inspect.stacks import is_user_code

_MOST_LEVELS = 8

Function = tuple[str, str, int]
"""A function in any run: its file, its name, its first line."""

Line = tuple[Function, int]


@value_class
class Stretch:
    """What was run between two moments.

    Attributes:
        lines: the lines, each with the first time that it was run.
        functions: the functions that they belong to.
    """

    lines: Mapping[Line, Step]
    functions: frozenset[Function]


def function_of(code: Code) -> Function:
    """Return a function as it is called in any run."""
    return (code.path, code.name, code.first_line)


def stretch_of(calls: Iterable[Call]) -> Stretch:
    """Return what some calls have run."""
    lines: dict[Line, Step] = {}
    functions: set[Function] = set()
    for call in calls:
        function = function_of(call.code)
        functions.add(function)
        for step in call.steps:
            stretch = lines.get((function, step.line))
            if stretch is None or step.begin < stretch.begin:
                lines[function, step.line] = step
    return Stretch(lines, frozenset(functions))


def within(recording: Recording, roots: Sequence[Call]) -> list[list[Call]]:
    """Return calls, each with all that was called in it."""
    inside = {root.index: [root] for root in roots}
    first = min(inside, default=0)
    for call in recording.calls[first:]:
        around = None if call.parent is None else inside.get(call.parent.index)
        if around is not None and call.index not in inside:
            around.append(call)
            inside[call.index] = around
    return [inside[root.index] for root in roots]


def earlier_calls(recording: Recording, error: Raised) -> Iterator[tuple[Call, Sequence[Call]]]:
    """Yield each call on the way to an error with the calls of that function that came to their end.

    The innermost one comes first. What a method of a library does on another object tells nothing:
    each has its own parts, as the layers of a network have.
    """
    for call in islice(error.call.around, _MOST_LEVELS):
        if call.code.is_module or call.code.short.startswith("<"):
            continue
        others = [
            each
            for each in recording.calls[: call.index]
            if each.code is call.code and has_returned(each) and _is_comparable(each, call)
        ]
        if others:
            yield call, others


def _is_comparable(one: Call, other: Call) -> bool:
    return is_user_code(one.code.path) or _own_object(one) == _own_object(other)


def _own_object(call: Call) -> int:
    """Return the number of the object of a method; -1: it is none, or that isn't known."""
    held = next((value for _, value in call.held.get("self", ())), None)
    return -1 if held is None else held.number


def outermost(call: Call) -> Call:
    """Return the call in which all others were made: of a test run that of the test."""
    *_, last = call.around
    return last


def others_of_file(recording: Recording, path: str) -> list[Call]:
    """Return the outermost calls into a file that came to their end: of a test file its tests."""
    return [
        each
        for each in recording.calls
        if each.parent is None
        and each.code.path == path
        and not each.code.is_module
        and has_returned(each)
    ]


def has_returned(call: Call) -> bool:
    """Whether a call came to its end without an error."""
    return next(call.results, None) is not None
