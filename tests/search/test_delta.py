"""The laws of delta debugging, and what it costs."""

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.proposal import Search, run_search
from whet.search.subsets.delta import FEW_AT_ONCE, Kept, minimize

Chosen = tuple[int, ...]


def chosen(kept: Kept) -> Chosen:
    return tuple(kept.elements())


def reduced(
    size: int, judge: Callable[[Chosen], Verdict], calls: list[Chosen], grain: int = 1
) -> Chosen:
    def test(kept: Kept) -> Verdict:
        calls.append(chosen(kept))
        return judge(calls[-1])

    return chosen(run_search(minimize(size, grain=grain), test))


def fails_with_all_of(culprits: Iterable[int]) -> Callable[[Chosen], Verdict]:
    needed = frozenset(culprits)
    return lambda kept: Verdict.BAD if needed <= set(kept) else Verdict.GOOD


@st.composite
def judges(draw: st.DrawFn) -> Callable[[Chosen], Verdict]:
    verdicts: dict[Chosen, Verdict] = {}
    salt = draw(st.integers(0, 1000))
    share = draw(st.sampled_from([2, 3, 7]))

    def judge(kept: Chosen) -> Verdict:
        number = hash((salt, kept)) % share
        return verdicts.setdefault(kept, [Verdict.BAD, Verdict.SKIP, Verdict.GOOD][min(number, 2)])

    return judge


@given(size=st.integers(0, 40), judge=judges())
def test_is_1_minimal_whatever_the_oracle_says(
    size: int, judge: Callable[[Chosen], Verdict]
) -> None:
    calls: list[Chosen] = []

    smallest = reduced(size, judge, calls)

    assert smallest == tuple(range(size)) or judge(smallest) is Verdict.BAD
    for position in range(len(smallest)):
        rest = smallest[:position] + smallest[position + 1 :]
        assert judge(rest) is not Verdict.BAD


@given(size=st.integers(1, 60), culprits=st.sets(st.integers(0, 59)))
def test_finds_the_one_minimum_of_a_monotone_oracle(size: int, culprits: set[int]) -> None:
    culprits = {culprit for culprit in culprits if culprit < size}

    assert reduced(size, fails_with_all_of(culprits), []) == tuple(sorted(culprits))


@given(size=st.integers(1, 40), judge=judges())
def test_every_candidate_is_a_proper_part_of_the_last_bad_one(
    size: int, judge: Callable[[Chosen], Verdict]
) -> None:
    calls: list[Chosen] = []
    reduced(size, judge, calls)

    best = set(range(size))
    for kept in calls:
        assert set(kept) < best
        assert list(kept) == sorted(kept)
        if judge(kept) is Verdict.BAD:
            best = set(kept)


def told_ahead(search: Search[Kept, Kept], judge: Callable[[Chosen], Verdict]) -> Kept:
    """Run a search as a driver with many jobs: the whole batch, then the first BAD one."""
    try:
        batch = next(search)
        while True:
            verdicts = [judge(chosen(kept)) for kept in list(batch)]
            end = verdicts.index(Verdict.BAD) + 1 if Verdict.BAD in verdicts else len(verdicts)
            batch = search.send(verdicts[:end])
    except StopIteration as end_of_search:
        result: Kept = end_of_search.value
        return result


@given(size=st.integers(0, 60), judge=judges())
def test_the_number_of_jobs_changes_no_result(
    size: int, judge: Callable[[Chosen], Verdict]
) -> None:
    assert chosen(told_ahead(minimize(size), judge)) == reduced(size, judge, [])


@given(size=st.integers(1, 80), grain=st.integers(1, 10), judge=judges())
def test_a_grain_keeps_small_blocks_whole(
    size: int, grain: int, judge: Callable[[Chosen], Verdict]
) -> None:
    calls: list[Chosen] = []

    reduced(size, judge, calls, grain)

    best = size
    for kept in calls:
        assert best - len(kept) >= min(grain, best)
        if judge(kept) is Verdict.BAD:
            best = len(kept)


@pytest.mark.parametrize("size", [64, 1024, 100_000])
@pytest.mark.parametrize("place", [0.0, 0.33, 0.999])
def test_one_culprit_costs_a_logarithm_of_the_size(size: int, place: float) -> None:
    calls: list[Chosen] = []
    culprit = int(size * place)

    assert reduced(size, fails_with_all_of({culprit}), calls) == (culprit,)
    assert len(calls) <= 2 * size.bit_length() + 2, "ask for the reason before raising this"


def test_five_culprits_of_a_thousand_cost_less_than_ninety_calls() -> None:
    calls: list[Chosen] = []

    reduced(1000, fails_with_all_of({3, 250, 251, 600, 999}), calls)

    assert len(calls) <= 90, "ask for the reason before raising this"


@pytest.mark.parametrize("size", [10, 100, 500])
def test_to_show_that_all_are_needed_costs_less_than_two_calls_each(size: int) -> None:
    calls: list[Chosen] = []

    assert reduced(size, fails_with_all_of(range(size)), calls) == tuple(range(size))
    assert len(calls) <= 2 * size, "ask for the reason before raising this"


def test_what_one_element_held_falls_in_growing_steps() -> None:
    """Nothing but the last element can go before the last element has gone."""
    last = 255
    calls: list[Chosen] = []

    def judge(kept: Chosen) -> Verdict:
        is_held = last in kept and len(kept) <= last
        return Verdict.BAD if 0 in kept and not is_held else Verdict.GOOD

    assert reduced(last + 1, judge, calls) == (0,)
    to_reach_singles = 1 + 2 + 8 + 32 + 128
    assert len(calls) <= to_reach_singles + 25, "ask for the reason before raising this"


def test_nothing_to_leave_out_needs_no_call() -> None:
    calls: list[Chosen] = []

    assert reduced(0, fails_with_all_of([]), calls) == ()
    assert calls == []


@given(size=st.integers(1, 60), judge=judges())
def test_without_another_look_nothing_is_asked_twice_and_what_lost_nothing_is_1_minimal(
    size: int, judge: Callable[[Chosen], Verdict]
) -> None:
    calls: list[Chosen] = []

    def test(kept: Kept) -> Verdict:
        calls.append(chosen(kept))
        return judge(calls[-1])

    left = chosen(run_search(minimize(size, again=False), test))

    gone_alone = [set(before) - set(each) for before, each in pairs_of_steps(calls, judge, size)]
    singles = [next(iter(gone)) for gone in gone_alone if len(gone) == 1]
    assert len(singles) == len(set(singles))
    if left == tuple(range(size)):
        assert size == 1 or set(singles) == set(left)


def pairs_of_steps(
    calls: list[Chosen], judge: Callable[[Chosen], Verdict], size: int
) -> Iterable[tuple[Chosen, Chosen]]:
    """Yield each candidate after the best before it."""
    best = tuple(range(size))
    for each in calls:
        yield best, each
        if judge(each) is Verdict.BAD:
            best = each


def test_few_that_are_nearly_all_needed_are_asked_one_by_one() -> None:
    calls: list[Chosen] = []
    judge = fails_with_all_of(range(1, FEW_AT_ONCE))

    def test(kept: Kept) -> Verdict:
        calls.append(chosen(kept))
        return judge(calls[-1])

    run_search(minimize(FEW_AT_ONCE, again=False), test)

    assert len(calls) == FEW_AT_ONCE + 1
