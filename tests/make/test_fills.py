"""What each fill means, on any shape and type; and the same numbers on every machine."""

import hashlib
import math
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import BadUsage, NotEnoughMemory
from whet.make.arrays.filled import FilledArray, filled_array
from whet.make.elements.chance import normal, uniform
from whet.make.elements.dtypes import DTYPES
from whet.make.elements.fills import FILLS, Filling
from whet.make.elements.guards import PAGE_BYTES
from whet.make.explain import coordinates, guards_like

shapes = st.lists(st.integers(0, 7), max_size=4).map(tuple)


def made(shape: tuple[int, ...], fill: str, dtype: str = "float32", **how: Any) -> FilledArray:
    return filled_array(shape, dtype, Filling(name=fill, **how))


def flat(array: FilledArray) -> list[complex]:
    return array.dtype.decoded(array.content)


@given(shapes, st.sampled_from(sorted(FILLS)), st.sampled_from(sorted(DTYPES)))
def test_each_fill_fills_each_shape_or_says_why_not(
    shape: tuple[int, ...], fill: str, dtype: str
) -> None:
    refused: BadUsage | None = None
    array: FilledArray | None = None
    try:
        array = made(shape, fill, dtype)
    except BadUsage as error:
        refused = error
    if array is None:
        assert dtype in str(refused)
        assert refused is not None
        assert refused.hint
        return

    assert len(array.content) == math.prod(shape) * DTYPES[dtype].width
    assert array.content == made(shape, fill, dtype).content


def test_the_first_example_of_the_guide() -> None:
    assert made((2, 2), "count").lists() == [[1, 2], [3, 4]]
    assert made((2, 2), "count").text() == "[[1, 2], [3, 4]]"


@given(shapes.filter(lambda shape: 0 not in shape and len(shape) > 0))
def test_a_coordinate_says_where_it_came_from(shape: tuple[int, ...]) -> None:
    values = flat(made(shape, "coordinates", "float64"))

    for index, value in zip(product(*map(range, shape)), values, strict=True):
        assert coordinates(value.real, shape) == index


@given(st.integers(0, 3), st.integers(0, 2999))
def test_a_long_row_has_room_for_its_columns(row: int, column: int) -> None:
    value = flat(made((4, 3000), "coordinates", "int32"))[row * 3000 + column]

    assert value == row * 10_000 + column
    assert coordinates(value.real, (4, 3000)) == (row, column)


def test_a_value_is_read_as_thousand_times_the_row_and_the_column() -> None:
    assert flat(made((5, 20), "coordinates", "int64"))[3 * 20 + 17] == 3017


@pytest.mark.parametrize("value", [-1, 20, 5000, 3017.5, math.nan])
def test_what_is_no_coordinate_of_a_shape_is_none(value: float) -> None:
    assert math.isnan(value) or coordinates(value, (5, 20)) is None


