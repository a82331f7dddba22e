"""The search for what makes a failure more frequent."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.flaky.amplification import (
    MOST_ROUNDS,
    Amplification,
    AmplificationSearch,
    Arm,
    evidence_of_pair,
)
from whet.search.flaky.failure_rates import Runs
from whet.search.proposal import run_search

rates = st.floats(0.02, 0.98)


def failing(rate_of: Callable[[Arm[str]], float], seed: int) -> Callable[[Arm[str]], Verdict]:
    """Return a test of which each run fails with the rate of what is turned on."""
    chance = random.Random(seed)
    return lambda arm: Verdict.BAD if chance.random() < rate_of(arm) else Verdict.GOOD


def searched(
    names: str, rate_of: Callable[[Arm[str]], float], seed: int
) -> tuple[Amplification[str], int]:
    before = Runs(round(10 * rate_of(())), 10 - round(10 * rate_of(())))
    search = AmplificationSearch(tuple(names), before=before)
    runs: list[Arm[str]] = []
    test = failing(rate_of, seed)

    def counted(arm: Arm[str]) -> Verdict:
        runs.append(arm)
        return test(arm)

    return run_search(search.search(), counted), len(runs)


@given(st.tuples(rates, rates).map(sorted), st.floats(0, 1), st.floats(0, 1))
def test_what_raises_nothing_gathers_no_evidence_on_average(
    bet: list[float], one: float, other: float
) -> None:
    plain_rate, amplified_rate = max(one, other), min(one, other)
    mean = sum(
        (plain_rate if plain else 1 - plain_rate)
        * (amplified_rate if amplified else 1 - amplified_rate)
        * evidence_of_pair(plain=plain, amplified=amplified, rates=(bet[0], bet[1]))
        for plain in (False, True)
        for amplified in (False, True)
    )

    assert mean <= 1 + 1e-9


def test_nothing_is_named_where_nothing_raises_the_rate_but_in_the_stated_share_of_cases() -> None:
    wrong = sum(
        any(each.raises for each in searched("abcdefgh", lambda _: 0.3, seed)[0].tried)
        for seed in range(200)
    )

    # 5 % are stated; more than 18 of 200 would come by chance in one case of a hundred.
    assert wrong <= 18


def test_what_makes_a_rare_failure_frequent_is_named_and_nothing_else() -> None:
    def rate_of(arm: Arm[str]) -> float:
        return 0.9 if "e" in arm else 0.1

    found = [searched("abcdefgh", rate_of, seed) for seed in range(40)]
    named = [[each.arm for each in result.tried if each.raises] for result, _ in found]

    assert named.count([("e",)]) >= 36
    assert max(runs for _, runs in found) < 9 * MOST_ROUNDS


def test_two_that_raise_it_more_together_are_kept_together() -> None:
    def rate_of(arm: Arm[str]) -> float:
        return {0: 0.02, 1: 0.6, 2: 1.0}[len({"b", "d"} & set(arm))]

    kept = [searched("abcd", rate_of, seed)[0].run_off[:1] for seed in range(20)]

    assert sum({"b", "d"} == set(best.arm) for each in kept for best in each) >= 12


def test_what_excludes_each_other_is_never_run_together() -> None:
    asked: list[Arm[str]] = []

    def test(arm: Arm[str]) -> Verdict:
        asked.append(arm)
        # But for one run: what fails each time is not run with others.
        return Verdict.BAD if arm and asked.count(arm) != 2 else Verdict.GOOD

    search = AmplificationSearch(("a1", "a2", "b1"), go_together=lambda x, y: x[0] != y[0])
    result = run_search(search.search(), test)

    assert all(each.raises for each in result.tried)
    assert ("a1", "b1") in asked
    assert not any({"a1", "a2"} <= set(arm) for arm in asked)


def test_the_rate_of_what_is_kept_comes_from_runs_that_did_not_choose_it() -> None:
    chosen = 0

    def test(arm: Arm[str]) -> Verdict:
        nonlocal chosen
        chosen += bool(arm)
        # It fails while it is chosen, and never again.
        return Verdict.BAD if arm and chosen <= 4 else Verdict.GOOD

    result = run_search(AmplificationSearch(("a",)).search(), test)

    assert result.tried[0].raises
    assert result.run_off[0].runs.failed == 0


def test_a_run_that_proves_nothing_counts_for_nothing() -> None:
    search = AmplificationSearch(("a", "b"))
    result = run_search(
        search.search(), lambda arm: Verdict.SKIP if arm == ("a",) else Verdict.GOOD
    )

    assert result.tried[0].runs == Runs()
    assert not any(each.raises for each in result.tried)


def test_a_search_that_is_stopped_tells_what_is_known_by_then() -> None:
    search = AmplificationSearch(("a", "b"), before=Runs(1, 9))
    running = search.search()
    next(running)
    running.send([Verdict.GOOD, Verdict.BAD, Verdict.GOOD])

    assert search.result().as_it_is == Runs(1, 10)
    assert [each.runs for each in search.result().tried] == [Runs(1, 0), Runs(0, 1)]
    assert search.result().run_off == ()


@pytest.mark.parametrize("error", [0.0, 1.0, -1.0])
def test_an_error_that_is_no_chance_is_refused(error: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        AmplificationSearch(("a",), error=error)
