"""A failure that comes sometimes is called rarer only where chance would hardly do it."""

import pytest

from whet.workbench.toggle.toggle import Effect, Turned
from whet.workbench.toggle.toggle_clues import said_of
from whet.workbench.toggle.toggles import chosen, known_toggles
from whet.workbench.trials.investigation import Reproduction


def reproduction(failures: int, runs: int) -> Reproduction:
    return Reproduction(
        attempts=runs, same_failures=failures, other_failures=(), wall_seconds=1.0,
        peak_rss_bytes=0, exit_code=1, trials=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"), [((7, 10), (2, 8)), ((5, 10), (1, 8)), ((1, 10), (0, 8)), ((3, 3), (1, 1))]
)
def test_what_chance_may_do_is_not_called_rarer(
    before: tuple[int, int], after: tuple[int, int]
) -> None:
    assert not reproduction(*before).is_rarer_in(*after)


@pytest.mark.parametrize(
    ("before", "after"),
    [((7, 10), (0, 8)), ((10, 10), (7, 8)), ((3, 3), (0, 1)), ((50, 99), (1, 8))],
)
def test_what_chance_hardly_does_is_called_rarer(
    before: tuple[int, int], after: tuple[int, int]
) -> None:
    assert reproduction(*before).is_rarer_in(*after)


@pytest.mark.parametrize(
    ("before", "effect", "after", "says"),
    [
        ((7, 10), Effect.RARER, (2, 8), ""),
        ((9, 10), Effect.RARER, (2, 8), "it fails less often"),
        ((3, 10), Effect.GONE, (0, 8), ""),
        ((6, 10), Effect.GONE, (0, 8), "it doesn't fail"),
        ((7, 10), Effect.SAME, (8, 8), ""),
        ((5, 10), Effect.SAME, (8, 8), "it fails every time"),
    ],
)
def test_a_switch_is_said_to_change_a_rate_only_where_chance_hardly_does(
    before: tuple[int, int], effect: Effect, after: tuple[int, int], says: str
) -> None:
    (toggle,) = chosen(["hash-seed"], known_toggles({}))
    turned = Turned(
        toggle=toggle, effect=effect, took=True, slowdown=1.0, failures=after[0], runs=after[1],
        trial=1, summary="",
    )  # fmt: skip

    assert said_of(turned, reproduction(*before)) == says
