"""Where a NaN came from, by an instrumented rerun and PyTorch's anomaly mode."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.text.record import JsonObject, boolean, rows, text, whole
from whet.evidence.clues.closer_look import Line, line_of, of_kind
from whet.evidence.variables.kept_failure import KeptError
from whet.evidence.variables.kept_value import value_line
from whet.host.inspect.stacks import is_user_code

WHY = "a NaN or infinity was made somewhere before"
_SPOKEN = re.compile(
    r"(?:\b|_)(?:is)?nans?\b|\binf(?:s|inite|inity)?\b|\bnon-?finite|not finite|not a number"
    r"|is no number",
    re.IGNORECASE,
)
_HELD = re.compile(r"\b(?:NaN|Inf)=[1-9]|^-?(?:nan|inf)$")
_INNER = re.compile(r"\.<locals>\.<\w+>|^<\w+comp>$|^<genexpr>$")
_WIDTH = 120
_VALUES = {
    "float", "complex", "float16", "float32", "float64", "Tensor", "Parameter", "ndarray", "Series",
    "DataFrame", "list", "tuple", "dict",
}  # fmt: skip
_ANOMALY = re.compile(r"Traceback of forward call that caused the error")
_FRAME = re.compile(r'^\s*File "(?P<path>.+)", line (?P<line>\d+), in (?P<function>.+)$')


def speaks_of_it(said: str) -> bool:
    """Whether a message, or the definition of bad, is about a NaN."""
    return _SPOKEN.search(said) is not None


def holds_it(error: KeptError) -> bool:
    """Whether a frame of the user's own held such a number when the error was raised."""
    return any(
        _HELD.search(value_line(variable.value, _WIDTH))
        for frame in error.frames
        if frame.frame.in_user_code
        for variable in frame.variables or ()
        if not variable.is_global
    )


def number_clues(told: Sequence[JsonObject], at: Placing) -> list[Clue]:
    """Return the line that made the first NaN, and that of an infinite number if that came before.

    A literal NaN in the program may be intended: it is reported only if there is no other source.
    """
    numbers = list(of_kind(told, "number"))
    origins = [each for each in numbers if not boolean(each, "is_written")] or numbers
    nans = [each for each in origins if text(each, "what") == "NaN"]
    if not nans:
        return [clue for each in origins[:1] if (clue := _clue(each, at)) is not None]
    before = origins[: origins.index(nans[0])]
    clues = [clue for each in (nans[0], *before[:1]) if (clue := _clue(each, at)) is not None]
    # What an optimizer or a model trains is spoilt by an earlier one.
    alone = [each for each in numbers if text(each, "of") in _VALUES]
    is_first = alone[:1] == nans[:1] and numbers[:1] == nans[:1]
    if len(alone) == 1 and is_first and not _is_meant(alone[0]):
        return [replace(each, sureness=Sureness.SEEN) for each in clues]
    return clues


def _is_meant(told: JsonObject) -> bool:
    return boolean(told, "is_written") or boolean(told, "is_met")


def first_seen(told: Sequence[JsonObject]) -> int | None:
    """Return how far a run had come when no variable held a NaN yet, a short while before one did."""
    found = next(of_kind(told, "spoilt"), None)
    return None if found is None else whole(found.get("clean"))


def _clue(told: JsonObject, at: Placing) -> Clue | None:
    line = line_of(told.get("place"))
    if line is None:
        return None
    name, what = text(told, "name"), text(told, "what")
    function = _INNER.sub("", line.function) or "<module>"
    holder = f"`{name}`" if name else f"what `{function}` returns"
    value = text(told, "value")
    suffix = f" ({value})" if value and what.lower() != value.lower() else ""
    where = f"{at(line.path, line.number)} in `{function}`"
    parts = rows(told.get("made_of"), 2)
    made_of = "; ".join(f"`{name}`: {value}" for name, value in parts)
    of = f", from {made_of}" if made_of else ""
    if boolean(told, "is_met"):
        says = (
            f"the first {_called(what)} that was met: {holder}{suffix} holds one already at {where}"
        )
    else:
        says = f"the first {_called(what)}: {holder}{suffix}, made at {where}{of}"
    return Clue(says=says, why=WHY, path=line.path, line=line.number)


def _called(what: str) -> str:
    return what if what == "NaN" else "infinite number"


def is_of_torch(told: Sequence[JsonObject]) -> bool:
    """Whether one of them was in a tensor."""
    return any("Tensor" in text(each, "of") for each in of_kind(told, "number"))


def forward_call(written: str) -> Line | None:
    """Return the line of the forward call that anomaly mode reported; None: it reported none.

    It prints the traceback of that call as a warning, the innermost frame last.
    """
    start = _ANOMALY.search(written)
    if start is None:
        return None
    own = [each for each in _frames(written[start.end() :]) if is_user_code(each.path)]
    return own[-1] if own else None


def _frames(written: str) -> Iterator[Line]:
    """Yield the frames of the first traceback; their source stands between them, indented."""
    for line in written.splitlines()[1:]:
        match = _FRAME.match(line)
        if match is not None:
            yield Line(path=match["path"], number=int(match["line"]), function=match["function"])
        elif not line.startswith("    "):
            return
