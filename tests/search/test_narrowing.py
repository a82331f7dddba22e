"""Half of the places at a time, until few are left."""

import random

from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import Runs
from whet.search.flaky.narrowing import ENOUGH, narrowed
from whet.search.proposal import run_search

NEVER = Runs(0, 10)


@given(st.integers(1, 200), st.data())
def test_places_of_which_each_makes_it_fail_are_kept_and_few_others(
    count: int, data: st.DataObject
) -> None:
    culprits = data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=2))
    left = run_search(
        narrowed(range(count), NEVER),
        lambda part: Verdict.BAD if culprits & set(part) else Verdict.GOOD,
    )

    assert culprits <= set(left)
    assert len(left) <= ENOUGH
    assert list(left) == sorted(left)


@given(st.integers(1, 60), st.integers(0, 10), st.integers(0, 10**6))
def test_where_nothing_matters_nothing_is_invented_and_it_ends(
    count: int, failed: int, seed: int
) -> None:
    chance = random.Random(seed)
    rate = failed / 10
    left = run_search(
        narrowed(range(count), Runs(failed, 10 - failed)),
        lambda _: Verdict.BAD if chance.random() < rate else Verdict.GOOD,
    )

    assert set(left) <= set(range(count))
    assert left


def test_a_place_that_fails_in_every_second_run_is_rarely_lost_and_runs_are_few() -> None:
    kept, runs = 0, 0
    for seed in range(300):
        chance, asked = random.Random(seed), [0]

        def test(
            part: tuple[int, ...],
            chance: random.Random = chance,
            asked: list[int] = asked,
            place: int = seed % 32,
        ) -> Verdict:
            asked[0] += 1
            rate = 0.5 if place in part else 0.05
            return Verdict.BAD if chance.random() < rate else Verdict.GOOD

        kept += seed % 32 in run_search(narrowed(range(32), Runs(1, 19)), test)
        runs += asked[0]

    assert kept >= 285
    assert runs / 300 <= 90
