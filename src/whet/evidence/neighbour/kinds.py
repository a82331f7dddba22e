"""Where both runs take the same path: a line that makes a value of another type only in the failing run."""

from collections.abc import Iterable, Iterator

from whet.core.value_class import value_class
from whet.evidence.neighbour.stretch import Function, function_of
from whet.evidence.provenance.run.recording import Call, Raised, Recording, Value
from whet.evidence.provenance.trace.flaws import flaw_of, zone_of

RESULT = "return"
_ORDINARY = {"zero", ""}
_Key = tuple[Function, int, str]


@value_class
class Odd:
    """A value of a kind that no passing run has there.

    Attributes:
        function: where.
        line: what made it.
        name: the variable; `RESULT`: what the function returns.
        kind: what kind it is.
        others: the kinds in the runs that passed.
        moment: when it was made.
    """

    function: Function
    line: int
    name: str
    kind: str
    others: tuple[str, ...]
    moment: int


def kind_of(value: Value) -> str:
    """Return what kind a value is: None, NaN, infinite, negative or empty, else its type."""
    flaw = flaw_of(value)
    if flaw is not None and flaw[0] not in _ORDINARY:
        return flaw[0]
    dtype = str(value.facts.get("dtype", ""))
    return f"{zone_of(value)} {value.type.rpartition('.')[2]} {dtype}".strip()


def odd_values(
    failing: tuple[Recording, Iterable[Call]],
    passing: tuple[Recording, Iterable[Call]],
    error: Raised,
) -> list[Odd]:
    """Return values of kinds that passing calls don't make on the same lines, the first one first.

    Args:
        failing: the failing run, and calls in it.
        passing: a passing run, and calls in it.
        error: how it failed; what its own line makes tells nothing.
    """
    usual: dict[_Key, dict[str, None]] = {}
    for key, kind, _ in _made(*passing):
        usual.setdefault(key, {}).setdefault(kind)
    there = (function_of(error.call.code), error.line)
    by_key: dict[_Key, Odd] = {}
    for key, kind, moment in _made(*failing):
        function, line, name = key
        kinds = usual.get(key)
        if kinds and kind not in kinds and (function, line) != there:
            by_key.setdefault(key, Odd(function, line, name, kind, tuple(kinds), moment))
    return sorted(by_key.values(), key=lambda each: each.moment)


def _made(recording: Recording, calls: Iterable[Call]) -> Iterator[tuple[_Key, str, int]]:
    for call in calls:
        function = function_of(call.code)
        for step in call.steps:
            if step.result is not None:
                yield (function, step.line, RESULT), kind_of(step.result), step.begin
            for name in step.has_changed:
                value = recording.held(call, name, step.end)
                if value is not None:
                    yield (function, step.line, name), kind_of(value), step.end
