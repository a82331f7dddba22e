"""`whet.shrink`: exact minima and calls, and what it never does to a value."""

import copy
import datetime as dt
import decimal
import math
import sys
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import whet
from whet.core.errors import BaselineDoesNotFail


class Colour(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


class Point(NamedTuple):
    x: int
    y: int = 7


@dataclass
class Order:
    number: int
    lines: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    note: str = "none"


@dataclass(frozen=True)
class Positive:
    value: int

    def __post_init__(self) -> None:
        if self.value < 1:
            raise ValueError(self.value)


@dataclass(eq=False)
class Identity:
    """Equal to itself alone."""

    value: int


class Counted:
    """A function, and how often it was called with what."""

    def __init__(self, fails: Callable[[Any], object]) -> None:
        self._fails = fails
        self.seen: list[object] = []

    def __call__(self, value: object) -> object:
        self.seen.append(value)
        return self._fails(value)


def has(value: object, wanted: object) -> bool:
    """Whether a value is or holds another."""
    if type(value) is type(wanted) and value == wanted:
        return True
    if isinstance(value, dict):
        return any(has(each, wanted) for item in value.items() for each in item)
    if isinstance(value, Order):
        return has(vars(value), wanted)
    if isinstance(value, list | tuple | set | frozenset | deque):
        return any(has(each, wanted) for each in value)
    return False


RECORDS = [Order(number, [("tea", 2.5), ("milk", 1.0)], "gift") for number in range(50)]


@pytest.mark.parametrize(
    ("value", "fails", "smallest", "most_calls"),
    [
        (list(range(1000)), lambda v: 377 in v, [377], 30),
        (tuple(range(100)), lambda v: {31, 62} <= set(v), (31, 62), 45),
        ({1, 2, 3, 4, 5, 6}, lambda v: len(v) >= 2, {0, 1}, 25),
        (frozenset("abc"), lambda v: "b" in v, frozenset("b"), 10),
        (deque([1, 2, 3], maxlen=5), lambda v: 2 in v, deque([2], maxlen=5), 12),
        ({"a": [{"p": 1}, {"p": None}] * 20, "b": 3},
         lambda v: any(x["p"] is None for x in v["a"]), {"a": [{"p": None}]}, 25),
        (OrderedDict(a=1, b=2), lambda v: "b" in v, OrderedDict(b=0), 8),
        (Counter("aab"), lambda v: v["a"] > 1, Counter({"a": 2}), 16),
        (defaultdict(list, {1: [2, 3], 4: [5, 6]}), lambda v: 6 in v[4], {4: [6]}, 25),
        (123456, lambda v: v > 1000, 1001, 30),
        (-123456, lambda v: abs(v) > 1000, 1001, 30),
        (-5, lambda v: v < 0, -1, 6),
        (2**200, lambda v: v >= 2**100, 2**100, 420),
        (0.123456, lambda v: v > 0.1, 1.0, 4),
        (0.123456, lambda v: 0.1 < v < 0.5, 0.12, 8),
        (1234567.25, lambda v: v > 999.5, 1000.0, 40),
        (math.inf, lambda v: v > 10, math.inf, 4),
        (True, lambda v: v is True or v is False, False, 3),
        ("hello world, hello moon", lambda v: "world" in v, "world", 30),
        ("the number 7", lambda v: any(c.isdigit() for c in v), "0", 12),
        (b"\x00\x01\xff data", lambda v: b"\xff" in v, b"\xff", 20),
        ("x" * 5000 + "needle" + "y" * 5000, lambda v: "needle" in v, "needle", 150),
        ([Colour.BLUE, Colour.GREEN], lambda v: len(v) == 2, [Colour.RED] * 2, 8),
        (decimal.Decimal("12.50"), lambda v: v > 0, decimal.Decimal(1), 5),
        (3 + 4j, lambda v: v != 0, 1 + 0j, 5),
        (Point(3, 4), lambda v: v.x > 0, Point(1), 8),
        (SimpleNamespace(a=1, b=[2, 3]), lambda v: 3 in v.b, SimpleNamespace(b=[3]), 12),
        (RECORDS, lambda v: any(("milk", 1.0) in o.lines and o.number > 9 for o in v),
         [Order(10, [("milk", 1.0)])], 70),
        ([Positive(5), Positive(9)], lambda v: len(v) == 2, [None, None], 20),
        ([Positive(5), Positive(9)], lambda v: v[1].value > 0, [None, Positive(1)], 30),
        ([dt.date(2020, 1, 2), 1], lambda v: v[0].year > 2000, [dt.date(2020, 1, 2)], 9),
        ((1, [2, {"a": (3, 4)}]), lambda v: 4 in v[1][1]["a"], (0, [0, {"a": (4,)}]), 35),
    ],
)  # fmt: skip
def test_the_smallest_value_in_few_calls(
    value: object, fails: Callable[[Any], object], smallest: object, most_calls: int
) -> None:
    def held(candidate: object) -> bool:
        try:
            return bool(fails(candidate))
        except (LookupError, AttributeError, TypeError):
            return False

    counted = Counted(held)
    before = copy.deepcopy(value)

    found = whet.shrink(value, counted)

    assert found == smallest
    assert type(found) is type(value)
    assert value == before
    assert len(counted.seen) <= most_calls


def test_a_tree_is_replaced_by_the_branch_that_matters() -> None:
    def tree(depth: int) -> dict[str, object]:
        if not depth:
            return {"value": 99, "kids": []}
        return {"value": depth, "kids": [tree(depth - 1), tree(depth - 1)]}

    def deep(node: dict[str, object]) -> bool:
        kids = node.get("kids", [])
        assert isinstance(kids, list)
        return node.get("value") == 99 or any(deep(kid) for kid in kids)

    counted = Counted(deep)

    assert whet.shrink(tree(6), counted) == {"value": 99}
    assert len(counted.seen) <= 70


def test_an_exception_is_the_same_one_from_the_same_line() -> None:
    def total(orders: list[dict[str, Any]]) -> int:
        found = 0
        for order in orders:
            if "price" not in order:
                raise TypeError("another line")
            found += order["price"]
        return found

    orders: list[dict[str, Any]] = [{"id": n, "price": n} for n in range(50)]
    orders[30]["price"] = "seven"

    assert whet.shrink(orders, total) == [{"price": ""}]


def test_an_exit_and_a_failed_test_are_failures() -> None:
    def leave(numbers: list[int]) -> None:
        if 7 in numbers:
            sys.exit(3)

    def check(numbers: list[int]) -> None:
        if max(numbers) > 5:
            pytest.fail("too large")

    assert whet.shrink([1, 7, 9], leave) == [7]
    assert whet.shrink([1, 7, 9], check) == [6]


def test_another_expression_of_the_line_is_another_failure() -> None:
    def total(orders: list[dict[str, Any]]) -> int:
        return sum(order["price"] for order in orders)

    orders: list[dict[str, Any]] = [{"id": n, "price": n} for n in range(50)]
    orders[30]["price"] = None

    # `[None]` raises a TypeError in that line too: it has no `["price"]`.
    assert whet.shrink(orders, total) == [{"price": None}]


def test_a_value_that_does_not_fail_is_refused_by_name() -> None:
    def is_long(text: str) -> bool:
        return len(text) > 100

    with pytest.raises(BaselineDoesNotFail, match=r"`is_long` neither raises nor .* for `'short'`"):
        whet.shrink("short", is_long)


def test_what_always_fails_takes_one_more_call() -> None:
    counted = Counted(lambda _: True)

    assert whet.shrink([1, [2, 3], {"a": 4}], counted) == []
    assert len(counted.seen) == 2


def test_no_call_gets_an_object_of_another_and_the_original_stays() -> None:
    shared = [1, 2]
    value: dict[str, Any] = {"a": [shared, shared], "b": {"c": bytearray(b"xyz")}, "d": Identity(5)}
    before = repr(value)
    seen: dict[int, object] = {}

    def spoil(candidate: dict[str, Any]) -> bool:
        fails = "a" in candidate and len(candidate["a"]) > 1
        for each in (candidate, *candidate.values()):
            if isinstance(each, dict | list):
                assert id(each) not in seen
                seen[id(each)] = each
                each.clear()
        return fails

    found = whet.shrink(value, spoil)

    assert found == {"a": [[], []]}
    assert repr(value) == before


def test_a_value_that_holds_itself_and_one_that_cannot_be_copied() -> None:
    loop: list[object] = [1]
    loop.append(loop)
    lock = threading.Lock()

    assert whet.shrink([loop, 5, 6], lambda v: 6 in v) == [6]
    assert whet.shrink([lock, 5], lambda v: lock in v) == [lock]


def test_no_deeper_than_python_can_copy() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]

    assert whet.shrink([deep, 5], lambda v: 5 in v) == [5]


