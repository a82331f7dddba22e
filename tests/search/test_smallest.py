"""The smallest number that fails: exact where larger ones fail too, and told where they don't."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.growth.smallest import Smallest, smallest_failing
from whet.search.proposal import run_search

MOST = 1 << 20


def found(
    fails: Callable[[int], bool], *, least: int = 1, most: int = MOST, probes: int = 2
) -> Smallest:
    def test(number: int) -> Verdict:
        assert least <= number <= most
        return Verdict.BAD if fails(number) else Verdict.GOOD

    return run_search(smallest_failing(least=least, most=most, probes=probes), test)


@given(st.integers(0, MOST), st.integers(0, 1000))
def test_where_larger_numbers_fail_too_it_is_exact(threshold: int, least: int) -> None:
    smallest = found(lambda number: number >= threshold, least=least)
    assert smallest.fails == max(threshold, least)
    assert smallest.exceptions == ()


@given(st.integers(1, MOST), st.integers(1, MOST))
def test_a_search_may_start_anywhere(threshold: int, guess: int) -> None:
    search = smallest_failing(least=1, most=MOST, probes=0, guess=guess)
    smallest = run_search(
        search, lambda number: Verdict.BAD if number >= threshold else Verdict.GOOD
    )
    assert smallest.fails == threshold
    assert smallest.tested[0][0] == guess


@given(st.sets(st.integers(0, 60)), st.integers(0, 5), st.integers(0, 60), st.integers(0, 4))
def test_the_answer_fails_and_no_smaller_number_was_seen_to(
    failing: set[int], least: int, size: int, probes: int
) -> None:
    smallest = found(failing.__contains__, least=least, most=least + size, probes=probes)
    bad = [number for number, verdict in smallest.tested if verdict is Verdict.BAD]
    assert smallest.fails == min(bad, default=None)
    assert all((number in failing) is (number in bad) for number, _ in smallest.tested)


@given(st.sets(st.integers(0, 60)), st.integers(0, 60))
def test_the_number_below_the_answer_was_seen_not_to_fail(failing: set[int], size: int) -> None:
    smallest = found(failing.__contains__, least=0, most=size)
    if smallest.fails:
        assert smallest.largest_below == smallest.fails - 1


@given(st.sets(st.integers(0, 60)), st.integers(0, 60), st.integers(0, 4))
def test_no_number_is_tested_twice(failing: set[int], size: int, probes: int) -> None:
    search = smallest_failing(least=0, most=size, probes=probes)
    tested: list[int] = []

    def test(number: int) -> Verdict:
        tested.append(number)
        return Verdict.BAD if number in failing else Verdict.GOOD

    run_search(search, test)
    assert len(tested) == len(set(tested))


@pytest.mark.parametrize("threshold", [1, 1000, MOST])
def test_it_costs_a_logarithm_of_the_answer(threshold: int) -> None:
    smallest = found(lambda number: number >= threshold)
    most_tests = 2 * threshold.bit_length() + 4
    assert len(smallest.tested) <= most_tests, "ask for the reason before raising this"


def test_a_failure_of_odd_numbers_only_is_found_though_doubling_tests_none() -> None:
    smallest = found(lambda number: number % 2 == 1, least=2, most=64)
    assert smallest.fails is not None
    assert smallest.exceptions


def test_what_passes_above_the_answer_is_told() -> None:
    smallest = found(lambda number: number == 5 or number >= 8, most=64)
    assert smallest.fails == 5
    assert smallest.exceptions == (6, 7)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 20))
def test_who_measures_gets_enough_numbers_below_the_answer(
    threshold: int, most: int, enough: int
) -> None:
    search = smallest_failing(least=0, most=most, probes=0, enough=enough)
    smallest = run_search(search, lambda n: Verdict.BAD if n >= threshold else Verdict.GOOD)
    below = [number for number, verdict in smallest.tested if verdict is Verdict.GOOD]
    assert len(below) >= min(enough, threshold, most + 1)


def test_where_nothing_fails_that_is_the_answer() -> None:
    smallest = found(lambda _: False, most=100)
    assert smallest.fails is None
    assert smallest.largest_below == 100


def test_the_least_fails_already_in_one_test_and_the_probes_above() -> None:
    smallest = found(lambda _: True, least=3)
    assert smallest.fails == 3
    assert [number for number, _ in smallest.tested] == [3, 4, 5]


def test_another_failure_is_not_the_one_that_is_sought() -> None:
    def test(number: int) -> Verdict:
        return Verdict.BAD if number >= 10 else Verdict.SKIP if number > 4 else Verdict.GOOD

    smallest = run_search(smallest_failing(least=1, most=100), test)
    assert smallest.fails == 10
    assert (9, Verdict.SKIP) in smallest.tested
