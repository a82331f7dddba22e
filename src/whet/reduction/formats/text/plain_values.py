"""Which of two values reads better, and simpler numbers instead of one.

Plain is what can be computed with in the head: 0, then 1, 2, 3 …, then larger and negative whole
numbers, then fractions by their digits, then infinity and what is no number.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from whet.core.verdict import Verdict
from whet.reduction.edit import first_that_fails
from whet.reduction.formats.text.values import smallest_integer
from whet.search.batch import LazyBatch
from whet.search.proposal import Search
from whet.search.subsets.delta import minimize

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEGATIVE = 0.5
DIGIT = 50.0
"""Each digit of a fraction; a whole number costs its binary digits, at most about 1000."""
ENDLESS_FRACTION = 1500.0
INFINITE = 3000.0
NOT_A_NUMBER = 4000.0

MOST_DIGITS = 6
_CHUNK = 1 << 20
"""Elements to read together, which limits the memory for a large array."""

_LARGE = 1000
_EXACT = 10**15
"""Up to here floats distinguish whole numbers: whet searches them one by one."""


def unplainness(values: "NDArray[Any]") -> float:
    """Return how far the values of an array are from plain, in all; zeros: not at all."""
    import numpy as np

    kind = values.dtype.kind
    if kind == "c":
        return unplainness(np.real(values)) + unplainness(np.imag(values))
    if kind in "US":
        return float(np.char.str_len(values).sum()) if values.size else 0.0
    if kind not in "biuf":
        return float(np.count_nonzero(np.frombuffer(values.tobytes(), np.uint8)))
    flat = values.reshape(-1)
    return math.fsum(
        _cost_of(flat[start : start + _CHUNK]) for start in range(0, flat.size, _CHUNK)
    )


def _cost_of(flat: "NDArray[Any]") -> float:
    import numpy as np

    with np.errstate(all="ignore"):
        found = flat[flat != 0].astype(np.float64)
        finite = found[np.isfinite(found)]
        cost = NOT_A_NUMBER * np.isnan(found).sum()
        cost += INFINITE * np.isinf(found).sum() + NEGATIVE * (found < 0).sum()
        cost += (1 + np.log2(1 + np.abs(finite))).sum()
        fractions = finite[finite != np.rint(finite)]
        for digits in range(1, MOST_DIGITS + 1):
            cost += DIGIT * fractions.size
            scaled = fractions * 10.0**digits
            fractions = fractions[np.abs(scaled - np.rint(scaled)) > np.abs(scaled) * 1e-15]
        cost += (ENDLESS_FRACTION - DIGIT * MOST_DIGITS) * fractions.size
    return float(cost)


def cost_of_number(value: float) -> float:
    """Return how far a number is from plain, as `unplainness` does."""
    if math.isnan(value):
        return NOT_A_NUMBER
    if math.isinf(value):
        return INFINITE + NEGATIVE * (value < 0)
    if value == 0:
        return 0.0
    cost = NEGATIVE * (value < 0) + 1 + math.log2(1 + abs(value))
    if value != int(value):
        digits = (n for n in range(1, MOST_DIGITS + 1) if round(value, n) == value)
        found = next(digits, 0)
        cost += DIGIT * found if found else ENDLESS_FRACTION
    return cost


def simplest_number(
    value: float, put: Callable[[float], bytes], *, is_whole: bool
) -> Search[bytes, None]:
    """Look for a simpler number that fails instead of one.

    Args:
        value: what is there.
        put: the payload with another number there.
        is_whole: only whole numbers can stand there.
    """
    if math.isnan(value) or math.isinf(value):
        other = yield from _first([1e300, -1e300, 1.0] if math.isinf(value) else [], put)
        if other is None:
            return
        value = other
    if value < 0:
        value = _or(value, (yield from _first([-value], put)))
    if not is_whole and value != int(value):
        value = _or(value, (yield from _first(_shorter(value), put)))
    value = yield from _smaller_power(value, put)
    if value == int(value) and 1 < abs(value) < _EXACT:
        sign = 1 if value > 0 else -1
        yield from smallest_integer(int(abs(value)), lambda each: put(sign * each))


def shorter_text(text: str, put: Callable[[str], bytes]) -> Search[bytes, None]:
    """Delete as many characters of a text as the failure survives.

    Args:
        text: what is there.
        put: the payload with another text there.
    """
    search = minimize(len(text))
    batch = next(search)
    with suppress(StopIteration):
        while True:
            texts = ("".join(text[index] for index in kept.elements()) for kept in batch)
            batch = search.send((yield LazyBatch(map(put, texts))))


def _first(numbers: "list[float]", put: Callable[[float], bytes]) -> Search[bytes, float | None]:
    for number in numbers:
        if (yield from first_that_fails([put(number)])) is not None:
            return number
    return None


def _or(value: float, other: float | None) -> float:
    return value if other is None else other


def _shorter(value: float) -> list[float]:
    """Return whole numbers beside a fraction, then its first digits."""
    digits = [round(value, count) for count in range(1, MOST_DIGITS + 1)]
    found = [math.trunc(value), math.floor(value), math.ceil(value), *digits]
    return [each for each in dict.fromkeys(map(float, found)) if each != value]


def _smaller_power(value: float, put: Callable[[float], bytes]) -> Search[bytes, float]:
    """Put a power of ten for a large number, the smallest that fails."""
    size = abs(value)
    if size < _LARGE:
        return value
    sign = 1 if value > 0 else -1
    good, bad = 0, int(math.log10(size)) + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        power = sign * 10**middle if size < _EXACT else sign * float(f"1e{middle}")
        verdicts = yield [put(power)]
        if verdicts[-1] is Verdict.BAD:
            bad, value = middle, power
        else:
            good = middle
    return value


def simpler_values(value: object) -> Iterator[object]:
    """Yield what may stand for a value of Python, the plainest first: of the same type."""
    if isinstance(value, bool):
        plain: tuple[object, ...] = (False,)
    elif isinstance(value, int | float):
        plain = (type(value)(0), type(value)(1))
    elif isinstance(value, str):
        plain = ("", "a")
    elif isinstance(value, bytes):
        plain = (b"", b"a")
    else:
        plain = ()
    for each in plain:
        if value == each and type(value) is type(each):
            return
        yield each
