"""The smallest number with which something fails: rows, layers, processes, the value of an option.

It doubles the number from the least on until something fails, and halves what lies between. Both take
it that whatever fails with a number fails with each larger one. A few more numbers check that, odd
ones among them: doubling tests none, and much code fails only on what isn't a multiple of two.
"""

import math
from collections.abc import Generator, Iterable, Sequence
from itertools import pairwise

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.growth.threshold import Threshold, least_amount
from whet.search.proposal import Search


@value_class(kw_only=True)
class Smallest:
    """What is known of the smallest number that fails.

    Attributes:
        fails: the smallest that was seen to be BAD; None: none was.
        tested: each number and its verdict, in the order of testing.
    """

    fails: int | None
    tested: tuple[tuple[int, Verdict], ...]

    @property
    def largest_below(self) -> int | None:
        """The largest number below the answer that was tested; none of these is BAD."""
        fails = self.fails
        below = [each for each, _ in self.tested if fails is None or each < fails]
        return max(below, default=None)

    @property
    def exceptions(self) -> tuple[int, ...]:
        """The numbers above the answer that aren't BAD, in order: it isn't monotone."""
        fails = self.fails
        return tuple(
            sorted(
                number
                for number, verdict in self.tested
                if fails is not None and number > fails and verdict is not Verdict.BAD
            )
        )


def smallest_failing(
    *,
    least: int,
    most: int,
    precision: float = 0.0,
    probes: int = 2,
    enough: int = 0,
    guess: int | None = None,
) -> Search[int, Smallest]:
    """Search the smallest number from ``least`` to ``most`` that is BAD.

    It takes at most about 2·log2(most) tests and, beyond them, twice as many as there are probes:
    each probe that contradicts what is known begins a new search below it.

    Args:
        least: no smaller one is tested; 0 or more.
        most: more than this isn't tested.
        precision: how near the answer has to be, as a share of it; 0: exact.
        probes: how many more numbers are tested below the answer, and how many above it.
        enough: as many are tested below the answer, where there are as many: for who measures what
            each number costs.
        guess: the number that is tested first; None: the least.
    """
    known: dict[int, Verdict] = {}
    found = yield from _least_bad(known, least, most, precision, guess)
    probed = 0
    while probed < probes or _count_below(known, found) < enough:
        number = in_widest_gap(known, least, most if found is None else found)
        if number is None:
            break
        probed += 1
        if (yield from _ask(known, number)) is Verdict.BAD:
            above = max((each for each in known if each < number), default=least - 1)
            found = yield from _least_bad(known, above + 1, number, precision)
    if found is not None:
        for number in _above(known, found, most, probes):
            yield from _ask(known, number)
    return Smallest(fails=found, tested=tuple(known.items()))


def _least_bad(
    known: dict[int, Verdict],
    least: int,
    most: int,
    precision: float,
    guess: int | None = None,
) -> Generator[Sequence[int], Sequence[Verdict], int | None]:
    """Search one number that is BAD while the one below it isn't."""
    first = least if guess is None else guess
    search = least_amount(least=least, most=most, guess=first, precision=precision)
    try:
        (number,) = next(search)
        while True:
            verdict = yield from _ask(known, number)
            # What has to be enough here is enough to fail.
            enough = Verdict.GOOD if verdict is Verdict.BAD else Verdict.BAD
            (number,) = search.send((enough,))
    except StopIteration as end:
        threshold: Threshold = end.value
        return threshold.least_good


def _ask(
    known: dict[int, Verdict], number: int
) -> Generator[Sequence[int], Sequence[Verdict], Verdict]:
    if number not in known:
        (known[number],) = yield (number,)
    return known[number]


def _count_below(known: dict[int, Verdict], found: int | None) -> int:
    return sum(found is None or number < found for number in known)


def in_widest_gap(tested: Iterable[int], least: int, most: int) -> int | None:
    """Return a number in the widest gap between tested ones, by their ratio; an odd one if it can.

    Args:
        tested: in any order.
        least: the first number that may be returned.
        most: what lies above the last one.
    """
    borders = sorted({least - 1, *(each for each in tested if least <= each <= most), most})
    gaps = [(low, high) for low, high in pairwise(borders) if high - low > 1]
    if not gaps:
        return None
    low, high = max(gaps, key=lambda gap: (gap[1] + 1) / (gap[0] + 2))
    number = math.isqrt((low + 1) * high)
    number = min(max(number, low + 1), high - 1)
    return number | 1 if number | 1 < high else number


def _above(known: dict[int, Verdict], found: int, most: int, probes: int) -> list[int]:
    """Return numbers above the answer, none more than about twice as large: those cost the most."""
    near = min(most, max(2 * found + 1, found + 2 * probes))
    seen = dict(known)
    number: int | None = found + 1
    for _ in range(probes):
        if number is not None and number <= most:
            seen.setdefault(number, Verdict.BAD)
        number = in_widest_gap(seen, found + 1, near)
    return [each for each in seen if each not in known]
