"""What whet writes, the library of the format reads: each type, each fill."""

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import BadUsage
from whet.make.arrays.array_files import ARRAY_FILES, npy, npz, safetensors, torch_zip
from whet.make.arrays.filled import FilledArray, filled_array
from whet.make.elements.dtypes import DTYPES
from whet.make.elements.fills import FILLS, Filling
from whet.reduction.formats.arrays.safetensors import SAFETENSORS
from whet.reduction.formats.arrays.torch_file import TORCH

numpy = pytest.importorskip("numpy")

shapes = st.lists(st.integers(0, 5), max_size=4).map(tuple)
PLAIN = [each.name for each in DTYPES.values() if each.code]


def made(shape: tuple[int, ...], fill: str, dtype: str) -> FilledArray | None:
    try:
        return filled_array(shape, dtype, Filling(name=fill))
    except BadUsage:
        return None


def same(array: Any, made: FilledArray) -> bool:
    return bool(
        array.shape == made.shape
        and array.dtype == made.dtype.name
        and array.tobytes() == bytes(made.content)
    )


@given(shapes, st.sampled_from(sorted(FILLS)), st.sampled_from(PLAIN))
def test_numpy_reads_npy_and_npz(shape: tuple[int, ...], fill: str, dtype: str) -> None:
    array = made(shape, fill, dtype)
    if array is None:
        return

    assert same(numpy.load(io.BytesIO(npy({"x": array})), allow_pickle=False), array)
    held = numpy.load(io.BytesIO(npz({"x": array, "y": array})), allow_pickle=False)
    assert sorted(held) == ["x", "y"]
    assert same(held["x"], array)
    assert same(held["y"], array)


@given(shapes, st.sampled_from(sorted(FILLS)), st.sampled_from(PLAIN))
def test_safetensors_reads_its_files(shape: tuple[int, ...], fill: str, dtype: str) -> None:
    library = pytest.importorskip("safetensors.numpy")
    array = made(shape, fill, dtype)
    if array is None or dtype == "complex128":
        return

    held = library.load(safetensors({"x": array}))

    assert same(held["x"], array)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_whet_shrinks_the_small_floats_that_it_makes(dtype: str) -> None:
    array = made((2, 2), "count", dtype)
    assert array is not None

    view = SAFETENSORS.parse(safetensors({"x": array}))
    assert view is not None
    assert view.entries[0].values().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "bfloat16", "complex64"])
def test_whet_shrinks_the_torch_files_that_it_makes(dtype: str) -> None:
    array = made((2, 3), "eye", dtype)
    assert array is not None

    view = TORCH.parse(torch_zip({"x": array}))
    assert view is not None
    assert view.entries[0].values().tolist() == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("write", "dtype", "other"),
    [(npy, "bfloat16", ".safetensors"), (npz, "float8_e5m2", ".pt"),
     (safetensors, "complex128", ".npy")],
)  # fmt: skip
def test_a_file_without_a_place_for_a_type_names_those_that_have_one(
    write: Callable[[Mapping[str, FilledArray]], bytes], dtype: str, other: str
) -> None:
    array = made((2,), "count", dtype)
    assert array is not None

    with pytest.raises(BadUsage, match=f"no place for {dtype}") as caught:
        write({"x": array})

    assert other in caught.value.hint


@pytest.mark.parametrize("ending", [".npz", ".pt"])
def test_nothing_in_a_zip_is_of_today_or_of_this_machine(ending: str) -> None:
    array = made((2, 2), "count", "float32")
    assert array is not None

    with zipfile.ZipFile(io.BytesIO(ARRAY_FILES[ending]({"x": array}))) as archive:
        facts = {(each.date_time, each.create_system) for each in archive.infolist()}
    assert facts == {((1980, 1, 1, 0, 0, 0), 3)}
