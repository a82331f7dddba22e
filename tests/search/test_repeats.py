"""How long something that fails sometimes is tried, and how often that decides wrongly."""

import random

import pytest

from whet.search.flaky.repeats import Repeats

SAMPLES = 2000


def decided(rule: Repeats, rate: float, chance: random.Random) -> tuple[bool, int]:
    """Run something that fails at this rate until the rule decides; return how many runs too."""
    failures = runs = 0
    while (fails := rule.fails(failures, runs - failures)) is None:
        runs += 1
        failures += chance.random() < rate
    return fails, runs


@pytest.mark.parametrize("floor", [0.1, 0.3, 0.5, 0.8, 0.95])
def test_what_is_rarer_than_the_floor_is_taken_once_in_a_hundred_times_at_most(
    floor: float,
) -> None:
    rule, chance = Repeats(floor=floor), random.Random(7)

    taken = sum(decided(rule, floor, chance)[0] for _ in range(SAMPLES))

    assert taken / SAMPLES <= 0.02


@pytest.mark.parametrize("floor", [0.1, 0.3, 0.5, 0.8])
def test_what_always_fails_is_always_taken_and_soon(floor: float) -> None:
    rule, chance = Repeats(floor=floor), random.Random(7)

    ended = [decided(rule, 1.0, chance) for _ in range(10)]

    assert all(fails for fails, _ in ended)
    assert max(runs for _, runs in ended) <= 45


def test_what_never_fails_is_given_up_soon() -> None:
    assert decided(Repeats(floor=0.5), 0.0, random.Random(7)) == (False, 2)
    assert decided(Repeats(floor=0.15), 0.0, random.Random(7))[1] <= 20


def test_twice_the_floor_is_mostly_taken() -> None:
    rule, chance = Repeats(floor=0.3), random.Random(7)

    taken = sum(decided(rule, 0.6, chance)[0] for _ in range(SAMPLES))

    assert taken / SAMPLES >= 0.9


def test_without_a_floor_one_failure_is_enough() -> None:
    rule = Repeats(most=3)

    assert rule.fails(0, 2) is None
    assert rule.fails(1, 2) is True
    assert rule.fails(0, 3) is False
