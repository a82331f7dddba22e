"""Stretches of a recorded run: the failing one, and those like it that passed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from whet.evidence.provenance.recording import Call, Code, Raised, Recording, Step

Function = tuple[str, str, int]
"""A function in any run: its file, its name, its first line."""

Line = tuple[Function, int]


@dataclass(frozen=True, slots=True)
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
            known = lines.get((function, step.line))
            if known is None or step.begin < known.begin:
                lines[function, step.line] = step
    return Stretch(lines, frozenset(functions))


def within(recording: Recording, root: Call) -> Iterator[Call]:
    """Yield a call, and all that was called in it."""
    inside = {root.index}
    for call in recording.calls[root.index :]:
        if call is root or (call.parent is not None and call.parent.index in inside):
            inside.add(call.index)
            yield call


def earlier_calls(recording: Recording, error: Raised) -> Iterator[tuple[Call, Sequence[Call]]]:
    """Yield each call on the way to an error with the calls of that function that came to their end.

    The innermost one comes first.
    """
    for call in error.call.around:
        if call.code.is_module or call.code.short.startswith("<"):
            continue
        others = [
            each
            for each in recording.calls[: call.index]
            if each.code is call.code and has_returned(each)
        ]
        if others:
            yield call, others


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