@pytest.mark.parametrize(
    ("fill", "how", "numbers"),
    [
        ("ramp", {}, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ("ramp", {"low": -1.0, "high": 4.0}, [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0]),
        ("ramp", {"low": 5}, [5.0, 5.2, 5.4, 5.6, 5.8, 6.0]),
        ("constant", {"value": 7}, [7.0] * 6),
        ("eye", {}, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        ("onehot", {}, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        ("inf", {"at": (1, -1)}, [1.0, 2.0, 3.0, 4.0, 5.0, math.inf]),
    ],
)
def test_a_fill_of_two_rows(fill: str, how: dict[str, Any], numbers: list[float]) -> None:
    assert flat(made((2, 3), fill, "float64", **how)) == numbers


def test_random_numbers_begin_where_one_wants_it() -> None:
    assert all(5 <= each.real < 6 for each in flat(made((9, 9), "random", low=5)))
    assert {*flat(made((9, 9), "random", "int8", low=5))} == {*range(5, 15)}


def test_nan_stands_at_its_place_alone() -> None:
    values = flat(made((2, 3), "nan", at=(0, 1)))
    assert [math.isnan(each.real) for each in values] == [False, True] + [False] * 4


def test_each_row_of_onehot_has_one_place() -> None:
    assert made((4, 3), "onehot", "int8").lists() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    ("border", "shape", "first", "last"),
    [
        ("row", (3, 4), {0, 4, 8}, {3, 7, 11}),
        ("block", (2, 2, 2), {0, 1, 4, 5}, {2, 3, 6, 7}),
        ("block", (1, 3, 3), {0, 1, 2, 3}, {5, 6, 7, 8}),
        ("page", (PAGE_BYTES // 4 + 3,), {0, 1024}, {1023, 1026}),
        ("row", (1,), {0}, set()),
    ],
)
def test_guards_stand_at_the_borders(
    border: str, shape: tuple[int, ...], first: set[int], last: set[int]
) -> None:
    values = flat(made(shape, "deadbeef", "uint32", border=border))

    assert {at for at, each in enumerate(values) if each == 0xDEADBEEF} == first
    assert {at for at, each in enumerate(values) if each == 0xBEEFDEAD} == last


@pytest.mark.parametrize("name", [each.name for each in DTYPES.values() if each.width > 1])
def test_a_guard_that_turns_up_as_a_number_or_as_bytes_is_known(name: str) -> None:
    if DTYPES[name].sort == "complex":
        return
    array = made((1, 3), "deadbeef", name)
    before, _, behind = flat(array)
    width = DTYPES[name].width

    assert any("before" in each and name in each for each in guards_like(str(before)))
    assert any("behind" in each and name in each for each in guards_like(str(behind)))
    assert any("before" in each for each in guards_like(array.content[:width].hex()))
    assert any("behind" in each for each in guards_like(array.content[-width:].hex()))


@pytest.mark.parametrize(
    "text", ["deadbeef", "0xDEADBEEF", "de ad be ef", "efbeadde", "0xbeefdead"]
)
def test_a_guard_is_known_in_any_order_of_bytes(text: str) -> None:
    assert list(guards_like(text))


@pytest.mark.parametrize("text", ["0xcafe", "3017", "nan", "0", "-0.0", "inf", "", "face", "1e30"])
def test_other_values_are_no_guards(text: str) -> None:
    assert list(guards_like(text)) == []


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ({"shape": (2,), "fill": "cuont"}, "`count`"),
        ({"shape": (2,), "fill": "deadbeef", "border": "rows"}, "`row`"),
        ({"shape": (-1,), "fill": "count"}, "none below 0"),
        ({"shape": (1,) * 65, "fill": "count"}, "64 lengths"),
        ({"shape": (2, 2), "fill": "nan", "at": (2, 0)}, "below its length"),
        ({"shape": (2, 2), "fill": "nan", "at": (1,)}, "an index for each axis"),
        ({"shape": (2, 2), "fill": "nan", "dtype": "int8"}, "float32"),
        ({"shape": (2, 2), "fill": "random", "low": 5, "high": 2}, "at most"),
        ({"shape": (2, 2), "fill": "normal", "dtype": "int8"}, "float dtype"),
        ({"shape": (200, 2), "fill": "coordinates", "dtype": "int8"}, "int64"),
        ({"shape": (2, 2), "fill": "deadbeef", "dtype": "bool"}, "uint8"),
    ],
)
def test_what_can_not_be_made_is_said_with_the_next_step(how: dict[str, Any], word: str) -> None:
    with pytest.raises(BadUsage) as caught:
        made(**how)

    assert word in caught.value.hint


@pytest.mark.parametrize("shape", [(10**12,), (10**9, 10**9), (2**62, 2**62)])
def test_what_does_not_fit_is_refused_before_anything_is_allocated(shape: tuple[int, ...]) -> None:
    with pytest.raises(NotEnoughMemory, match="of memory are left"):
        made(shape, "count")


def test_a_count_that_is_too_long_for_its_type_starts_again() -> None:
    assert flat(made((300,), "count", "uint8"))[253:258] == [254, 255, 0, 1, 2]


DIGESTS = {
    ("random", "float32"): "4648681239cda623",
    ("random", "int64"): "b1db57e97457cd4b",
    ("normal", "float64"): "99fdb568480f0707",
    ("normal", "bfloat16"): "9819d6b555f9104f",
    ("random", "complex64"): "0d8637dca8ef9dad",
    ("random", "float8_e4m3fn"): "95fe7e3871b6704b",
    ("random", "bool"): "270b2d1064c14eeb",
}


@pytest.mark.parametrize(("fill", "dtype"), DIGESTS)
def test_random_numbers_are_the_same_on_every_machine(fill: str, dtype: str) -> None:
    content = made((1000, 3), fill, dtype, seed=7).content

    assert hashlib.sha256(content).hexdigest()[:16] == DIGESTS[fill, dtype]
    assert content != made((1000, 3), fill, dtype, seed=8).content


def test_normal_numbers_are_normal() -> None:
    drawn = [number for number, _ in zip(normal(3), range(20_000), strict=False)]
    mean = sum(drawn) / len(drawn)
    deviation = math.sqrt(sum((each - mean) ** 2 for each in drawn) / len(drawn))

    assert abs(mean) < 0.03
    assert abs(deviation - 1) < 0.03
    assert abs(sum(abs(each) < 1.96 for each in drawn) / len(drawn) - 0.95) < 0.01


@given(st.integers(), st.floats(-100, 0), st.floats(1, 100))
def test_uniform_numbers_keep_their_bounds(seed: int, low: float, high: float) -> None:
    drawn = [number for number, _ in zip(uniform(seed, low, high), range(20), strict=False)]
    assert all(low <= each <= high for each in drawn)
