"""The line of versions as it is shown while a search works."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.flaky.noisy_bisection import NoisyBisection
from whet.search.flaky.stretches import COLUMNS, line_of_bisection, line_of_odds, stretches
from whet.search.history.bisection import Bisection
from whet.search.history.version_graph import line_of

told = st.sampled_from([None, Verdict.GOOD, Verdict.BAD, Verdict.SKIP])


@given(st.lists(st.tuples(told, st.floats(0, 1)), max_size=300))
def test_no_mark_and_no_probability_is_lost(versions: list[tuple[Verdict | None, float]]) -> None:
    line = stretches([each for each, _ in versions], [chance for _, chance in versions])

    assert len(line) == min(COLUMNS, len(versions))
    assert sum(each.probability for each in line) == pytest.approx(sum(p for _, p in versions))
    assert any(each.told is not None for each in line) == any(each for each, _ in versions)
    if any(each is Verdict.BAD for each, _ in versions):
        assert Verdict.BAD in {each.told for each in line}


def test_of_a_bisection_all_suspects_are_as_likely_and_the_tested_are_marked() -> None:
    bisection = Bisection(line_of(range(9)), 8, (0,))
    search = bisection.search()
    (first,) = next(search)
    search.send([Verdict.GOOD])

    line = line_of_bisection(bisection)

    assert line[first - 1].told is Verdict.GOOD or line[first].told is Verdict.GOOD
    assert [each.probability for each in line if each.probability] == [0.25] * 4


def test_of_a_search_that_weighs_runs_the_odds_are_shown() -> None:
    bisection = NoisyBisection(line_of(range(30)))
    bisection.tell([20, 20, 10], [Verdict.BAD, Verdict.GOOD, Verdict.GOOD])

    line = line_of_odds(bisection, {29: Verdict.BAD})

    assert [line[each].told for each in (10, 20, 29)] == [Verdict.GOOD, Verdict.BAD, Verdict.BAD]
    assert sum(each.probability for each in line) == pytest.approx(1)
    assert max(line, key=lambda each: each.probability) in line[11:21]
