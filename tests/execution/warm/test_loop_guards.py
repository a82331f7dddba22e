"""The gate of a loop opens now and then, and the loop is the one that it would be without."""

import importlib.util
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

import whet.agent


def _loop_guards_module() -> ModuleType:
    # The agent's package is imported in processes that whet starts, by nobody else.
    file = f"{whet.agent.__path__[0]}/site/whet_stage/rewriting/loop_guards.py"
    spec = importlib.util.spec_from_file_location("loop_guards", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


loop_guards = _loop_guards_module()


class Counted:
    """An iterator of a program's own, which notices each time that it is asked."""

    def __init__(self, count: int) -> None:
        self.left, self.asked = count, 0

    def __iter__(self) -> "Counted":
        return self

    def __next__(self) -> int:
        self.asked += 1
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left


def _generated(count: int) -> Iterator[int]:
    yield from range(count)


KINDS: dict[str, Callable[[int], Iterable[object]]] = {
    "range": range,
    "long range": lambda count: range(1 << 70, (1 << 70) + count),
    "list": lambda count: list(range(count)),
    "tuple": lambda count: tuple(range(count)),
    "text": lambda count: "x" * count,
    "bytes": bytes,
    "dictionary": lambda count: dict.fromkeys(range(count)),
    "items": lambda count: dict.fromkeys(range(count)).items(),
    "set": lambda count: set(range(count)),
    "generator": _generated,
    "list iterator": lambda count: iter(list(range(count))),
    "enumerate": lambda count: enumerate(range(count)),
    "zip": lambda count: zip(range(count), range(count + 1), strict=False),
    "own": Counted,
}


class _Gate(Protocol):
    n: bool

    def refill(self) -> None: ...


def _rounds(gate: _Gate, loop: Iterable[object], opened: list[int]) -> Iterator[object]:
    for number, item in enumerate(loop):
        if gate.n:
            gate.refill()
            opened.append(number)
        yield item


@pytest.mark.parametrize("kind", KINDS)
@given(count=st.integers(0, 300))
def test_a_loop_over_anything_has_its_rounds_and_its_first_one_opens_the_gate(
    kind: str, count: int
) -> None:
    gate, opened = loop_guards.LoopGuard(), list[int]()
    gate.begin()

    loop = loop_guards.over(KINDS[kind](count), gate)

    assert list(_rounds(gate, loop, opened)) == list(KINDS[kind](count))
    assert opened[:1] == [0][:count]


@pytest.mark.parametrize("kind", KINDS)
@given(count=st.integers(1, 300), done=st.integers(1, 300))
def test_what_is_left_of_a_loop_is_what_it_has_not_handed_out(
    kind: str, count: int, done: int
) -> None:
    gate, whole = loop_guards.LoopGuard(), list(KINDS[kind](count))
    gate.begin()
    loop = loop_guards.over(KINDS[kind](count), gate)
    rounds = _rounds(gate, loop, [])

    taken = [next(rounds) for _ in range(min(count, done))]

    assert taken + list(loop.rest()) == whole


@pytest.mark.parametrize("kind", KINDS)
@given(count=st.integers(0, 300), done=st.integers(0, 300))
def test_a_gate_that_is_ended_opens_no_more_and_the_loop_goes_on(
    kind: str, count: int, done: int
) -> None:
    gate, opened = loop_guards.LoopGuard(), list[int]()
    gate.begin()
    rounds = _rounds(gate, loop_guards.over(KINDS[kind](count), gate), opened)
    taken = [next(rounds) for _ in range(min(count, done))]
    before = len(opened)

    gate.end()

    assert taken + list(rounds) == list(KINDS[kind](count))
    assert opened[before:] == []


def test_a_long_loop_opens_its_gate_more_than_once_and_seldom() -> None:
    for kind in ("range", "enumerate"):
        gate, opened = loop_guards.LoopGuard(), list[int]()
        gate.begin()

        for _ in _rounds(gate, loop_guards.over(KINDS[kind](300_000), gate), opened):
            pass

        assert 1 < len(opened) < 30_000


def test_an_iterator_of_a_programs_own_is_asked_no_more_often_than_by_the_loop_itself() -> None:
    gate, own = loop_guards.LoopGuard(), Counted(40)
    gate.begin()

    for _ in _rounds(gate, loop_guards.over(own, gate), []):
        pass

    assert own.asked == 41


def test_a_list_that_grows_while_it_is_gone_through_is_gone_through_to_its_end() -> None:
    gate, growing, seen = loop_guards.LoopGuard(), [0], list[object]()
    gate.begin()

    for item in _rounds(gate, loop_guards.over(growing, gate), []):
        seen.append(item)
        if len(growing) < 50:
            growing.append(len(growing))

    assert seen == list(range(50))


class Thing:
    """What can be looked at without being kept."""


def test_nothing_that_was_handed_out_is_held() -> None:
    gate, alive = loop_guards.LoopGuard(), list["weakref.ref[Thing]"]()
    gate.begin()

    def things() -> Iterator[Thing]:
        for _ in range(20):
            thing = Thing()
            alive.append(weakref.ref(thing))
            yield thing
            del thing

    for item in loop_guards.over(things(), gate):
        if gate.n:
            gate.refill()
        del item
        assert [each() for each in alive[:-1]] == [None] * (len(alive) - 1)


def test_what_a_loop_went_through_goes_with_the_loop() -> None:
    gate, things = loop_guards.LoopGuard(), [Thing() for _ in range(3)]
    gate.begin()
    last = weakref.ref(things[-1])
    loop = loop_guards.over(things, gate)
    next(iter(loop))

    del things, loop

    assert last() is None
