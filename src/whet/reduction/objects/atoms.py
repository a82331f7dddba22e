"""Numbers, texts and other values without parts: which are plainer than others."""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum
from numbers import Number

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.reduction.candidates import keep_few
from whet.reduction.edit import first_that_fails
from whet.reduction.objects.tree import Leaf
from whet.reduction.reducer import reduce_payload
from whet.search.batch import LazyBatch
from whet.search.proposal import Search
from whet.search.rendering import rendering

_FEW = 4  # 0, 1, 2 and 3 are read at a glance
_SHORT = 40  # characters
_PLAIN = "0a"  # what reads best among characters
_EXACT = 2.0**53  # so far each whole number is a float of its own


@value_class
class Atom:
    """A value that can't change.

    Attributes:
        value: that.
        kind: its class: 1, 1.0 and True are equal, and three values.
        form: what tells equal values apart that are read differently, such as -0.0 and 0.0.
    """

    value: object
    kind: type
    form: str = ""

    def make(self) -> object:
        """Return the value."""
        return self.value

    def plainest(self) -> "Leaf | None":
        """Return the zero of its class."""
        zero = _zero_of(self.value)
        return None if zero is None or zero == self else zero

    def search(self) -> Search[Leaf, Leaf]:
        """Propose plainer values of its class."""
        return rendering(search_of(self.value), atom, self)


def atom(value: object) -> Atom:
    """Return the leaf of a value that can't change."""
    return Atom(value, type(value), repr(value) if isinstance(value, float) else "")


def _zero_of(value: object) -> Atom | None:
    if value is None:
        return None
    if isinstance(value, Enum):
        first = next(iter(type(value)), None)
        return None if first is None else atom(first)
    if isinstance(value, str | bytes | Number):
        with suppress(Exception):  # a class of the user's, with a constructor of its own
            return atom(type(value)())
    return None


def search_of(value: object) -> Search[object, object]:
    """Propose plainer values of the same class.

    Each of them is nearer to the class's zero, so that the search comes to an end.
    """
    kind = type(value)
    by_kind: dict[type, Callable[[], Search[object, object]]] = {
        int: lambda: _whole(_int_of(value), int),
        float: lambda: _float(_float_of(value)),
        str: lambda: _text(str(value)),
        bytes: lambda: _bytes(_bytes_of(value)),
    }
    if kind in by_kind:
        return by_kind[kind]()
    return _others(value)


def _int_of(value: object) -> int:
    assert isinstance(value, int)
    return value


def _float_of(value: object) -> float:
    assert isinstance(value, float)
    return value


def _bytes_of(value: object) -> bytes:
    assert isinstance(value, bytes)
    return value


def _others(value: object) -> Search[object, object]:
    if isinstance(value, Enum):
        members: list[object] = list(type(value))  # a flag of several is none of them
        before = members[: members.index(value)] if value in members else members
        found = yield from first_that_fails(before)
        return value if found is None else found
    zero = _zero_of(value)
    if zero is None or isinstance(value, bool | str | bytes):
        return value
    smaller = [zero.value]
    with suppress(Exception):  # no number after all
        smaller.append(zero.kind(1))
    if any(_is_same(value, each) for each in smaller):
        smaller = smaller[:1]
    found = yield from first_that_fails(smaller)
    return value if found is None else found


def _is_same(one: object, other: object) -> bool:
    with suppress(Exception):  # it can't be compared: then it isn't known to be the same
        return bool(one == other)
    return False


