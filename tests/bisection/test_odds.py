"""The line of versions with their probabilities, as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.bisection.odds import Odds, odds_picture, shown_chance
from whet.search.flaky.failure_rates import Runs


def drawn(
    probability: dict[int, float],
    runs: dict[int, Runs] | None = None,
    skipped: frozenset[int] = frozenset(),
    first_bad: int | None = None,
) -> list[str]:
    odds = Odds(probability=probability, runs=runs or {}, skipped=skipped, first_bad=first_bad)
    return odds_picture(odds, lambda version: f"v{version}").splitlines()


def test_a_picture_says_what_was_run_and_how_likely_each_is() -> None:
    lines = drawn(
        {1: 0.002, 2: 0.003, 3: 0.045, 4: 0.95, 5: 0.0, 6: 0.0},
        {3: Runs(0, 6), 4: Runs(3, 4), 5: Runs(1, 0)},
        frozenset({6}),
        first_bad=4,
    )

    assert lines == [
        "┊                                0.5 %  2 versions not run",
        "●     0 of 6 bad  ▌              4.5 %  v3",
        "▶     3 of 7 bad  ███████████▍  95.0 %  v4  ← first bad",
        "●     1 of 1 bad               < 0.1 %  v5",
        "●           skip               < 0.1 %  v6",
    ]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sets(st.integers(0, 29)))
def test_every_version_stands_in_one_line_or_is_counted_in_one(
    chances: list[float], run: set[int]
) -> None:
    total = sum(chances) or 1.0
    probability = {number: chance / total for number, chance in enumerate(chances)}

    lines = drawn(probability, {number: Runs(1, 1) for number in run if number in probability})

    shown = [line for line in lines if line.startswith("●")]
    counted = [int(line.split("%  ")[1].split()[0]) for line in lines if line.startswith("┊")]
    assert len(shown) + sum(counted) == len(chances)


@pytest.mark.parametrize(
    ("probability", "said"), [(0.0, "< 0.1 %"), (0.5, "50.0 %"), (0.9999, "> 99.9 %")]
)
def test_nothing_is_said_to_be_certain(probability: float, said: str) -> None:
    assert shown_chance(probability) == said
