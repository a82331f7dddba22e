"""`whet.make` in a user's program: what it costs, and what it gives where there is no library."""

import json
import subprocess
import sys

import pytest

import whet
from whet.core.errors import BadUsage

HEAVY = {"numpy", "click", "rich", "asyncio", "subprocess", "sqlite3", "pyarrow", "torch"}


def in_a_fresh_python(code: str) -> object:
    answer = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return json.loads(answer.stdout)


def test_it_loads_nothing_heavy() -> None:
    loaded = in_a_fresh_python(
        "import sys, json, whet; whet.make.array((2, 2), library='list');"
        "print(json.dumps(sorted(sys.modules)))"
    )

    assert isinstance(loaded, list)
    assert HEAVY & {*loaded} == set()


def test_an_array_is_of_the_library_that_is_there() -> None:
    numpy = pytest.importorskip("numpy")

    array = whet.make.array((2, 2))

    assert isinstance(array, numpy.ndarray)
    assert array.tolist() == [[1, 2], [3, 4]]
    assert array.flags.writeable


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 2), (2, 3, 2)])
def test_an_array_has_the_type_and_the_shape_that_one_asks_for(
    shape: tuple[int, ...], dtype: str
) -> None:
    numpy = pytest.importorskip("numpy")

    array = whet.make.array(shape, "edge", dtype=dtype)
    lists = whet.make.array(shape, "edge", dtype=dtype, library="list")

    assert (array.shape, array.dtype.name) == (shape, dtype)
    assert array.dtype.isnative
    numpy.testing.assert_array_equal(array, numpy.array(lists, dtype).reshape(shape))


def test_one_length_is_a_shape() -> None:
    assert whet.make.tensor(3, library="list") == [1, 2, 3]


def test_an_unknown_library_is_answered_with_the_closest() -> None:
    with pytest.raises(BadUsage, match="`nunpy`") as caught:
        whet.make.array((2,), library="nunpy")
    assert "`numpy`" in caught.value.hint
