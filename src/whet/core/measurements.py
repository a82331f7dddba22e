"""The numbers of an outcome: their names, what kind each is, and how people write and read them."""

import re
from collections.abc import Callable
from enum import StrEnum
from itertools import pairwise

from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_bytes, shown_seconds

_NUMBER = re.compile(
    r"(?P<number>[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?|nan|inf)\s*(?P<unit>[A-Za-zµμ]*)",
    re.IGNORECASE,
)


class NumberKind(StrEnum):
    """What a number is of."""

    TIME = "time"
    MEMORY = "memory"
    NUMBER = "number"


_TIMES = {
    "": 1.0, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3,
    "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0,
}  # fmt: skip
_SIZES = {
    "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
    "kib": 1024.0, "mib": 1024.0**2, "gib": 1024.0**3, "tib": 1024.0**4,
}  # fmt: skip
_UNITS = {
    NumberKind.TIME: _TIMES,
    # A letter alone is a size where the name says that it is one: `peak < 500M`, and not 500 minutes.
    NumberKind.MEMORY: {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, **_SIZES},
    NumberKind.NUMBER: {**_TIMES, **_SIZES},
}
EXAMPLES = {
    NumberKind.TIME: "2, 0.5, 200ms, 2s or 3min",
    NumberKind.MEMORY: "500MB, 2G or 2GiB",
    NumberKind.NUMBER: "2, 0.5, 1e-3, 200ms, 2s, 3min, 500MB or 2GiB",
}
"""How a value of each kind may be written."""

_OBSERVED: dict[str, Callable[[Outcome], float]] = {
    "seconds": lambda outcome: outcome.wall_seconds,
    "cpu_seconds": lambda outcome: outcome.cpu_seconds,
    "peak_memory": lambda outcome: outcome.peak_rss_bytes,
    "exit": lambda outcome: outcome.shell_exit_code,
    "stdout_bytes": lambda outcome: outcome.stdout.size_bytes,
    "stderr_bytes": lambda outcome: outcome.stderr.size_bytes,
}
_SHORT = {
    "wall_seconds": "seconds",
    "cpu": "cpu_seconds",
    "peak": "peak_memory",
    "peak_rss_bytes": "peak_memory",
}
_ENDINGS = {
    NumberKind.TIME: (".seconds", ".cpu_seconds"),
    NumberKind.MEMORY: ("peak_memory", "kept_memory", "_bytes"),
}
_COUNTERS = ("", "python_", "gpu_", "gpu_reserved_", "gpu_outside_", "jax_gpu_")
SECTION_ENDINGS = (
    ".seconds", ".cpu_seconds", ".count", ".kept_objects",
    *(f".{each}{what}_memory" for each in _COUNTERS for what in ("peak", "kept")),
)  # fmt: skip
"""How the names of a section's numbers end."""


_MILLION, _EXACT = 1e6, 2.0**53
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµμ]+)")
_TOGETHER = re.compile(rf"(?:{_PART.pattern}\s*){{2,}}")
_QUANTITY = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?\s*[A-Za-zµμ]+")
"""A number with a unit, within a statement."""


def full_name(name: str) -> str:
    """Return a name without its short form: `peak` is `peak_memory`."""
    return _SHORT.get(name, name)


def is_observed(name: str) -> bool:
    """Whether whet measures the number itself, in each trial."""
    return full_name(name) in _OBSERVED


def is_of_section(name: str) -> bool:
    """Whether a name is that of a section's number, such as ``load.seconds``."""
    return name.endswith(SECTION_ENDINGS)


def number_of(name: str, outcome: Outcome) -> float | None:
    """Return a number of an outcome; None: it was never reported.

    What the user measures under a short name, such as `peak`, goes before whet's own number.
    """
    if name in _SHORT and name in outcome.measurements:
        return outcome.measurements[name]
    observe = _OBSERVED.get(full_name(name))
    return outcome.measurements.get(name) if observe is None else observe(outcome)


def kind_of(name: str) -> NumberKind:
    """Return what a number is of, by its name."""
    whole = full_name(name)
    if whole in {"seconds", "cpu_seconds"} or whole.endswith(_ENDINGS[NumberKind.TIME]):
        return NumberKind.TIME
    if whole == "peak_memory" or whole.endswith(_ENDINGS[NumberKind.MEMORY]):
        return NumberKind.MEMORY
    return NumberKind.NUMBER


def quantity_of(text: str, kind: NumberKind) -> float | None:
    """Return the number that ``text`` says, in seconds or bytes; None: it says none of this kind.

    A time may have several units, the longest first: ``1h30m``.
    """
    if kind is NumberKind.TIME and _TOGETHER.fullmatch(text.strip()):
        return _together(text)
    found = _NUMBER.fullmatch(text.strip())
    scale = None if found is None else _UNITS[kind].get(found["unit"].lower())
    return None if found is None or scale is None else float(found["number"]) * scale


def _together(text: str) -> float | None:
    times = [(float(number), _TIMES.get(unit.lower())) for number, unit in _PART.findall(text)]
    known = [(number, scale) for number, scale in times if scale is not None]
    falls = all(one[1] > other[1] for one, other in pairwise(known))
    return sum(one * scale for one, scale in known) if falls and known == times else None


def unit_of(text: str) -> str:
    """Return the unit that ``text`` ends with; empty: it has none, or isn't a quantity."""
    found = _NUMBER.fullmatch(text.strip())
    return "" if found is None else found["unit"]


def kind_in(statement: str) -> NumberKind:
    """Return what a statement is about by its first unit: ``took < 1s`` is about time."""
    for found in _QUANTITY.finditer(statement):
        for kind in (NumberKind.TIME, NumberKind.MEMORY):
            if quantity_of(found[0], kind) is not None:
                return kind
    return NumberKind.NUMBER


def shown_number(name: str, value: float, statement: str = "") -> str:
    """Return a number as a person reads it: ``2.5 s``, ``48 MB``, ``0.031``.

    Args:
        name: the number's.
        value: it.
        statement: what was said of it; its unit counts if the name tells none.
    """
    kind = kind_of(name)
    if kind is NumberKind.NUMBER:
        kind = kind_in(statement)
    if kind is NumberKind.TIME:
        return shown_seconds(value)
    if kind is NumberKind.MEMORY:
        return shown_bytes(round(value)) if value >= 0 else f"−{shown_bytes(round(-value))}"
    if abs(value) >= _MILLION and value.is_integer() and abs(value) < _EXACT:
        return f"{value:,.0f}"
    return f"{value:.6g}"
