"""Oracles that fail only sometimes, and the long way to what runs on a graph say."""

import math
import random
from collections.abc import Callable, Mapping, Sequence

from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import FailureRates, Runs

Graph = Mapping[int, Sequence[int]]


def graph_of(size: int, chance: random.Random) -> dict[int, tuple[int, ...]]:
    """Return versions, newest first, of which the newest has all others before it."""
    parents = {
        number: tuple(sorted(chance.sample(range(number), min(number, chance.choice((1, 1, 2))))))
        for number in range(size)
    }
    used = {each for above in parents.values() for each in above}
    tips = tuple(each for each in range(size) if each not in used)
    return {size: tips, **{each: parents[each] for each in reversed(range(size))}}


def before(graph: Graph, version: int) -> set[int]:
    """Return ``version`` and what is before it."""
    found = {version}
    for each in sorted(graph, reverse=True):
        if each in found:
            found.update(graph[each])
    return found


def sometimes(
    is_bad: Callable[[int], bool], rates: tuple[float, float], chance: random.Random
) -> Callable[[int], Verdict]:
    """Return a test that fails with one rate on bad versions and with another on good ones."""

    def test(version: int) -> Verdict:
        rate = rates[0] if is_bad(version) else rates[1]
        return Verdict.BAD if chance.random() < rate else Verdict.GOOD

    return test


def posterior_the_long_way(
    graph: Graph, rates: FailureRates, told: Sequence[tuple[int, Verdict]]
) -> dict[int, float]:
    """Return the probability of each suspect, each by itself."""
    logs: dict[int, float] = {}
    for suspect in graph:
        bad, good = Runs(), Runs()
        for version, verdict in told:
            failed = verdict is Verdict.BAD
            if suspect in before(graph, version):
                bad = bad.plus(failed=failed)
            else:
                good = good.plus(failed=failed)
        logs[suspect] = rates.log_chance(bad, good)
    highest = max(logs.values())
    total = sum(math.exp(log - highest) for log in logs.values())
    return {suspect: math.exp(log - highest) / total for suspect, log in logs.items()}


def entropy(probabilities: Sequence[float]) -> float:
    return -sum(each * math.log(each) for each in probabilities if each > 0)
