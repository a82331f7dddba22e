"""What is wrong with a value in many programs, and which of several values is the odd one."""

import re
from collections import Counter
from collections.abc import Sequence

from whet.agent.site.whet_state.secret_rule import MASK
from whet.evidence.provenance.run.recording import ARRAY, CONTAINER, SCALAR, Value
from whet.evidence.provenance.trace.trail import Flaw, OfType

AWARE = "aware"
_TIMES = {"datetime.datetime", "datetime.time"}
_LEAST_PARTS, _BOTH = 2, 2
_NAMED_TYPE = re.compile(r"""["']([\w.]+)["']|\bnot ([\w.]+)|([\w.]+) found\b""")


def shape_of(value: Value) -> str:
    """Return what kind of value it is: its type, and what may make it a bad one."""
    flaw = flaw_of(value)
    dtype = str(value.facts.get("dtype", ""))
    return f"{value.type} {dtype} {flaw[0] if flaw else ''} {zone_of(value)}"


def zone_of(value: Value) -> str:
    """Return whether a time has a time zone; empty: it isn't a time."""
    if value.type not in _TIMES:
        return ""
    return AWARE if "tzinfo=" in value.words else "naive"


def flaw_of(value: Value) -> tuple[str, Flaw, int] | None:
    """Return what is wrong with a value in many programs, as words and as a question."""
    if value.words == MASK:
        return None  # a secret: its value isn't shown
    for words, flaw, rank in _FLAWS:
        if flaw(value):
            return words, flaw, rank
    return None


def is_none(value: Value) -> bool:
    """Whether a value is None."""
    return value.type == "NoneType"


def is_nan(value: Value) -> bool:
    """Whether a value is NaN, or an array contains one."""
    if value.kind == ARRAY:
        return bool(value.facts.get("nan"))
    return value.kind == SCALAR and value.is_number and "nan" in value.words


def is_infinite(value: Value) -> bool:
    """Whether a number is infinite, or an array holds one that is."""
    if value.kind == ARRAY:
        return bool(value.facts.get("inf"))
    return value.is_number and "inf" in value.words


def is_empty(value: Value) -> bool:
    """Whether a text, a container or an array has nothing in it."""
    if value.kind == ARRAY:
        shape = value.facts.get("shape")
        return isinstance(shape, list) and 0 in shape
    is_text = value.kind == SCALAR and value.type in {"str", "bytes"}
    return (value.kind == CONTAINER or is_text) and value.size == 0


def _is_negative(value: Value) -> bool:
    if value.kind == ARRAY:
        least = value.facts.get("min")
        return (isinstance(least, int | float) and least < 0) or value.words.startswith("-")
    return value.is_number and value.words.startswith("-")


def is_zero(value: Value) -> bool:
    """Whether a value is the number zero."""
    return value.is_number and value.words in {"0", "0.0", "-0.0"}


_FLAWS: Sequence[tuple[str, Flaw, int]] = (
    ("None", is_none, 0),
    ("NaN", is_nan, 1),
    ("infinite", is_infinite, 3),
    ("negative", _is_negative, 5),
    ("empty", is_empty, 4),
    ("zero", is_zero, 5),
)


def named_types(message: str) -> set[str]:
    """Return the types that an error names; beside a None no other type is what is wrong."""
    found = (each.group(each.lastindex or 0) for each in _NAMED_TYPE.finditer(message))
    named = {name.rpartition(".")[2] for name in found}
    return {"NoneType"} if "NoneType" in named else named


def odd_of(
    parts: Sequence[tuple[str, Value]], message: str
) -> tuple[str, Value, str, Flaw, int] | None:
    """Return what the message is about of several values: None, NaN, or a type of few; else None."""
    named, kinds = named_types(message), Counter(part.type for _, part in parts)
    for key, part in sorted(parts, key=lambda each: not is_none(each[1])):
        own = part.type.rpartition(".")[2]
        if is_none(part) and own in named:
            return key, part, "None", is_none, 0
        if "NaN" in message and is_nan(part):
            return key, part, "NaN", is_nan, 1
        if own in named and kinds[part.type] * 2 < len(parts) and len(parts) > _LEAST_PARTS:
            is_alone = kinds[part.type] == 1 and len(kinds) == _BOTH
            return key, part, f"of type {own}", OfType.of(part), 2 if is_alone else 4
    return None
