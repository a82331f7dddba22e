"""The least amount: found exactly, or as near as was asked for, in few tests."""

import math

from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.growth.threshold import Threshold, least_amount
from whet.search.proposal import run_search

MOST = 1 << 30


def found(
    threshold: int, *, least: int, most: int, guess: int, precision: float = 0.0
) -> Threshold:
    def test(amount: int) -> Verdict:
        assert least <= amount <= most
        return Verdict.GOOD if amount >= threshold else Verdict.BAD

    search = least_amount(least=least, most=most, guess=guess, precision=precision)
    return run_search(search, test)


@given(st.integers(1, MOST), st.integers(-5, 2 * MOST), st.integers(1, 1000))
def test_the_least_amount_is_found_exactly_from_any_guess(
    threshold: int, guess: int, least: int
) -> None:
    result = found(threshold, least=least, most=MOST, guess=guess)
    assert result.least_good == max(threshold, least)
    assert result.most_bad == (threshold - 1 if threshold > least else None)


@given(st.integers(1, MOST), st.integers(1, MOST), st.sampled_from([0.01, 0.05, 0.3]))
def test_an_answer_is_as_near_as_was_asked_for(
    threshold: int, guess: int, precision: float
) -> None:
    result = found(threshold, least=1, most=MOST, guess=guess, precision=precision)
    assert result.least_good is not None
    assert threshold <= result.least_good <= max(threshold + 1, threshold * (1 + 2 * precision))


@given(st.integers(1000, MOST // 4), st.floats(0.5, 2))
def test_from_a_near_guess_few_tests_are_enough(threshold: int, off: float) -> None:
    result = found(threshold, least=1, most=MOST, guess=int(threshold * off), precision=0.01)
    assert len(result.tested) <= 4 + math.log2(1 / 0.01)


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_where_nothing_is_enough_it_says_so(most: int, guess: int) -> None:
    result = found(most + 1, least=1, most=most, guess=guess)
    assert (result.least_good, result.most_bad) == (None, most)


@given(st.integers(1, MOST), st.integers(1, MOST))
def test_no_amount_is_tried_twice(threshold: int, guess: int) -> None:
    tested = [amount for amount, _ in found(threshold, least=1, most=MOST, guess=guess).tested]
    assert len(tested) == len(set(tested))


@given(st.integers(0, 20))
def test_the_search_may_begin_at_none_at_all(threshold: int) -> None:
    assert found(threshold, least=0, most=20, guess=0).least_good == threshold


def test_what_proves_nothing_counts_as_not_enough() -> None:
    search = least_amount(least=1, most=8, guess=4)
    result = run_search(search, lambda amount: Verdict.GOOD if amount == 8 else Verdict.SKIP)
    assert (result.least_good, result.most_bad) == (8, 7)
