"""The least amount with which something succeeds: a search over whole numbers.

It takes that more never hurts. Where that isn't so (a failure that comes only sometimes), each
amount is tried often enough by whoever runs the search.
"""

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.proposal import Search


@value_class(kw_only=True)
class Threshold:
    """What is known of the least amount.

    Attributes:
        least_good: the least that was seen to be enough; None: nothing was.
        most_bad: the most that was seen not to be; None: nothing was too little.
        tested: each amount and what came of it, in the order of testing.
    """

    least_good: int | None
    most_bad: int | None
    tested: tuple[tuple[int, Verdict], ...]


def least_amount(
    *, least: int, most: int, guess: int, precision: float = 0.0
) -> Search[int, Threshold]:
    """Search the least amount from ``least`` to ``most`` that is GOOD.

    It starts at a guess, widens until it has one amount that is enough and one that isn't, and
    halves what lies between. From a guess within a factor of 2 it takes about log2(1 / precision)
    tests.

    Args:
        least: less than this isn't tried.
        most: more than this isn't tried.
        guess: where to start.
        precision: how near the answer has to be, as a share of it; 0: exact.
    """
    tested: list[tuple[int, Verdict]] = []
    low, high = least - 1, most + 1  # outside: nothing is known yet
    amount = min(max(guess, least), most)
    while True:
        (verdict,) = yield (amount,)
        tested.append((amount, verdict))
        if verdict is Verdict.GOOD:
            high = amount
        else:
            low = amount
        is_near = high <= most and high - low <= max(1, int(high * precision))
        if is_near or low >= most:  # until something was enough, the most has to be tried
            break
        if high > most:
            amount = min(most, max(2 * low, low + 1))
        elif low < least:
            # The first step down is short: a guess from an earlier run is seldom far away.
            amount = max(least, high * 3 // 4 if len(tested) == 1 else high // 2)
        else:
            amount = (low + high) // 2
    return Threshold(
        least_good=None if high > most else high,
        most_bad=None if low < least else low,
        tested=tuple(tested),
    )
