"""Where a NaN came from, by an instrumented rerun and PyTorch's anomaly mode."""

import re
from collections.abc import Iterator, Sequence

from whet.core.observations.clue import Clue, Placing
from whet.core.text.record import JsonObject, boolean, rows, text
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
_WIDTH = 120
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
    clues = [_clue(each, at) for each in (nans[0], *before[:1])]
    return [each for each in clues if each is not None]


def _clue(told: JsonObject, at: Placing) -> Clue | None:
    line = line_of(told.get("place"))
    if line is None:
        return None
    name, what = text(told, "name"), text(told, "what")
    holder = f"`{name}`" if name else f"what `{line.function}` returns"
    value = text(told, "value")
    suffix = f" ({value})" if value and what.lower() != value.lower() else ""
    where = f"{at(line.path, line.number)} in `{line.function}`"
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
