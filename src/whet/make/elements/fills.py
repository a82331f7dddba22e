"""What numbers fill an array, in the order in which they lie in memory."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import cycle, islice, product, repeat

from whet.core.errors import BadUsage
from whet.core.value_class import value_class
from whet.make.elements.chance import normal, uniform, whole
from whet.make.elements.dtypes import Dtype, Number
from whet.make.words import unknown_word

_STEP = 1000
"""Of each axis but the last, so that a coordinate is read at a glance."""

_MOST_WHOLE = 9


@value_class(kw_only=True)
class Filling:
    """With what an array is filled.

    Attributes:
        name: one of `FILLS`.
        seed: of random numbers.
        value: of ``constant``.
        low: where ``ramp`` and ``random`` begin; None: at 0.
        high: where they end; None: 1 further; of whole numbers at the last place, or 9 further.
        at: where ``nan`` and ``inf`` stand; empty: at the first place.
        border: what ``deadbeef`` guards.
    """

    name: str = "count"
    seed: int = 0
    value: Number = 1
    low: float | None = None
    high: float | None = None
    at: tuple[int, ...] = ()
    border: str = "row"


def numbers_of(filling: Filling, shape: Sequence[int], dtype: Dtype) -> Iterable[Number]:
    """Return as many numbers as an array of a shape has places.

    Raises:
        BadUsage: if there is no such fill, or the type can't hold it.
    """
    if filling.name not in FILLS:
        raise unknown_word("fill", filling.name, FILLS)
    made = FILLS[filling.name](filling, shape, dtype)
    return islice(made, math.prod(shape))


def step_of(shape: Sequence[int]) -> int:
    """Return by how much a coordinate rises from one index to the next of the axis before the last."""
    step = _STEP
    while step < max(shape[1:], default=0):
        step *= 10
    return step


def _count(_filling: Filling, shape: Sequence[int], dtype: Dtype) -> Iterable[Number]:
    count = math.prod(shape)
    if dtype.sort == "bool":
        return (place % 2 == 1 for place in range(1, count + 1))
    if (
        dtype.is_whole and count > dtype.exact
    ):  # 1 … 127, then 0, 1 …: as a counter of the type does
        return (place % (dtype.exact + 1) for place in range(1, count + 1))
    return range(1, count + 1)


def _coordinates(_filling: Filling, shape: Sequence[int], dtype: Dtype) -> Iterator[Number]:
    step = step_of(shape)
    weights = [step**axis for axis in range(len(shape) - 1, -1, -1)]
    largest = sum((length - 1) * weight for length, weight in zip(shape, weights, strict=True))
    if largest > dtype.exact and math.prod(shape):
        raise BadUsage(
            f"{dtype.name} can't tell the coordinates of {tuple(shape)} apart: they go up to {largest},"
            f" and it holds whole numbers up to {dtype.exact}",
            hint="choose `int64` or `float64`" if largest < 2**53 else "choose a smaller shape",
        )
    axes = (
        range(0, length * weight, weight) for length, weight in zip(shape, weights, strict=True)
    )
    return map(sum, product(*axes))


def _ramp(filling: Filling, shape: Sequence[int], dtype: Dtype) -> Iterator[Number]:
    last = max(math.prod(shape) - 1, 1)
    if dtype.sort == "bool":
        return (2 * place > last for place in range(last + 1))
    low, high = _ends(filling, min(last, dtype.exact) if dtype.is_whole else 1.0)
    if dtype.is_whole:
        first, end = int(low), int(high)
        return (first + (end - first) * place // last for place in range(last + 1))
    return (low + (high - low) * (place / last) for place in range(last + 1))


def _ends(filling: Filling, span: float) -> tuple[float, float]:
    """Return where numbers begin and end: so far apart, unless the caller wants something else.

    Raises:
        BadUsage: if they would end before they begin.
    """
    low = 0 if filling.low is None else filling.low
    high = low + span if filling.high is None else filling.high
    if not low <= high:
        raise BadUsage(
            f"{filling.name} numbers can't go from {low} to {high}",
            hint="give a `low` that is at most `high`",
        )
    return low, high


def _constant(filling: Filling, _shape: Sequence[int], dtype: Dtype) -> Iterator[Number]:
    value = filling.value
    if dtype.is_whole and isinstance(value, float) and value.is_integer():
        value = int(value)
    return repeat(value)


def _random(filling: Filling, _shape: Sequence[int], dtype: Dtype) -> Iterator[Number]:
    if dtype.sort == "bool":
        return whole(filling.seed, 0, 1)
    low, high = _ends(filling, _MOST_WHOLE if dtype.is_whole else 1.0)
    if dtype.is_whole:
        return whole(filling.seed, int(low), int(high))
    numbers = uniform(filling.seed, low, high)
    return map(complex, numbers, numbers) if dtype.sort == "complex" else numbers


def _normal(filling: Filling, _shape: Sequence[int], dtype: Dtype) -> Iterator[Number]:
    if dtype.is_whole or dtype.sort == "bool":
        raise BadUsage(
            f"{dtype.name} has no room for normally distributed numbers",
            hint="choose a float dtype, or `--fill random`",
        )
    numbers = normal(filling.seed)
    return map(complex, numbers, numbers) if dtype.sort == "complex" else numbers


def _eye(_filling: Filling, shape: Sequence[int], _dtype: Dtype) -> Iterator[Number]:
    *_, rows, columns = (1, 1, *shape)
    return cycle(int(row == column) for row in range(rows) for column in range(columns))


def _onehot(_filling: Filling, shape: Sequence[int], _dtype: Dtype) -> Iterator[Number]:
    columns = shape[-1] if shape else 1
    rows = math.prod(shape[:-1])
    return (int(row % columns == column) for row in range(rows) for column in range(columns))


def _put(value: float) -> "Fill":
    """Count, but put one value at a place."""

    def fill(filling: Filling, shape: Sequence[int], dtype: Dtype) -> Iterator[Number]:
        if not dtype.holds(value):
            raise BadUsage(
                f"{dtype.name} has no {value}", hint="choose another dtype, such as `float32`"
            )
        place = place_of(filling.at, shape)
        counted = enumerate(_count(filling, shape, dtype))
        return (value if at == place else number for at, number in counted)

    return fill


def place_of(at: Sequence[int], shape: Sequence[int]) -> int:
    """Return the place in memory of an index, which may count from the end; without one the first.

    Raises:
        BadUsage: if the shape has no such place.
    """
    place = 0
    index = at or (0,) * len(shape)
    is_there = len(index) == len(shape)
    for number, length in zip(index, shape, strict=False):
        is_there = is_there and -length <= number < length
        place = place * length + number % (length or 1)
    if at and not is_there:
        raise BadUsage(
            f"there is no place {list(at)} in an array of shape {tuple(shape)}",
            hint="an index for each axis, each below its length, such as `--at 1,0`",
        )
    return place


def edges_of(dtype: Dtype) -> list[Number]:
    """Return the values of a type that break programs."""
    if dtype.sort == "bool":
        return [0, 1]
    if dtype.is_whole:
        lowest, last = int(dtype.low), int(dtype.high)
        signed = [-1, lowest, lowest + 1] if lowest else []
        return [0, 1, last, last - 1, *signed]
    high, tiny, least = dtype.high, dtype.tiny, dtype.normal
    numbers: list[Number] = [
        0.0, -0.0, math.nan, math.inf, -math.inf, high, -high, tiny, -tiny, least, -least,
        1.0 + 2.0 / dtype.exact,
    ]  # fmt: skip
    edges = [each for each in numbers if dtype.holds(each)]
    if dtype.sort == "complex":
        return [*edges, complex(0.0, math.nan), complex(-0.0, -math.inf)]
    return edges


def _edge(_filling: Filling, _shape: Sequence[int], dtype: Dtype) -> Iterator[Number]:
    return cycle(edges_of(dtype))


Fill = Callable[[Filling, Sequence[int], Dtype], Iterable[Number]]

FILLS: dict[str, Fill] = {
    "count": _count,
    "coordinates": _coordinates,
    "ramp": _ramp,
    "constant": _constant,
    "random": _random,
    "normal": _normal,
    "eye": _eye,
    "onehot": _onehot,
    "deadbeef": _count,
    "nan": _put(math.nan),
    "inf": _put(math.inf),
    "edge": _edge,
}
"""How each fill is made; the guards of `deadbeef` are put over the numbers later."""
