"""`whet.make` for torch and jax: each type, and the files that they read."""

import io
import subprocess
import sys
from typing import Any

import pytest

import whet
from whet.core.errors import BadUsage
from whet.make.arrays.array_files import safetensors, torch_zip
from whet.make.arrays.filled import FilledArray, filled_array
from whet.make.edges import LONE_SURROGATE
from whet.make.elements.dtypes import DTYPES
from whet.make.elements.fills import FILLS, Filling
from whet.make.tables.columns import TYPES

pytestmark = pytest.mark.ml

torch = pytest.importorskip("torch")


def made(shape: tuple[int, ...], fill: str, dtype: str) -> FilledArray:
    return filled_array(shape, dtype, Filling(name=fill))


def bits(tensor: Any) -> bytes:
    flat = tensor.contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fill", sorted({*FILLS} - {"coordinates"}))
def test_torch_loads_what_was_made_with_weights_only(dtype: str, fill: str) -> None:
    for shape in ((), (0,), (3,), (2, 0), (2, 3, 4)):
        try:
            array = made(shape, fill, dtype)
        except BadUsage:
            continue

        tensor = torch.load(io.BytesIO(torch_zip({"x": array})), weights_only=True)
        several = torch.load(io.BytesIO(torch_zip({"x": array, "y": array})), weights_only=True)
        made_here = whet.make.tensor(shape, fill, dtype=getattr(torch, dtype))

        for each in (tensor, several["y"], made_here):
            assert (each.shape, each.dtype) == (shape, getattr(torch, dtype))
            assert bits(each) == bytes(array.content)


@pytest.mark.parametrize("dtype", sorted({*DTYPES} - {"complex128"}))
def test_safetensors_gives_torch_what_was_made(dtype: str) -> None:
    library = pytest.importorskip("safetensors.torch")
    array = made((2, 3), "edge", dtype)

    tensor = library.load(safetensors({"x": array}))["x"]

    assert tensor.dtype == getattr(torch, dtype)
    assert bits(tensor) == bytes(array.content)


@pytest.mark.parametrize("dtype", sorted({*DTYPES} - {"float64", "complex128"}))
def test_jax_has_each_type(dtype: str) -> None:
    pytest.importorskip("jax")
    numpy = pytest.importorskip("numpy")
    array = whet.make.tensor((2, 3), "eye", dtype=dtype, library="jax")

    assert type(array).__module__.startswith("jax")
    assert numpy.asarray(array).astype("complex64").tolist() == [[1, 0, 0], [0, 1, 0]]
    assert dtype in {"int64", "uint64"} or array.dtype.name == dtype


def test_a_tensor_can_be_changed_and_needs_no_gradient() -> None:
    tensor = whet.make.tensor((2, 2))
    tensor += 1

    assert tensor.tolist() == [[2, 3], [4, 5]]
    assert not tensor.requires_grad
    assert whet.make.tensor((2, 2)).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("library", ["torch", "jax", "numpy"])
def test_it_is_of_the_library_that_the_program_has_loaded(library: str) -> None:
    pytest.importorskip(library)
    code = f"import {library}, whet; print(type(whet.make.tensor((2, 2))).__module__)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert answer.stdout.split(".")[0].strip() in {library, f"{library}lib"}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("fill", ["count", "random", "edge", "constant"])
@pytest.mark.parametrize("null", ["", "?"])
def test_a_table_has_each_type_of_column(library: str, fill: str, null: str) -> None:
    pytest.importorskip(library)
    for kind in TYPES:
        table = whet.make.table(f"a:{kind}{null},b:{kind}", 40, fill, library=library)
        lists = whet.make.table(f"a:{kind}{null},b:{kind}", 40, fill, library="dict")

        assert type(table).__module__.split(".")[0] == library
        assert len(table) == 40
        expected = ["" if each == LONE_SURROGATE else each for each in lists["b"]]
        column = table["b"].to_pylist() if library == "pyarrow" else table["b"].to_list()
        assert [str(each) for each in column] == [str(each) for each in expected]


def test_a_table_is_of_the_library_that_the_program_has_loaded() -> None:
    for library in ("polars", "pandas"):
        pytest.importorskip(library)
        code = f"import {library}, whet; print(type(whet.make.table()).__module__)"
        answer = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert answer.stdout.startswith(library)
