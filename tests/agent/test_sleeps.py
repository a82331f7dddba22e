"""Random sleeps at what is shared: where they are put, and that a program does what it did."""

import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.agent.site.whet_sleeps import Sleeps

HERE = __file__


class Box:
    number = 0


def add(box: Box, amount: int) -> int:
    twice = amount + amount
    box.number = box.number + twice
    return twice


def only_locals(amount: int) -> int:
    twice = amount + amount
    return twice + 1


@pytest.fixture(autouse=True)
def _traced_as_before() -> Iterator[None]:
    before = sys.gettrace()
    yield
    sys.settrace(before)
    threading.settrace(before)


def code_of(function: Callable[..., object]) -> CodeType:
    assert isinstance(function, FunctionType)
    return function.__code__


def points(sleeps: Sleeps, function: Callable[..., object]) -> set[str]:
    return set(sleeps._points_of(code_of(function)).values())


def line_of(function: Callable[..., object], offset: int) -> str:
    return f"{HERE}:{code_of(function).co_firstlineno + offset}"


def test_it_sleeps_where_something_shared_is_stored_and_nowhere_else() -> None:
    sleeps = Sleeps(lambda _: None, "")

    assert points(sleeps, add) == {line_of(add, 2)}
    assert points(sleeps, only_locals) == set()
    assert points(sleeps, threading.Thread.start) == set()
    assert points(sleeps, pytest.raises) == set()


def test_places_that_are_named_are_the_only_ones() -> None:
    assert points(Sleeps(lambda _: None, f"{HERE}:add"), add) == {line_of(add, 2)}
    assert points(Sleeps(lambda _: None, line_of(add, 2)), add) == {line_of(add, 2)}
    assert points(Sleeps(lambda _: None, line_of(add, 1)), add) == set()
    assert points(Sleeps(lambda _: None, f"{HERE}:another"), add) == set()


@given(st.lists(st.integers(-9, 9), max_size=5))
def test_a_program_does_what_it_did(amounts: list[int]) -> None:
    told: list[str] = []
    sleeps = Sleeps(told.append, f"{HERE}:add")
    sleeps._sleep = lambda _seconds: None
    box = Box()
    sleeps.begin()
    results = [add(box, each) for each in amounts]
    sys.settrace(None)

    assert results == [2 * each for each in amounts]
    assert box.number == 2 * sum(amounts)
    assert set(told) <= {"inside:sleeps", f"slept:{line_of(add, 2)}"}


def test_it_sleeps_for_so_long_and_no_longer() -> None:
    slept: list[float] = []
    sleeps = Sleeps(lambda _: None, f"{HERE}:add")
    sleeps._sleep = lambda seconds: slept.append(float(seconds))
    box = Box()
    sleeps.begin()
    for _ in range(20_000):
        add(box, 1)
    tracing = sys.gettrace()
    sys.settrace(None)

    assert 0 < sum(slept) <= 2.1
    assert sum(slept) >= 2 or tracing is not None


def test_a_function_that_a_second_thread_runs_is_told() -> None:
    told: list[str] = []
    sleeps = Sleeps(told.append, "")
    sleeps._sleep = lambda _seconds: None
    box = Box()
    sleeps.begin()
    add(box, 1)
    assert f"shared:{HERE}:add" not in told
    other = threading.Thread(target=add, args=(box, 1))
    other.start()
    other.join()
    sys.settrace(None)

    assert f"shared:{HERE}:add" in told
