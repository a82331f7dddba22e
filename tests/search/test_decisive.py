"""What decides among elements that need each other is found from both sides, in few trials."""

import math
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.proposal import run_search
from whet.search.subsets.decisive import Decided, few_that_decide

Needs = list[frozenset[int]]
Test = Callable[[tuple[int, ...]], Verdict]


def closed(needs: Needs) -> Needs:
    """Return needs with those of what is needed, for needs of smaller numbers."""
    whole: Needs = []
    for direct in needs:
        whole.append(direct.union(*(whole[each] for each in direct)))
    return whole


@st.composite
def changes(draw: st.DrawFn) -> tuple[Needs, frozenset[int]]:
    size = draw(st.integers(1, 14))
    direct = [
        frozenset(draw(st.sets(st.integers(0, at - 1), max_size=2)) if at else ())
        for at in range(size)
    ]
    culprits = draw(st.frozensets(st.integers(0, size - 1), min_size=1, max_size=2))
    return closed(direct), culprits


def judge(needs: Needs, culprits: frozenset[int]) -> Test:
    """Return a test that is BAD with all culprits, and SKIP where something lacks what it needs."""

    def test(kept: tuple[int, ...]) -> Verdict:
        there = frozenset(kept)
        if any(not needs[each] <= there for each in there):
            return Verdict.SKIP
        return Verdict.BAD if culprits <= there else Verdict.GOOD

    return test


def searched(needs: Needs, test: Test) -> tuple[Decided, list[tuple[int, ...]]]:
    asked: list[tuple[int, ...]] = []

    def asking(kept: tuple[int, ...]) -> Verdict:
        asked.append(kept)
        return test(kept)

    return run_search(few_that_decide(needs), asking), asked


@given(changes())
def test_the_part_fails_and_no_element_of_it_can_be_left_out(
    change: tuple[Needs, frozenset[int]],
) -> None:
    needs, culprits = change
    test = judge(needs, culprits)

    brings = searched(needs, test)[0].brings

    assert test(brings) is Verdict.BAD
    assert all(
        test(tuple(other for other in brings if other != each)) is not Verdict.BAD
        for each in brings
    )


@given(changes())
def test_without_what_is_undone_all_the_rest_passes(change: tuple[Needs, frozenset[int]]) -> None:
    needs, culprits = change
    test = judge(needs, culprits)

    undone = searched(needs, test)[0].undone

    if undone:
        assert test(tuple(each for each in range(len(needs)) if each not in undone)) is Verdict.GOOD
        assert not culprits.isdisjoint(undone)


@given(changes(), st.randoms(use_true_random=False))
def test_whatever_the_test_says_the_search_ends_with_what_it_has_seen(
    change: tuple[Needs, frozenset[int]], chance: Random
) -> None:
    needs, _ = change
    everything = tuple(range(len(needs)))
    seen: dict[tuple[int, ...], Verdict] = {(): Verdict.GOOD, everything: Verdict.BAD}

    def test(kept: tuple[int, ...]) -> Verdict:
        return seen.setdefault(kept, chance.choice(list(Verdict)))

    decided, _ = searched(needs, test)

    assert seen[decided.brings] is Verdict.BAD
    if decided.undone:
        rest = tuple(each for each in everything if each not in decided.undone)
        assert seen[rest] is Verdict.GOOD


@pytest.mark.parametrize("culprit", range(0, 39, 3))
def test_one_of_forty_edits_in_a_chain_takes_as_many_trials_as_halving(culprit: int) -> None:
    # Each needs all before it: what fails is a beginning, what passes undone is an end.
    needs = [frozenset(range(at)) for at in range(40)]

    decided, asked = searched(needs, judge(needs, frozenset([culprit])))

    until = next(at for at, kept in enumerate(asked) if kept == tuple(range(culprit + 1)))
    assert until <= 2 * math.ceil(math.log2(40))
    assert decided.brings == tuple(range(culprit + 1))
    assert decided.undone == (tuple(range(culprit, 40)) if culprit else ())


@pytest.mark.parametrize("culprit", range(0, 40, 3))
def test_an_edit_that_needs_no_other_is_found_and_undone_in_nine_trials(culprit: int) -> None:
    needs: Needs = [frozenset()] * 40

    decided, asked = searched(needs, judge(needs, frozenset([culprit])))

    assert decided == Decided(brings=(culprit,), undone=(culprit,))
    assert len(asked) <= math.ceil(math.log2(40)) + 3


def test_what_needs_each_other_is_taken_together_until_it_is_known_to_decide() -> None:
    # A function, renamed where it is defined and in two files that call it; the last edit decides.
    renamed = frozenset({1, 2, 3})
    needs = [frozenset[int](), *(renamed - {each} for each in (1, 2, 3)), frozenset[int]()]

    decided, asked = searched(needs, judge(needs, frozenset([4])))

    assert decided == Decided(brings=(4,), undone=(4,))
    assert all(not renamed & set(kept) or renamed <= set(kept) for kept in asked)


def test_beginnings_that_come_to_nothing_are_given_up_after_some() -> None:
    size = 64
    needs: Needs = [frozenset()] * size
    everything = tuple(range(size))

    def test(kept: tuple[int, ...]) -> Verdict:
        if kept == everything:
            return Verdict.BAD
        return Verdict.GOOD if not kept else Verdict.SKIP

    decided, asked = searched(needs, test)

    assert decided == Decided(brings=everything, undone=())
    assert sum(kept == tuple(range(len(kept))) for kept in asked[:10]) <= 6


def test_a_beginning_that_makes_no_sense_is_not_asked_for_and_another_one_near_it_is() -> None:
    needs: Needs = [frozenset()] * 32
    asked: list[tuple[int, ...]] = []
    test = judge(needs, frozenset([21]))

    def asking(kept: tuple[int, ...]) -> Verdict:
        asked.append(kept)
        return test(kept)

    decided = run_search(few_that_decide(needs, lambda kept: len(kept) % 3 == 0), asking)

    beginnings = [kept for kept in asked if kept == tuple(range(len(kept))) and len(kept) > 1]
    assert all(len(kept) % 3 == 0 for kept in beginnings)
    assert decided.brings == decided.undone == (21,)
