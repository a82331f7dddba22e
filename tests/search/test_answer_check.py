"""The second look at an answer: what it costs, what it sees, and what it overlooks."""

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from noisy_oracles import before, graph_of

from whet.core.verdict import Verdict
from whet.search.flaky.answer_check import MOST_AGAIN, second_look
from whet.search.history.bisection import Bisection
from whet.search.history.version_graph import line_of, only
from whet.search.proposal import run_search

seeds = st.integers(0, 2**32)


def told_by(graph: Mapping[int, tuple[int, ...]], culprit: int, tip: int) -> dict[int, Verdict]:
    """Return what a search that takes each run at its word was told, and both ends."""
    bisection = Bisection(graph, tip)
    told = {-1: Verdict.GOOD, tip: Verdict.BAD}

    def test(version: int) -> Verdict:
        told[version] = Verdict.BAD if culprit in before(graph, version) else Verdict.GOOD
        return told[version]

    run_search(bisection.search(), test)
    return told


@given(seeds, st.integers(1, 60), st.integers(1, 4), st.data())
def test_what_always_does_the_same_is_believed_and_only_what_was_run_is_run_again(
    seed: int, size: int, at_once: int, data: st.DataObject
) -> None:
    graph = graph_of(size, random.Random(seed))
    told = told_by(graph, data.draw(st.sampled_from(sorted(graph))), size)
    again: list[int] = []

    def test(version: int) -> Verdict:
        again.append(version)
        return told[version]

    is_fix = data.draw(st.booleans())
    search = second_look(graph, told, is_fix=is_fix, at_once=at_once)

    looked = run_search(search, test)

    assert looked.differed is None
    assert looked.runs == len(again)
    assert set(again) <= set(told)
    assert len(again) <= MOST_AGAIN


@given(seeds, st.integers(2, 60), st.data())
def test_a_version_that_does_something_else_when_run_again_is_named(
    seed: int, size: int, data: st.DataObject
) -> None:
    graph = graph_of(size, random.Random(seed))
    told = told_by(graph, data.draw(st.sampled_from(sorted(graph))), size)
    asked: list[int] = []

    def other(version: int) -> Verdict:
        asked.append(version)
        return Verdict.GOOD if told[version] is Verdict.BAD else Verdict.BAD

    looked = run_search(second_look(graph, told), other)

    assert looked.differed == (asked[0] if asked else None)
    assert not (looked.differed is not None and looked.doubts)


def test_what_cannot_be_judged_now_is_asked_once_and_changes_nothing() -> None:
    told = told_by(line_of(range(21)), 13, 20)
    asked: list[int] = []

    def test(version: int) -> Verdict:
        asked.append(version)
        return Verdict.SKIP

    looked = run_search(second_look(line_of(range(21)), told), test)

    assert looked.differed is None
    assert looked.runs == 0
    assert len(asked) == len(set(asked))


@given(seeds, st.integers(1, 30), st.data())
def test_a_graph_of_some_versions_has_them_before_each_other_as_the_whole_one(
    seed: int, size: int, data: st.DataObject
) -> None:
    graph = graph_of(size, random.Random(seed))
    kept = data.draw(st.sets(st.sampled_from(sorted(graph))))

    some = only(graph, kept)

    assert set(some) == kept
    for version in kept:
        assert before(some, version) == before(graph, version) & kept


def test_what_is_remembered_counts_and_is_not_run_again() -> None:
    line = line_of(range(21))
    told = told_by(line, 13, 20)
    remembered = {version: told.pop(version) for version in list(told) if version not in (12, 13)}
    asked: list[int] = []

    def test(version: int) -> Verdict:
        asked.append(version)
        return told[version]

    assert run_search(second_look(line, told, remembered=remembered), test).differed is None
    assert set(asked) <= {12, 13}


def test_failures_seen_before_leave_fewer_to_be_run_again() -> None:
    told = told_by(line_of(range(201)), 180, 200)

    def runs(failures: int) -> int:
        asked: list[int] = []

        def test(version: int) -> Verdict:
            asked.append(version)
            return told[version]

        run_search(second_look(line_of(range(201)), told, failures=failures), test)
        return len(asked)

    assert runs(10) < runs(0)


