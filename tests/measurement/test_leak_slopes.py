"""A number that grows without an end is told from one that flickers, jumps, fills up or falls again."""

import random
from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.measurement.leaks.slope import slope_of
from whet.measurement.leaks.verdict import Kind, Series, judge

ROUNDS = tuple(range(65))
PAGE = 4096


def kind_of(values: Sequence[float], name: str = "memory") -> Kind:
    usages = tuple({name: round(value)} for value in values)
    return judge(Series(numbers=tuple(range(len(values))), usages=usages)).kind


@given(
    rate=st.integers(200, 10**6),
    base=st.integers(0, 10**9),
    noise=st.lists(st.integers(-40, 40), min_size=65, max_size=65),
)
def test_steady_growth_is_a_leak_with_its_rate_in_the_interval(
    rate: int, base: int, noise: list[int]
) -> None:
    values = [base + rate * number + noise[number] for number in ROUNDS]
    slope = slope_of(ROUNDS, values)
    assert slope is not None
    assert slope.low - 8 <= rate <= slope.high + 8
    assert kind_of(values) is Kind.LEAK


@given(base=st.integers(0, 10**9), noise=st.lists(st.integers(-800, 800), min_size=65, max_size=65))
def test_a_number_that_flickers_around_a_level_never_leaks(base: int, noise: list[int]) -> None:
    assert kind_of([base + each for each in noise]) in {Kind.NONE, Kind.SMALL}


@given(full=st.integers(4, 40), size=st.integers(500, 10**5))
def test_a_cache_that_fills_up_is_no_leak(full: int, size: int) -> None:
    assert kind_of([min(number, full) * size for number in ROUNDS]) is not Kind.LEAK


@given(bound=st.integers(5, 40), size=st.integers(500, 2000))
def test_a_table_that_is_cleared_when_it_is_full_is_no_leak(bound: int, size: int) -> None:
    assert kind_of([number % bound * size for number in ROUNDS]) is not Kind.LEAK


@given(every=st.integers(2, 8), size=st.integers(3000, 10**6))
def test_a_leak_at_every_few_repetitions_is_one(every: int, size: int) -> None:
    assert kind_of([number // every * size for number in ROUNDS]) is Kind.LEAK


@given(at=st.integers(17, 63))
def test_one_jump_of_an_arena_is_no_leak(at: int) -> None:
    assert kind_of([(number >= at) << 20 for number in ROUNDS], "resident") is not Kind.LEAK


@pytest.mark.parametrize("name", ["descriptors", "threads", "children"])
def test_a_file_or_thread_more_each_time_is_a_leak_of_it(name: str) -> None:
    assert kind_of(ROUNDS, name) is Kind.LEAK
    assert kind_of([9.0 for _ in ROUNDS], name) is Kind.NONE


def test_growth_below_the_limit_is_small_and_counts_from_the_limit_on() -> None:
    usages = tuple({"memory": 40 * number} for number in range(200))
    series = Series(numbers=tuple(range(200)), usages=usages)
    assert judge(series).kind is Kind.SMALL
    assert judge(series, least=30).kind is Kind.LEAK


def test_what_the_looks_themselves_add_does_not_count() -> None:
    """The control grows as well: its range is the noise."""
    usages = tuple({"memory": 120 * number} for number in ROUNDS)
    control = tuple({"memory": 120 * number} for number in ROUNDS)
    assert judge(Series(numbers=ROUNDS, usages=usages)).kind is Kind.LEAK
    assert judge(Series(numbers=ROUNDS, usages=usages), control).kind is Kind.NONE


def test_few_points_say_nothing() -> None:
    assert slope_of((), ()) is None
    assert slope_of((1, 2, 3), (1.0, 2.0, 3.0)) is None
    assert kind_of([1.0, 2.0]) is Kind.UNSURE


def test_resident_memory_that_only_follows_what_is_in_use_is_not_told_twice() -> None:
    usages = tuple({"memory": 9 * PAGE * n, "resident": 10 * PAGE * n} for n in ROUNDS)
    assert judge(Series(numbers=ROUNDS, usages=usages)).growing == ("memory",)


def filled(keys: int, rounds: int, size: int, seed: int, *, resized: bool) -> Sequence[float]:
    """Return what a table holds that is filled with random keys; it doubles its places when it is full."""
    chance, known, held = random.Random(seed), set[int](), [0.0]
    for _ in range(rounds):
        known.add(chance.randrange(keys))
        places = 1 << max(len(known) * 3 // 2, 8).bit_length()
        held.append(len(known) * size + (36 * places if resized else 0))
    return held


@pytest.mark.parametrize("resized", [False, True])
def test_tables_that_random_keys_fill_are_hardly_ever_leaks(*, resized: bool) -> None:
    kinds = [
        kind_of(filled(keys, round(keys * times), 1500, seed, resized=resized))
        for seed, (keys, times) in enumerate(product((300, 500, 1000), (2, 3) * 4))
    ]
    assert kinds.count(Kind.LEAK) <= 1
    assert Kind.SLOWS in kinds


def test_where_a_table_will_be_full_is_said_before_it_is() -> None:
    values = filled(1000, 2000, 1500, 1, resized=False)
    slope = slope_of(tuple(range(len(values))), values)
    assert slope is not None
    assert slope.slowing is not None
    assert values[-1] + slope.slowing.rest == pytest.approx(1000 * 1500, rel=0.1)


def test_leaks_at_random_repetitions_hardly_ever_look_like_tables() -> None:
    kinds: list[Kind] = []
    for seed in range(200):
        chance, held = random.Random(seed), [0.0]
        share = chance.uniform(0.2, 1)
        for _ in range(400):
            held.append(held[-1] + 1500 * (chance.random() < share))
        kinds.append(kind_of(held))
    assert set(kinds) <= {Kind.LEAK, Kind.SLOWS}
    assert kinds.count(Kind.SLOWS) <= 2
