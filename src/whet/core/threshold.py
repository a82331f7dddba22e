"""The small language of ``whet watch --when``: a level, a comparison, a quantity, and what to do."""

import difflib
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from whet.core.condition import duration_seconds
from whet.core.errors import BadThreshold
from whet.core.value_class import value_class

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_WORDS = re.compile(r"\s*(?P<name>[^\s<>=!~]+)\s*(?P<sign>[<>=!~]+)(?P<value>.*)", re.DOTALL)
_SIZE = re.compile(r"(?P<number>[\d.]+)\s*(?P<power>[kKMGT]?)(?P<binary>i?)B?")
_POWERS = ("", "k", "M", "G", "T")


@value_class(kw_only=True)
class LevelName:
    """A quantity that a threshold may name.

    Attributes:
        panel: the panel that measures it.
        unit: as of `whet.core.observations.timeline.Level`.
        meaning: what it is, in a few words.
    """

    panel: str
    unit: str
    meaning: str


LEVEL_NAMES: Mapping[str, LevelName] = {
    "rss": LevelName(panel="memory", unit="bytes", meaning="memory of the processes"),
    "memory.free": LevelName(panel="memory", unit="bytes", meaning="available on the machine"),
    "cpu": LevelName(panel="cpu", unit="percent", meaning="100 is one busy processor"),
    "processes": LevelName(panel="processes", unit="", meaning="how many there are"),
    "files": LevelName(panel="files", unit="", meaning="open file descriptors"),
    "disk.free": LevelName(panel="disk", unit="bytes", meaning="free on the file system"),
    "disk.used": LevelName(panel="disk", unit="bytes", meaning="used on the file system"),
    "gpu.memory": LevelName(panel="gpu", unit="bytes", meaning="used on the fullest GPU"),
    "gpu.busy": LevelName(panel="gpu", unit="percent", meaning="of the busiest GPU"),
    "network.in": LevelName(panel="network", unit="bytes/s", meaning="received in a second"),
    "network.out": LevelName(panel="network", unit="bytes/s", meaning="sent in a second"),
    "torch.allocated": LevelName(panel="torch", unit="bytes", meaning="held by tensors on GPUs"),
    "torch.reserved": LevelName(panel="torch", unit="bytes", meaning="held by the allocator"),
    "jax.live": LevelName(panel="jax", unit="bytes", meaning="held by live arrays"),
    "jax.buffers": LevelName(panel="jax", unit="", meaning="live arrays"),
    "jax.compilations": LevelName(panel="jax", unit="", meaning="programs compiled so far"),
    "value": LevelName(panel="", unit="", meaning="the number that a command's panel draws"),
}


@value_class(kw_only=True)
class Threshold:
    """A level that must not be crossed unnoticed.

    Attributes:
        text: as the user wrote it.
        name: of the level.
        sign: the comparison.
        value: the quantity, in the level's unit.
        action: what to do: ``bell``, ``stacks``, ``kill``, or a shell command.
    """

    text: str
    name: str
    sign: str
    value: float
    action: str

    @classmethod
    def parse(cls, text: str, action: str) -> "Threshold":
        """Read a condition such as ``rss > 8G``.

        Raises:
            BadThreshold: if it can't be read; names the word.
        """
        found = _WORDS.fullmatch(text)
        if found is None:
            raise BadThreshold(
                f"`{text}` has no comparison", hint="write it like 'rss > 8G' or 'disk.free < 1G'"
            )
        name, sign, value = found["name"], found["sign"], found["value"].strip()
        if name not in LEVEL_NAMES:
            near = difflib.get_close_matches(name, LEVEL_NAMES, n=1, cutoff=0.5)
            names = ", ".join(LEVEL_NAMES)
            raise BadThreshold(
                f"`{name}` in `{text}` is no level that whet watches",
                hint=f"did you mean `{near[0]}`?" if near else f"the levels are {names}",
            )
        if sign not in _OPERATORS:
            raise BadThreshold(
                f"`{sign}` in `{text}` is no comparison", hint="use one of > >= < <="
            )
        quantity = _quantity(value, LEVEL_NAMES[name].unit)
        if quantity is None:
            raise BadThreshold(
                f"`{value}` in `{text}` is not a quantity of {LEVEL_NAMES[name].unit or 'a number'}",
                hint=_FORMS[LEVEL_NAMES[name].unit],
            )
        if not action.strip():
            raise BadThreshold(
                f"`{text}` has no action", hint="add bell, stacks, kill or a shell command"
            )
        return cls(text=text, name=name, sign=sign, value=quantity, action=action.strip())

    def holds(self, value: float) -> bool:
        """Whether a level is beyond it."""
        return _OPERATORS[self.sign](value, self.value)


@dataclass(slots=True)
class Crossing:
    """Whether a level has just crossed a threshold; it tells once for each crossing."""

    threshold: Threshold
    is_beyond: bool = False

    def crosses(self, value: float | None) -> bool:
        """Note a value; say whether it has just crossed the threshold. None: not measured."""
        if value is None:
            return False
        before, self.is_beyond = self.is_beyond, self.threshold.holds(value)
        return self.is_beyond and not before


_FORMS = {
    "bytes": "write 500M, 8G or 2GiB",
    "bytes/s": "write 5M or 5MB/s",
    "percent": "write 90 or 90%",
    "": "write a number, such as 3 or 0.5",
}


def _quantity(value: str, unit: str) -> float | None:
    """Return a number in a unit; None: it is none."""
    if unit == "bytes":
        return _size(value)
    if unit == "bytes/s":
        return _size(value.removesuffix("/s"))
    number = _number(value.removesuffix("%").strip() if unit == "percent" else value)
    if number is not None or unit:
        return number
    size = _size(value)  # a command may print its numbers with a unit
    return duration_seconds(value) if size is None else size


def _size(value: str) -> float | None:
    """Return a size as panels count: ``8G`` and ``8GB`` are powers of 1000, ``8GiB`` of 1024."""
    found = _SIZE.fullmatch(value)
    number = None if found is None else _number(found["number"])
    if found is None or number is None:
        return None
    power = _POWERS.index(found["power"].replace("K", "k"))
    return number * float(1024 if found["binary"] else 1000) ** power


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
