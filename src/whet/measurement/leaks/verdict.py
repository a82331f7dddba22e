"""Which of the numbers of a process grow with each repetition, and what that means."""

from collections.abc import Mapping, Sequence
from enum import Enum

from whet.core.value_class import value_class
from whet.measurement.leaks.slope import Slope, slope_of

MEMORY, RESIDENT, MAPPED = "memory", "resident", "mapped"
SMALL, HEAP, BLOCKS, GARBAGE = "small", "heap", "blocks", "garbage"
DESCRIPTORS, THREADS, CHILDREN = "descriptors", "threads", "children"
CUDA, JAX = "cuda", "jax"

_LEAST_GAINED = {
    MEMORY: 2048.0, RESIDENT: 512 << 10, MAPPED: 1 << 20, DESCRIPTORS: 4.0, THREADS: 4.0,
    CHILDREN: 4.0, CUDA: 4096.0, JAX: 4096.0,
}  # fmt: skip
"""What a number must have gained to count: the resolution of what it is read from."""

_ORDER = (MEMORY, CUDA, JAX, RESIDENT, MAPPED, THREADS, DESCRIPTORS, CHILDREN)
_OF_MEMORY = {MEMORY, RESIDENT, MAPPED}
_EXPLAINS = 0.5
"""Resident memory that grows no faster than what is in use, by this share, tells nothing more."""

_NOISES = 4
_LEAST_BYTES = 64.0
_UNSURE_BYTES = 65536.0


class Kind(Enum):
    """What a series shows."""

    LEAK = "leak"
    SMALL = "small"
    """It grows, by less than what counts."""

    SLOWS = "slows"
    """It grows, but slower and slower, as a table that fills up does."""

    RESULT = "result"
    """It grows, but it is what the repeated loop is there to make: its function returns it."""

    NONE = "none"
    UNSURE = "unsure"


@value_class(kw_only=True)
class Series:
    """What a process held after a number of repetitions.

    Attributes:
        numbers: how many repetitions, rising.
        usages: what was held then, by name.
    """

    numbers: tuple[int, ...]
    usages: tuple[Mapping[str, int], ...]

    def of(self, name: str) -> tuple[list[int], list[float]]:
        """Return the points of one number, where it was measured."""
        pairs = [
            (number, float(usage[name]))
            for number, usage in zip(self.numbers, self.usages, strict=True)
            if name in usage
        ]
        return [number for number, _ in pairs], [value for _, value in pairs]


@value_class(kw_only=True)
class Judgement:
    """What a series shows.

    Attributes:
        kind: whether there is a leak.
        slopes: how each number grows; of those with enough points.
        growing: the names of those that grow, the most telling first; those that slow down only if
            all do.
        below: as many bytes a repetition it is at most; None: memory wasn't measured.
        is_python: Python's own allocator gives a part of what grows.
    """

    kind: Kind
    slopes: Mapping[str, Slope]
    growing: tuple[str, ...]
    below: float | None
    is_python: bool


def judge(
    series: Series, control: Sequence[Mapping[str, int]] = (), *, least: float = _LEAST_BYTES
) -> Judgement:
    """Judge what a process held while a piece of it was repeated.

    Args:
        series: what it held.
        control: what it held while nothing was repeated, as often as it was looked at.
        least: bytes a repetition from which on memory counts.
    """
    slopes: dict[str, Slope] = {}
    for name in sorted({name for usage in series.usages for name in usage}):
        slope = slope_of(*series.of(name))
        if slope is not None:
            slopes[name] = slope
    growing = [name for name in _ORDER if name in slopes and _grows(name, slopes[name], control)]
    growing = _telling(growing, slopes)
    steady = [name for name in growing if slopes[name].slowing is None]
    growing = steady or growing
    memory = slopes.get(MEMORY) or slopes.get(RESIDENT)
    small = [name for name in growing if name in _OF_MEMORY and slopes[name].best < least]
    below = None if memory is None else max(0.0, memory.high)
    if not slopes:
        kind = Kind.UNSURE
    elif growing:
        kind = Kind.SMALL if len(small) == len(growing) else Kind.LEAK if steady else Kind.SLOWS
    else:
        kind = Kind.UNSURE if below is not None and below > _UNSURE_BYTES else Kind.NONE
    return Judgement(
        kind=kind, slopes=slopes, growing=tuple(growing), below=below,
        is_python=_is_python(slopes),
    )  # fmt: skip


def _grows(name: str, slope: Slope, control: Sequence[Mapping[str, int]]) -> bool:
    held = [usage[name] for usage in control if name in usage]
    # What whet's own looks add settles after the first ones.
    held = held[len(held) // 3 :]
    noise = (max(held) - min(held)) if held else 0
    is_much = slope.gained >= max(_LEAST_GAINED[name], noise * _NOISES)
    return slope.goes_on and slope.low > 0 and is_much


def _telling(growing: Sequence[str], slopes: Mapping[str, Slope]) -> list[str]:
    """Return the names that grow without those that only follow from another one."""
    found: list[str] = []
    for name in growing:
        before = max((slopes[each].best for each in found if each in _OF_MEMORY), default=0.0)
        is_told = name in {RESIDENT, MAPPED} and slopes[name].best * _EXPLAINS <= before
        is_stack = name in {RESIDENT, MAPPED} and THREADS in growing
        if not is_told and not is_stack:
            found.append(name)
    return found


def _is_python(slopes: Mapping[str, Slope]) -> bool:
    blocks = slopes.get(BLOCKS)
    return blocks is not None and blocks.goes_on and blocks.low > 0 and blocks.best >= _EXPLAINS / 2
