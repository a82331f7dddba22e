"""The noisy search alone, on simulated histories: mean runs, and how often it is right.

Each search is for a culprit drawn among N versions on a line; a bad version fails with one rate, a
good one with another. `runs` are all of a search, those of the bad end until it has failed and of
the good end, which is a suspect, included; `right` is how often it names the culprit. Beside it: so many runs for each step of a plain bisection, at the best such number that is right often enough,
which must know the rates (worked out exactly); and `git_bayesect`, which never knows the rates.

    python -m benchmarks.histories.noisy [--searches 2000] [--peer-searches 200] [--versions 1000] [--case WORD]
"""

import argparse
import math
import random
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from benchmarks.histories.noisy_peers import bayesect, best_rule, install_bayesect
from benchmarks.table import print_table
from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import FailureRates, Runs
from whet.search.flaky.noisy_bisection import NoisyBisection
from whet.search.history.version_graph import line_of
from whet.search.proposal import run_search

_SIGMAS = 2.326  # one-sided, 99 %
_CHUNK = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is searched for.

    Attributes:
        rates: how often bad and good versions fail.
        are_known: the search is told.
        confidence: how likely the answer must be.
        wanted: mean runs at the most; None: no figure is asked.
    """

    rates: tuple[float, float]
    are_known: bool
    confidence: float
    wanted: float | None = None

    @property
    def name(self) -> str:
        """It in words."""
        known = "known" if self.are_known else "unknown"
        return f"{self.rates[0]:g}/{self.rates[1]:g} {known}, {self.confidence:.0%}"


CASES = (
    Case(rates=(0.5, 0.0), are_known=True, confidence=0.95, wanted=33),
    Case(rates=(0.5, 0.0), are_known=True, confidence=0.99, wanted=35),
    Case(rates=(0.5, 0.0), are_known=False, confidence=0.95, wanted=47),
    Case(rates=(0.5, 0.0), are_known=False, confidence=0.99, wanted=60),
    Case(rates=(0.5, 0.05), are_known=True, confidence=0.95, wanted=51),
    Case(rates=(0.5, 0.05), are_known=True, confidence=0.99, wanted=58),
    Case(rates=(0.5, 0.05), are_known=False, confidence=0.95),
    Case(rates=(0.1, 0.0), are_known=True, confidence=0.95, wanted=185),
)


@dataclass(frozen=True, slots=True)
class Score:
    """What a search took."""

    runs: int
    is_right: bool


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--searches", type=int, default=2000)
    parser.add_argument("--peer-searches", type=int, default=200, help="of git_bayesect")
    parser.add_argument("--versions", type=int, default=1000)
    parser.add_argument("--case", default="", help="only cases whose name has this in it")
    options = parser.parse_args()
    why_not = install_bayesect()
    if why_not:
        print(f"without git_bayesect: {why_not}")
    rows: list[list[str]] = []
    for case in CASES:
        if options.case in case.name:
            peer_searches = 0 if why_not else options.peer_searches
            rows.append(_row(case, options.versions, options.searches, peer_searches))
            print(" ".join(rows[-1]), flush=True)
    print_table(
        f"{options.searches:,} searches among {options.versions:,} versions",
        (
            "fails if bad/good", "asked", "runs", "/ asked", "right", "at least",
            "k a step", "runs", "git_bayesect", "right", "decisions/s",
        ),
        rows,
    )  # fmt: skip


def _row(case: Case, versions: int, searches: int, peer_searches: int) -> list[str]:
    with ProcessPoolExecutor() as pool:
        chunks = range(0, searches, _CHUNK)
        futures = [
            pool.submit(_searches, case, versions, first, min(first + _CHUNK, searches))
            for first in chunks
        ]
        done = [future.result() for future in futures]
    scores = [score for chunk, _ in done for score in chunk]
    cpu_seconds = sum(seconds for _, seconds in done)
    runs = sum(score.runs for score in scores) / searches
    decisions = sum(score.runs for score in scores) / cpu_seconds
    error = _SIGMAS * math.sqrt(case.confidence * (1 - case.confidence) / searches)
    rule = best_rule(versions, case.rates, case.confidence)
    peer = bayesect(versions, case.rates, case.confidence, peer_searches) if peer_searches else None
    return [
        case.name,
        "" if case.wanted is None else f"{case.wanted:g}",
        f"{runs:.1f}",
        "" if case.wanted is None else f"{runs / case.wanted:.2f}",
        f"{sum(score.is_right for score in scores) / searches:.2%}",
        f"{case.confidence - error:.2%}",
        "-" if rule is None else f"{rule.failures} of {rule.runs}",
        "-" if rule is None else f"{rule.mean_runs:.1f}",
        "-" if peer is None else f"{peer[0]:.1f}",
        "-" if peer is None else f"{peer[1]:.2%}",
        f"{decisions:,.0f}",
    ]


def _searches(case: Case, versions: int, first: int, end: int) -> tuple[list[Score], float]:
    """Run some of the searches; return the seconds of the processor too."""
    started = time.process_time()
    rates = FailureRates.of(*case.rates) if case.are_known else FailureRates.of()
    scores = [_search(case, versions, rates, random.Random(seed)) for seed in range(first, end)]
    return scores, time.process_time() - started


def _search(case: Case, versions: int, rates: FailureRates, chance: random.Random) -> Score:
    culprit = chance.randint(1, versions)
    told = [_verdict(case.rates[0], chance)]
    while told[-1] is Verdict.GOOD:
        told.append(_verdict(case.rates[0], chance))
    search = NoisyBisection(
        line_of(range(versions + 1)),  # the first one is the good end
        rates=rates,
        ends=(Runs(1, len(told) - 1), Runs()),
        confidence=case.confidence,
    )
    found = run_search(search.search(), lambda each: _verdict(case.rates[each < culprit], chance))
    runs = len(told) + sum(each.total for each in found.runs.values())
    return Score(runs, found.first_bad == culprit)


def _verdict(rate: float, chance: random.Random) -> Verdict:
    return Verdict.BAD if chance.random() < rate else Verdict.GOOD


if __name__ == "__main__":
    main()