def _whole(value: int, kind: Callable[[int], object]) -> Search[object, object]:
    """Go to the nearest number to zero, by halves where all above it fail."""
    best = value
    if best < 0 and (yield from first_that_fails([kind(-best)])) is not None:
        best = -best
    sign = -1 if best < 0 else 1
    far: int = abs(best)
    for few in range(min(far, _FEW)):
        if (yield from first_that_fails([kind(sign * few)])) is not None:
            return kind(sign * few)
    is_settled = False
    while not is_settled:
        is_settled = True
        step: int = max(far // 2, 1)
        while step and far > _FEW - 1:
            if (yield from first_that_fails([kind(sign * (far - step))])) is not None:
                far -= step
                is_settled = False
                step = min(step, far)
            step //= 2
    return kind(sign * far)


def _float(value: float) -> Search[object, object]:
    if not math.isfinite(value):
        plain: list[object] = [0.0, 1.0, *([math.inf] if value != math.inf else [])]
        found = yield from first_that_fails(plain)
        return value if found is None else found
    best = value
    if not best.is_integer():
        found = yield from first_that_fails(_rounded(best))
        best = best if found is None else _float_of(found)
    if math.copysign(1.0, best) < 0 and (yield from first_that_fails([-best])) is not None:
        best = -best
    if best.is_integer() and abs(best) < _EXACT:
        return (yield from _whole(int(best), float))
    fewer = yield from first_that_fails(_fewer_digits(best))
    return best if fewer is None else fewer


def _rounded(value: float) -> Iterable[object]:
    whole = float(math.trunc(value))
    plain = [0.0, 1.0, 2.0, whole, whole + 1]
    digits = [round(value, places) for places in (1, 2, 3)]
    known = dict.fromkeys(plain)
    return [*known, *(each for each in digits if each not in known and each != value)]


def _fewer_digits(value: float) -> Iterable[object]:
    """Yield numbers of the same magnitude with fewer digits, the fewest first."""
    text = repr(value)
    for digits in range(4):
        rounded = float(f"{value:.{digits}e}")
        if len(repr(rounded)) < len(text):
            yield rounded


def _text(value: str) -> Search[object, object]:
    if len(value) <= _SHORT:
        return (yield from _as(_short(value), str))
    return (yield from _as_payload(value.encode("utf-8", "surrogatepass"), _decoded, value))


def _bytes(value: bytes) -> Search[object, object]:
    if len(value) <= _SHORT:
        return (
            yield from _as(_short(value.decode("latin-1")), lambda text: text.encode("latin-1"))
        )
    return (yield from _as_payload(value, bytes, value))


def _short(text: str) -> Search[str, str]:
    """Leave out characters, then put plain ones instead of others.

    What is short has no structure that a format would see, and formats take longer to look.
    """
    best = yield from keep_few(text, "".join, text)
    for index in range(len(best)):
        plain = [f"{best[:index]}{sign}{best[index + 1 :]}" for sign in _PLAIN]
        better = plain[: plain.index(best)] if best in plain else plain
        found = yield from first_that_fails(better)
        best = best if found is None else found
    return best


def _as(search: Search[str, str], read: Callable[[str], object]) -> Search[object, object]:
    """Propose what a search over texts proposes, as something else."""
    try:
        wanted = next(search)
        while True:
            wanted = search.send((yield LazyBatch(map(read, wanted))))
    except StopIteration as end:
        result: str = end.value
        return read(result)


def _decoded(data: bytes) -> object:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def _as_payload(
    data: bytes, read: Callable[[bytes], object], start: object
) -> Search[object, object]:
    """Reduce a text as the payload that it is; what is no text is answered here."""
    search = reduce_payload(data)
    best = start
    places: list[int] = []

    def readable(payloads: Iterable[bytes]) -> Iterable[object]:
        for place, payload in enumerate(payloads):
            value = read(payload)
            if value is not None:
                places.append(place)
                yield value

    try:
        wanted = next(search)
        while True:
            places.clear()
            batch = LazyBatch(readable(each.data for each in wanted))
            verdicts = (yield batch) if batch else [Verdict.GOOD]
            if verdicts[-1] is Verdict.BAD:
                best = batch[len(verdicts) - 1]
                place = places[len(verdicts) - 1]
                wanted = search.send([*[Verdict.GOOD] * place, Verdict.BAD])
            else:
                wanted = search.send([Verdict.GOOD] * len(wanted))
    except StopIteration:
        return best