def test_calls_end_at_their_limit_with_the_best_so_far() -> None:
    counted = Counted(lambda v: isinstance(v, list) and 377 in v)

    found = whet.shrink(list(range(1000)), counted, most_calls=6)

    assert len(counted.seen) == 6
    assert 377 in found
    assert len(found) < 1000


def test_ctrl_c_gives_the_best_so_far_with_a_warning() -> None:
    calls = 0

    def tired(value: list[int]) -> bool:
        nonlocal calls
        calls += 1
        if calls == 8:
            raise KeyboardInterrupt
        return 377 in value

    with pytest.warns(RuntimeWarning, match="stopped by Ctrl-C after 8 calls"):
        found = whet.shrink(list(range(1000)), tired)

    assert 377 in found
    assert len(found) < 1000


NESTED = st.recursive(
    st.integers(-9, 99) | st.booleans() | st.none() | st.text(max_size=4) | st.floats(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=15,
)


@given(st.lists(NESTED, max_size=8), st.integers(0, 20))
def test_the_result_fails_is_minimal_and_stable(value: list[object], length: int) -> None:
    def fails(candidate: list[object]) -> bool:
        return len(repr(candidate)) >= length

    if not fails(value):
        return
    found = whet.shrink(value, fails)

    assert fails(found)
    assert repr(whet.shrink(found, fails)) == repr(found)
    assert repr(whet.shrink(copy.deepcopy(value), fails)) == repr(found)
    for index in range(len(found)):
        assert not fails(found[:index] + found[index + 1 :])


def test_attrs_classes() -> None:
    attrs = pytest.importorskip("attrs")

    pair: Any = attrs.make_class("Pair", {"x": attrs.field(), "_y": attrs.field(default="abc")})

    found = whet.shrink([pair(1, "zz"), pair(2, "hello")], lambda v: any("h" in p._y for p in v))

    assert found == [pair(0, "h")]


def test_pydantic_classes_are_made_as_they_check_themselves() -> None:
    pydantic = pytest.importorskip("pydantic")
    limited = pydantic.Field(gt=2)
    model = pydantic.create_model("Model", n=(int, limited), tags=(list[int], []))

    found = whet.shrink(model(n=50, tags=[1, 2, 3]), lambda m: 2 in m.tags)

    assert found == model(n=3, tags=[2])


class Line:
    def __init__(self, amounts: list[int]) -> None:
        self.amounts = amounts
        self.lock = threading.Lock()


class Basket:
    def __init__(self, lines: list[Line], owner: str) -> None:
        self.lines = lines
        self.owner = owner


class Guarded:
    """Has a way of its own to be copied."""

    def __init__(self) -> None:
        self.amounts = [1, 2, 3]

    def __getstate__(self) -> dict[str, list[int]]:
        return {"amounts": self.amounts}


def test_an_object_of_an_ordinary_class_is_shrunk_by_its_attributes() -> None:
    basket = Basket([Line([1, 2, -7, 4]), Line([3])], "me, myself")

    def fails(it: Basket) -> bool:
        return any(amount < 0 for line in it.lines for amount in line.amounts)

    smallest = whet.shrink(basket, fails)

    assert type(smallest) is Basket
    assert smallest.owner == ""
    assert [line.amounts for line in smallest.lines] == [[-1]]
    assert [line.amounts for line in basket.lines] == [[1, 2, -7, 4], [3]]


def test_an_object_with_a_way_of_its_own_to_be_copied_is_kept_whole() -> None:
    smallest = whet.shrink(Guarded(), lambda it: 2 in it.amounts)

    assert smallest.amounts == [1, 2, 3]