def test_where_the_end_is_the_answer_and_nothing_else_failed_more_is_run_again() -> None:
    """So looks what fails rarely: passes all the way, and the last one is named."""
    line = line_of(range(1001))

    def runs(culprit: int) -> int:
        told, asked = told_by(line, culprit, 1000), list[int]()

        def test(version: int) -> Verdict:
            asked.append(version)
            return told[version]

        run_search(second_look(line, told), test)
        return len(asked)

    assert runs(1000) >= 3
    assert runs(1) <= 1


# ---- on a line of 1,000, against running the end that fails three times ----


def searched(culprit: int, rate: float, chance: random.Random) -> tuple[int, dict[int, Verdict]]:
    """Return what a search takes for the first bad one of 1,000, and what it was told."""
    bisection = Bisection(line_of(range(1001)), 1000, (0,))
    told = {0: Verdict.GOOD, 1000: Verdict.BAD}

    def test(version: int) -> Verdict:
        failed = version >= culprit and chance.random() < rate
        told[version] = Verdict.BAD if failed else Verdict.GOOD
        return told[version]

    result = run_search(bisection.search(), test)
    assert result.first_bad is not None
    return result.first_bad, told


def test_a_search_of_a_thousand_runs_three_of_them_again() -> None:
    chance, asked = random.Random(5), list[int]()
    searches = 20
    for _ in range(searches):
        _, told = searched(chance.randint(1, 1000), 1.0, chance)

        def again(version: int, told: dict[int, Verdict] = told) -> Verdict:
            asked.append(version)
            return told[version]

        assert run_search(second_look(line_of(range(1001)), told), again).differed is None

    assert len(asked) / searches <= 3.5


def overlooked(told: Mapping[int, Verdict], again: Sequence[int], rate: float) -> float:
    """Return the chance of such runs over all culprits but the answer, the last end's left out."""
    passed = sorted(each for each in [*told, *again] if told[each] is Verdict.GOOD and each > 0)
    failed = sum(told[each] is Verdict.BAD for each in [*told, *again]) - 1
    chance, before = 0.0, 0
    for place, version in enumerate(passed):
        chance += (version - before) * (1 - rate) ** (len(passed) - place)
        before = version
    return chance * rate**failed


def test_wrong_answers_of_a_flaky_failure_are_seldom_overlooked() -> None:
    """Worked out, not drawn: a search that names a version has told the same whoever is to blame."""
    line, sample = line_of(range(1, 1001)), range(20, 1001, 70)
    most = {0.1: 0.01, 0.2: 0.025, 0.5: 0.1, 0.9: 0.01}
    shares = dict.fromkeys(most, 0.0)
    for named in sample:
        told, again = told_by(line, named, 1000), list[int]()

        def test(
            version: int, told: dict[int, Verdict] = told, again: list[int] = again
        ) -> Verdict:
            again.append(version)
            return told[version]

        run_search(second_look(line, told), test)
        for rate in most:
            shares[rate] += overlooked(told, again, rate) / len(sample)

    assert all(shares[rate] <= most[rate] for rate in most), shares


@given(st.integers(2, 80), st.data())
def test_the_doubt_that_is_told_is_the_share_of_wrong_ones_among_answers_of_that_kind(
    size: int, data: st.DataObject
) -> None:
    line = line_of(range(1, size + 1))
    told, again = told_by(line, data.draw(st.integers(1, size)), size), list[int]()

    def test(version: int) -> Verdict:
        again.append(version)
        return told[version]

    for rate, doubt in run_search(second_look(line, told), test).doubts:
        wrong = overlooked(told, again, rate) * rate
        failed = sum(told[each] is Verdict.BAD for each in [*told, *again])
        sure = 1 + rate**failed  # it always comes, or it comes at this rate and came each time
        assert doubt == pytest.approx(wrong / (wrong + sure), rel=1e-3, abs=1e-4)
