"""How many runs a noisy bisection takes, about, from what is left to be known.

A run tells no more than the capacity of the channel between "is this version bad?" and "did it
fail?" (Shannon 1948), and a search that asks where most is told comes close to that. So the runs
are the entropy over the suspects divided by the capacity, and then some until the confidence is
higher than the 95 % at which a search of that length ends. Where the rates aren't known, part of
what the runs tell is about them; the factor for that was measured (`benchmarks/histories/noisy.py`).
"""

import math

_USUAL_ERROR = 0.05
_LEAST_RATE = 1e-6
_RATES_UNKNOWN = 1.6
_HALVINGS = 60


def expected_runs(
    entropy_bits: float,
    rates: tuple[float, float],
    confidence: float,
    *,
    are_rates_known: bool,
) -> int:
    """Return about how many runs are left.

    Args:
        entropy_bits: of the suspects' probabilities; log2 of their number at the start.
        rates: how often a bad and a good version fail.
        confidence: how likely the answer must be.
        are_rates_known: they are given, not estimated by the search.
    """
    bad, good = (min(max(rate, _LEAST_RATE), 1 - _LEAST_RATE) for rate in rates)
    if bad <= good:
        return 0
    left_at_end = _entropy(min(1 - confidence, 0.5))
    usual = entropy_bits - left_at_end + _entropy(_USUAL_ERROR)
    beyond = max(0.0, math.log2(_USUAL_ERROR / (1 - confidence)))
    runs = max(0.0, usual) / capacity(bad, good) + beyond / _divergence(good, bad)
    return max(1, math.ceil(runs * (1.0 if are_rates_known else _RATES_UNKNOWN)))


def capacity(bad: float, good: float) -> float:
    """Return the most that one run can tell, in bits: the best share of bad versions is found."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        if _information(one, bad, good) < _information(two, bad, good):
            low = one
        else:
            high = two
    return _information((low + high) / 2, bad, good)


def _information(share: float, bad: float, good: float) -> float:
    fails = share * bad + (1 - share) * good
    return _entropy(fails) - share * _entropy(bad) - (1 - share) * _entropy(good)


def _divergence(one: float, other: float) -> float:
    """Return by how many bits a run at rate ``one`` speaks against ``other``, on average."""
    return one * math.log2(one / other) + (1 - one) * math.log2((1 - one) / (1 - other))


def _entropy(chance: float) -> float:
    if chance <= 0 or chance >= 1:
        return 0.0
    return -chance * math.log2(chance) - (1 - chance) * math.log2(1 - chance)
