"""Each type has the bytes that numpy gives it, and its name in any library leads to it."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import BadUsage
from whet.make.elements.dtypes import DTYPES, Dtype, dtype_named
from whet.make.elements.fills import edges_of
from whet.make.elements.minifloats import Minifloat

numpy = pytest.importorskip("numpy")

FLOATS = [each for each in DTYPES.values() if each.sort == "float"]


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_the_edges_of_a_type_outlive_being_stored(dtype: Dtype) -> None:
    edges = edges_of(dtype)

    assert repr(dtype.decoded(dtype.encoded(edges))) == repr(
        [complex(each) for each in edges]
        if dtype.sort == "complex"
        else [bool(each) for each in edges]
        if dtype.sort == "bool"
        else [0.0 if each == 0 and "fnuz" in dtype.name else each for each in edges]
    )


@pytest.mark.parametrize("name", [each.name for each in DTYPES.values() if each.code])
def test_a_type_is_stored_as_numpy_stores_it(name: str) -> None:
    edges = edges_of(DTYPES[name])
    array = numpy.array(edges, name)

    assert bytes(DTYPES[name].encoded(edges)) == array.tobytes()
    info = numpy.iinfo(name) if array.dtype.kind in "iu" else None
    if array.dtype.kind in "fc":
        info = numpy.finfo(name)
        assert DTYPES[name].tiny == info.smallest_subnormal
        assert DTYPES[name].normal == info.smallest_normal
    assert info is None or (info.min, info.max) == (DTYPES[name].low, DTYPES[name].high)


@given(st.floats(width=16))
def test_half_a_float_is_rounded_as_struct_rounds_it(number: float) -> None:
    codec = Minifloat(5, 10)
    (bits,) = struct.unpack("<H", struct.pack("<e", number))

    assert math.isnan(number) or codec.encoded(number) == bits
    assert codec.decoded(bits) == number or math.isnan(number)


@pytest.mark.long
@given(st.floats(min_value=-65519, max_value=65519))
def test_any_number_is_rounded_to_the_nearest_as_struct_rounds_it(number: float) -> None:
    assert Minifloat(5, 10).encoded(number) == struct.unpack("<H", struct.pack("<e", number))[0]


@pytest.mark.parametrize("name", [each.name for each in FLOATS if not each.code])
def test_all_bits_of_a_small_float_outlive_being_read(name: str) -> None:
    dtype = DTYPES[name]
    content = b"".join(bits.to_bytes(dtype.width, "little") for bits in range(256**dtype.width))
    numbers = dtype.decoded(content)

    again = dtype.decoded(dtype.encoded(numbers))

    assert repr(again).replace("-nan", "nan") == repr(numbers).replace("-nan", "nan")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("f4", "float32"), ("<f8", "float64"), ("u1", "uint8"), ("i8", "int64"), ("c8", "complex64"),
        ("torch.bfloat16", "bfloat16"), ("bf16", "bfloat16"), ("F8", "float64"), ("f16", "float16"),
        ("half", "float16"), ("long", "int64"), ("b1", "bool"), (float, "float32"), (bool, "bool"),
        (numpy.int16, "int16"), (numpy.dtype("uint32"), "uint32"), ("float8_e5m2", "float8_e5m2"),
    ],
)  # fmt: skip
def test_a_type_has_the_names_of_all_libraries(name: object, meant: str) -> None:
    assert dtype_named(name).name == meant


@pytest.mark.parametrize(
    ("name", "closest"),
    [("flot32", "`float32`"), ("bfloat", "`bfloat16`"), ("uint128", "`uint16`"), ("q", "int8")],
)
def test_an_unknown_type_is_answered_with_the_closest_names(name: str, closest: str) -> None:
    with pytest.raises(BadUsage, match=f"`{name}` is not a dtype") as caught:
        dtype_named(name)

    assert closest in caught.value.hint


@pytest.mark.parametrize(
    ("name", "number"),
    [("uint8", 256), ("int8", -129), ("float16", 1e6), ("float8_e4m3fn", 1e3), ("float32", 1e39),
     ("float8_e4m3fn", math.inf), ("int32", 0.5), ("int64", math.nan), ("bfloat16", 1j)],
)  # fmt: skip
def test_a_number_without_a_place_in_a_type_is_refused(name: str, number: complex) -> None:
    with pytest.raises(BadUsage, match=f"{name} has no place for"):
        DTYPES[name].encoded([number])
