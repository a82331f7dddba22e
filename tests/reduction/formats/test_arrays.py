"""Arrays are shrunk to what can be computed in the head, in few calls; real files all of them."""

import io
import itertools
import pickle
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from odd_oracles import Judge, Shrinking, fails_if, odd_judges, shrunk, shrunk_ahead

from whet.core.verdict import Verdict
from whet.reduction.formats.arrays.floats import BFLOAT16, FLOAT8_E4M3, FLOAT8_E5M2
from whet.reduction.formats.arrays.hdf5 import HDF5
from whet.reduction.formats.arrays.npy import NPY, NPZ
from whet.reduction.formats.arrays.safetensors import SAFETENSORS
from whet.reduction.formats.arrays.torch_file import TORCH
from whet.reduction.payload_kinds import KINDS, kinds_of, readable
from whet.testing.reduction import check_format, check_pass

Array = NDArray[Any]
CHECKPOINT = (Path(__file__).parents[1] / "checkpoint.pt").read_bytes()
"""Written by torch 2.13: tests/ml writes others."""


def npy(array: Array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def array_of(payload: bytes) -> Array:
    found: Array = np.load(io.BytesIO(payload))
    return found


def npz(**named: Array) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **named)
    return file.getvalue()


def hdf5(fill: Callable[[Any], object]) -> bytes:
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        fill(opened)
    return file.getvalue()


def fill_images(file: Any) -> None:
    images = file.create_dataset("train/images/x", data=noise(60, 9, 9), compression="gzip")
    images.attrs["scale"] = 0.5
    images.attrs["unit"] = "mm"
    images[17, 3, 4] = np.inf
    file["train/labels"] = np.arange(60, dtype="i4")
    file["names"] = ["ann", "bob", "zoë"]
    file.attrs["version"] = 3
    file["link"] = h5py.SoftLink("/names")


def fill_small(file: Any) -> None:
    file["a/b"] = np.arange(3)
    file["a"].attrs["note"] = "text"
    file["c"] = 1.5


def few_tensors() -> bytes:
    view = TORCH.parse(CHECKPOINT)
    assert view is not None
    return view.written(
        each for each in view.entries if each.path[:1] in {(), ("half",), ("lr",), ("epoch",)}
    )


def noise(*shape: int, dtype: str = "f8") -> Array:
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


def after(payload: bytes, judge: Judge, most_calls: int) -> Shrinking:
    assert judge(payload) is Verdict.BAD
    done = shrunk(payload, judge)
    assert done.calls <= most_calls, "ask for the reason before raising this"
    return done


def left_of(payload: bytes, holds: Callable[[Array], object], most_calls: int) -> str | None:
    judge = fails_if(lambda it: bool(holds(array_of(it))))
    return readable(after(payload, judge, most_calls).reduction.payload)


def test_one_nan_in_a_million_numbers_is_one_number() -> None:
    array = noise(1000, 1000)
    array[417, 23] = np.nan

    assert left_of(npy(array), lambda it: np.isnan(it).any(), 50) == "float64 ()\nnan"


def test_a_shape_that_matters_is_all_that_is_left() -> None:
    payload = npy(noise(1000, 1000))

    assert left_of(payload, lambda it: it.shape[1] > 3, 20) == "float64 (0, 4)\n[]"
    assert left_of(payload, lambda it: it.ndim == 2 and min(it.shape) > 1, 40) == (
        "float64 (2, 2)\n[[0, 0], [0, 0]]"
    )


def test_two_rows_that_are_equal_are_found_in_hundreds() -> None:
    array = noise(300, 40, dtype="f4")
    array[17] = array[205]

    def has_twins(it: Array) -> bool:
        return it.ndim == 2 and it.shape[1] > 0 and len(np.unique(it, axis=0)) < len(it)

    assert left_of(npy(array), has_twins, 70) == "float64 (2, 1)\n[[0], [0]]"


def test_what_follows_an_array_is_kept_where_it_matters() -> None:
    array, rest = noise(300, 40), bytes(range(200)) * 5

    def holds(it: bytes) -> bool:
        return array_of(it).ndim > 0 and it.endswith(b"\xc7")

    done = after(npy(array) + rest, fails_if(holds), 60)
    assert readable(done.reduction.payload) == "float64 (0,)\n[]\nthe rest: b'\\xc7'"


def test_axes_inside_a_type_are_shortened_too() -> None:
    kind = np.dtype([("id", "i4"), ("x", "f8", (30, 40)), ("tag", "S4", (5,))])
    array = np.zeros(6, kind)
    array["x"] = noise(6, 30, 40)
    array["x"][3, 17, 4] = np.nan

    left = left_of(npy(array), lambda it: it.shape and np.isnan(it["x"]).any(), 80)
    assert left == "void64 (1,)\n[(nan,)]"


def test_many_values_stand_in_lines_that_can_be_read() -> None:
    shown = str(readable(npy(np.arange(1000.0))))

    assert max(map(len, shown.splitlines())) <= 80
    assert shown.splitlines()[1].startswith("[0, 1, 2, 3,")
    assert (
        "".join(shown.splitlines()[1:]).replace(" ", "") == f"[{','.join(map(str, range(1000)))}]"
    )


def test_a_square_matrix_stays_square() -> None:
    array = noise(50, 50)
    array = array @ array.T
    array[3, 3] = -5

    def is_not_positive(it: Array) -> bool:
        return it.shape[0] == it.shape[1] and bool(np.linalg.eigvalsh(it).min() <= 0)

    def holds(it: Array) -> bool:
        return it.ndim == 2 and it.size > 0 and is_not_positive(it)

    assert left_of(npy(array), holds, 45) == "float64 (1, 1)\n[[0]]"


@pytest.mark.parametrize(
    ("array", "holds", "expected"),
    [
        (noise(40), lambda it: len(set(it.tolist())) > 3, "float64 (4,)\n[0, 1, 2, 3]"),
        (noise(40), lambda it: (it.max() - it.min()) > 2.5, "float64 (2,)\n[3, 0]"),
        (np.array([[734.5]]), lambda it: it.max() > 256, "float64 ()\n257"),
        (np.array([-734.5]), lambda it: it.min() < -256, "float64 ()\n-257"),
        (np.array([1.7e300]), lambda it: it.max() > 1e200, "float64 ()\n1e+201"),
        (np.array([np.inf]), lambda it: it.max() > 1e20, "float64 ()\n1e+21"),
        (np.array([np.inf]), lambda it: np.isinf(it).any(), "float64 ()\ninf"),
        (np.array([0.12345]), lambda it: 0 < it.max() < 1, "float64 ()\n0.1"),
        (np.arange(9, dtype=">i2"), lambda it: 7 in it, "int64 ()\n7"),
        (noise(5, dtype="f2"), lambda it: it.dtype == np.float16, "float16 (0,)\n[]"),
        (noise(3, 1, 4), lambda it: it.ndim == 3, "float64 (0, 0, 0)\n[]"),
        (np.array([True, False] * 9), lambda it: it.sum() >= 2, "bool (2,)\n[True, True]"),
        (np.array(["ab", "xy"]), lambda it: "xy" in it, "str64 ()\n'xy'"),
        (
            noise(4).astype(complex),
            lambda it: it.dtype.kind == "c" and it.size,
            "complex128 ()\n0j",
        ),
        (
            np.array([(1, 2.5, 3)], dtype=[("a", "i4"), ("b", "f4"), ("c", "i8")]),
            lambda it: "b" in it.dtype.names,
            "void32 (0,)\n[]",
        ),
    ],
)
def test_named_cases(array: Array, holds: Callable[[Array], object], expected: str) -> None:
    assert left_of(npy(array), holds, 90) == expected


@pytest.mark.parametrize("type_", ["<U900", ">U900", "S900"])
def test_texts_take_the_room_of_the_longest_that_is_left(type_: str) -> None:
    texts = np.array(["ann", "BOOM", "x" * 900, "bob"], type_)
    boom = np.array("BOOM", type_)

    done = after(npy(texts), fails_if(lambda it: bool((array_of(it) == boom).any())), 40)

    assert array_of(done.reduction.payload).dtype == np.dtype(type_.replace("900", "4"))


def test_arrays_that_were_saved_one_behind_another_are_arrays_each() -> None:
    second = noise(60, 70)
    second[17, 3] = np.inf

    def is_infinite(payload: bytes) -> bool:
        file = io.BytesIO(payload)
        np.load(file)
        return file.tell() < len(payload) and bool(np.isinf(np.load(file)).any())

    payload = npy(noise(100, 100)) + npy(second) + npy(noise(5))
    done = after(payload, fails_if(is_infinite), 60)

    assert readable(done.reduction.payload) == "0: float64 (0,) []\n1: float64 () inf"


def test_of_many_arrays_those_that_matter_are_left_and_fit_each_other() -> None:
    labels = np.random.default_rng(1).integers(0, 5, 500)
    labels[321] = -3
    payload = npz(x=noise(500, 7), y=labels, w=noise(9))

    def holds(it: bytes) -> bool:
        found = np.load(io.BytesIO(it))
        return len(found["x"]) == len(found["y"]) and bool((found["y"] < 0).any())

    done = after(payload, fails_if(holds), 80)

    assert readable(done.reduction.payload) == "x: float64 (1, 0) []\ny: int64 (1,) [-1]"


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "bool"])
def test_a_tensor_file_is_shrunk_to_the_tensor_that_matters(dtype: str) -> None:
    named = {f"layer.{n}": noise(16, 16, dtype="f4") for n in range(30)}
    named["layer.17"] = np.ones((16, 16), dtype)
    payload = safetensors.numpy.save(named, metadata={"format": "pt"})

    def holds(it: bytes) -> bool:
        return bool((safetensors.numpy.load(it)["layer.17"] == 1).any())

    done = after(payload, fails_if(holds), 70)

    type_left = dtype if dtype == "bool" else "int64" if dtype == "int8" else "float32"
    value = True if dtype == "bool" else 1
    assert readable(done.reduction.payload) == f"layer.17: {type_left} () {value}"


def test_bfloat16_is_read_by_its_bits() -> None:
    bits = BFLOAT16.encode(np.array([[1.5, -2.0, np.nan], [3.0, 1e30, 0.1]], np.float32))
    spec = safetensors.TensorSpec(
        dtype="bfloat16", shape=[2, 3], data_ptr=bits.ctypes.data, data_len=bits.nbytes
    )
    payload = safetensors.serialize({"w": spec}, None)

    def holds(it: bytes) -> bool:
        read: Any = safetensors.deserialize
        (_, tensor), *rest = read(it)
        numbers = BFLOAT16.decode(np.frombuffer(tensor["data"], "<u2"))
        return not rest and tensor["dtype"] == "BF16" and bool(np.isnan(numbers).any())

    done = after(payload, fails_if(holds), 30)

    assert readable(done.reduction.payload) == "w: BF16 () nan"


@pytest.mark.parametrize("codec", [FLOAT8_E4M3, FLOAT8_E5M2], ids=lambda codec: codec.name)
def test_eight_bits_make_a_number_and_a_number_its_bits(codec: Any) -> None:
    bits = np.arange(256, dtype=np.uint8)
    numbers = codec.decode(bits)

    again = codec.decode(codec.encode(numbers))

    np.testing.assert_array_equal(numbers, again)
    largest = 448 if codec is FLOAT8_E4M3 else 57344
    assert np.nanmax(numbers[np.isfinite(numbers)]) == largest
    assert codec.encode(np.array([1, 0, -2], np.float32)).tolist() == (
        [0x38, 0, 0xC0] if codec is FLOAT8_E4M3 else [0x3C, 0, 0xC0]
    )


def test_hdf5_leaves_the_groups_on_the_way_to_what_matters() -> None:
    def holds(it: bytes) -> bool:
        with h5py.File(io.BytesIO(it)) as file:
            return bool(np.isinf(file["train/images/x"][()]).any())

    done = after(hdf5(fill_images), fails_if(holds), 60)

    assert readable(done.reduction.payload) == (
        "train: group\ntrain/images: group\ntrain/images/x: float64 () inf"
    )


def test_texts_and_attributes_of_hdf5_are_values_too() -> None:
    def holds(it: bytes) -> bool:
        with h5py.File(io.BytesIO(it)) as file:
            is_strange = any(not name.isascii() for name in file["names"].asstr()[()])
            return is_strange and file["train/images/x"].attrs["scale"] != 1

    done = after(hdf5(fill_images), fails_if(holds), 70)

    assert readable(done.reduction.payload) == (
        "names: str32 () 'ë'\ntrain: group\ntrain/images: group\n"
        "train/images/x: float64 (0,) []\ntrain/images/x/@scale: float64 () 0"
    )


def fill_linked(file: Any) -> None:
    file.create_dataset("packed", data=np.arange(900.0), compression="gzip", shuffle=True)
    file.create_dataset("resizable", data=np.arange(40), chunks=(8,))
    file["plain"] = np.arange(3)
    file["to/inner"] = h5py.SoftLink("/packed")
    file["to/nothing"] = h5py.SoftLink("/nowhere")
    file["to/another"] = h5py.ExternalLink("/etc/passwd", "/x")


@pytest.mark.parametrize(
    ("holds", "left"),
    [
        (lambda file: file["to/inner"].shape[0] > 2, "packed: float64 (3,) [0, 0, 0]\nto: group\nto/inner: link -> /packed"),
        (lambda file: isinstance(file["to"].get("another", getlink=True), h5py.ExternalLink),
         "to: group\nto/another: link -> /etc/passwd:/x"),
        (lambda file: file["packed"].compression == "gzip", "packed: float64 (1,) [0]"),
    ],
)  # fmt: skip
def test_links_stay_links_and_packing_stays_where_it_matters(
    holds: Callable[[Any], object], left: str
) -> None:
    def is_bad(it: bytes) -> bool:
        with h5py.File(io.BytesIO(it)) as file:
            return bool(holds(file))

    assert readable(after(hdf5(fill_linked), fails_if(is_bad), 60).reduction.payload) == left


def fill_odd(file: Any, many: int = 30) -> None:
    file["data/x"] = noise(many, 3)
    file["data/y"] = np.arange(many)
    file["empty"] = h5py.Empty("f4")
    file["nothing"] = h5py.Empty("i8")
    file["leads"] = [file["data/x"].ref, file.ref, h5py.Reference()]
    ragged = file.create_dataset("ragged", many, h5py.vlen_dtype("f8"))
    for at in range(many):
        ragged[at] = noise(at)
    ragged.attrs["unit"] = h5py.Empty("S1")
    pairs = np.dtype([("name", h5py.string_dtype()), ("to", h5py.ref_dtype), ("n", "i4")])
    file.create_dataset("pairs", data=np.array([(f"é{n}", file["data"].ref, n) for n in range(many)], pairs))  # fmt: skip
    dimensions = np.empty(2, object)
    dimensions[:] = [np.array([file["data/y"].ref], h5py.ref_dtype)] * 2
    file["data/x"].attrs.create("DIMENSION_LIST", dimensions, dtype=h5py.vlen_dtype(h5py.ref_dtype))


ODD = {
    "an empty dataset": (
        lambda file: isinstance(file["empty"][()], h5py.Empty),
        "empty: empty dataset",
    ),
    "an empty attribute": (
        lambda file: isinstance(file["ragged"].attrs["unit"], h5py.Empty),
        "ragged: ragged dataset\nragged/@unit: empty attribute",
    ),
    "a reference": (
        lambda file: file[file["leads"][0]].shape[0] > 2,
        "data: group\ndata/x: float64 (3, 0) []\nleads: str224 (1,) ['/data/x']",
    ),
    "a row of a length": (
        lambda file: any(len(row) == 7 for row in file["ragged"]),
        "ragged: ragged dataset\nragged/0: float64 (7,) [0, 0, 0, 0, 0, 0, 0]",
    ),
    "a field beside others": (
        lambda file: any(row["name"] == "é7".encode() and row["n"] > 1 for row in file["pairs"]),
        "pairs: void96 (1,) [('é7', 7)]",
    ),
    "a reference in a list in an attribute": (
        lambda file: file[file["data/x"].attrs["DIMENSION_LIST"][1][0]].ndim == 1,
        (
            "data: group\ndata/x: float64 (0,) []\ndata/x/@DIMENSION_LIST: ragged attribute\n"
            "data/x/@DIMENSION_LIST/0: str32 (0,) []\n"
            "data/x/@DIMENSION_LIST/1: str224 (1,) ['/data/y']\ndata/y: int64 (0,) []"
        ),
    ),
}


@pytest.mark.parametrize(("holds", "left"), ODD.values(), ids=ODD)
def test_what_numpy_has_no_type_for_is_kept_where_it_matters(
    holds: Callable[[Any], object], left: str
) -> None:
    def is_bad(it: bytes) -> bool:
        with h5py.File(io.BytesIO(it)) as file:
            return bool(holds(file))

    assert readable(after(hdf5(fill_odd), fails_if(is_bad), 80).reduction.payload) == left


def test_what_does_not_matter_of_packing_goes_at_once() -> None:
    def is_bad(it: bytes) -> bool:
        with h5py.File(io.BytesIO(it)) as file:
            return bool(file["packed"].size > 1)

    left = after(hdf5(fill_linked), fails_if(is_bad), 40).reduction.payload
    with h5py.File(io.BytesIO(left)) as file:
        assert (file["packed"].compression, file["packed"].chunks) == (None, None)
        assert list(file) == ["packed"]


def test_a_checkpoint_is_a_tree_that_is_written_as_it_was_read() -> None:
    view = TORCH.parse(CHECKPOINT)
    assert view is not None
    again = view.after(view.written(view.entries))

    shown = str(readable(CHECKPOINT))
    assert readable(again.payload) == shown
    for line in ("epoch: 37", "model: OrderedDict", "lr/0: 0.1", "name: 'run 7'", "none: None"):
        assert line in shown.splitlines()
    assert "turned: float32 (3, 2) [[0, 3], [1, 4], [2, 5]]" in shown.splitlines()
    assert "half: BF16 (2, 3) [[0, 1, 2], [3, 4, 5]]" in shown.splitlines()
    assert "type: torch.float16" in shown.splitlines()


def test_a_checkpoint_is_shrunk_without_torch() -> None:
    def holds(it: bytes) -> bool:
        view = TORCH.parse(it)
        assert view is not None
        found = {each.path: each for each in view.entries}
        return bool(np.isnan(found["model", "2.weight"].values()).any())

    done = after(CHECKPOINT, fails_if(holds), 40)

    assert readable(done.reduction.payload) == "model: OrderedDict\nmodel/2.weight: float32 () nan"


class Evil:
    """Writes a file when it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.place,)


def check_that_nothing_runs(payload: bytes, place: Path) -> None:
    names = {each.name for each in kinds_of(payload)}
    assert not names & {"torch", "npz", "npy"}, "what may hold code is no array"
    shrunk(payload[:300], fails_if(lambda it: len(it) > 290))
    assert not place.exists()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_runs_something_is_not_run(tmp_path: Path, protocol: int) -> None:
    place = tmp_path / "it ran"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", pickle.dumps({"w": Evil(place)}, protocol=protocol))
        archive.writestr("a/version", "3\n")

    check_that_nothing_runs(file.getvalue(), place)

    pickle.loads(pickle.dumps(Evil(place), protocol=protocol))
    assert place.exists(), "the payload would have run"


def test_an_array_of_objects_that_run_something_is_not_run(tmp_path: Path) -> None:
    place = tmp_path / "it ran"
    objects = io.BytesIO()
    np.save(objects, np.array([Evil(place)], dtype=object), allow_pickle=True)
    mixed = io.BytesIO()
    with zipfile.ZipFile(mixed, "w") as archive:
        archive.writestr("a.npy", objects.getvalue())

    for payload in (objects.getvalue(), mixed.getvalue()):
        check_that_nothing_runs(payload, place)

    np.load(io.BytesIO(objects.getvalue()), allow_pickle=True)
    assert place.exists(), "the payload would have run"


@pytest.mark.parametrize(
    "data",
    [
        b"cos\nsystem\n(S'true'\ntR.",
        b"\x80\x02r\xff\xff\xff\x7fN.",  # a memo of sixteen gigabytes
        b"\x80\x02]q\x00h\x00a.",  # a list that holds itself
        b"\x80\x02" + b"]" * 200 + b"a" * 199 + b".",
        b"\x80\x02ctorch\nload\n(X\x01\x00\x00\x00xtR.",
        b"\x80\x02X\x01\x00",
        b"",
    ],
)
def test_a_pickle_that_is_no_data_is_no_checkpoint(data: bytes) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", data)

    assert TORCH.parse(file.getvalue()) is None


@pytest.mark.slow
def test_what_is_broken_or_too_large_is_no_array() -> None:
    whole = npy(noise(4, 4))
    header = b'{"w":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}'
    broken = [
        whole[:-1],
        whole[:20],
        whole.replace(b"(4, 4)", b"(4,-4)"),
        len(header).to_bytes(8, "little") + header + bytes(35),
        (10**9).to_bytes(8, "little") + header,
        npz(a=noise(3))[:-30],
        hdf5(lambda file: file.create_dataset("a", data=noise(9)))[:600],
        hdf5(lambda file: file.create_dataset("a", (10**12,), "f8", chunks=(1000,))),
        npz(a=np.zeros(2**25)),  # a quarter of a gigabyte in a quarter of a megabyte
    ]

    assert [kinds_of(payload)[0].name in EXAMPLES for payload in broken] == [False] * len(broken)


def test_what_hdf5_cannot_hold_is_no_candidate() -> None:
    payload = hdf5(fill_small)
    view = HDF5.parse(payload)
    assert view is not None

    written = view.written(
        entry.with_array(np.zeros(10**5)) if "@note" in entry.path else entry
        for entry in view.entries
    )  # an attribute of 64 KiB at most

    assert written == b""
    assert KINDS["hdf5"].order.is_better(payload, written)


EXAMPLES = {
    "npy": [
        npy(noise(3, 4)),
        npy(np.asfortranarray(noise(2, 3))),
        npy(np.array(["a", "bc"])),
        npy(np.array([1.5, -np.inf, np.nan])),
        npy(np.array(7, "datetime64[s]")),
        npy(np.zeros((0, 3), ">u2")),
    ],
    "npz": [npz(a=noise(2, 3), b=np.arange(3)), npz(x=np.array(3))],
    "safetensors": [safetensors.numpy.save({"a": noise(2, 3), "b": np.arange(3)}, {"k": "v"})],
    "hdf5": [hdf5(fill_small)],
    "torch": [few_tensors()],
}


@pytest.mark.parametrize("layout", [NPY, NPZ, SAFETENSORS, HDF5, TORCH], ids=lambda it: it.name)
def test_formats_keep_their_promises(layout: Any) -> None:
    check_format(layout.format(), [b"", b"text", CHECKPOINT, *itertools.chain(*EXAMPLES.values())])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "payloads"),
    [
        *(
            pytest.param(name, payloads, marks=pytest.mark.long if name == "torch" else ())
            for name, payloads in EXAMPLES.items()
        ),
        pytest.param(
            "hdf5", [hdf5(lambda file: fill_odd(file, 1))], marks=pytest.mark.long, id="odd hdf5"
        ),
    ],
)
def test_passes_keep_their_promises(name: str, payloads: list[bytes]) -> None:
    kind = KINDS[name]
    for each in kind.passes:
        check_pass(
            each,
            payloads,
            is_valid=lambda payload: not payload or kind.claims(payload, ""),
            order=kind.order,
        )


small_arrays = arrays.arrays(
    st.sampled_from(["f8", "i4", "?"]), arrays.array_shapes(min_dims=0, max_dims=2, max_side=3)
)


@pytest.mark.slow
@given(small_arrays, odd_judges())
def test_no_index_of_an_axis_can_go_alone(array: Array, judge: Judge) -> None:
    order = KINDS["npy"].order
    smallest = shrunk(npy(array), judge).reduction.payload

    left = array_of(smallest)
    for axis in range(left.ndim):
        for index in range(left.shape[axis]):
            rest = npy(np.delete(left, index, axis))
            assert not order.is_better(rest, smallest) or judge(rest) is not Verdict.BAD
    for place in np.ndindex(left.shape):
        plain = left.copy()
        plain[place] = 0
        rest = npy(plain)
        assert not order.is_better(rest, smallest) or judge(rest) is not Verdict.BAD


@pytest.mark.slow
@given(small_arrays, odd_judges(), st.integers(2, 9))
def test_the_number_of_jobs_changes_nothing(array: Array, judge: Judge, jobs: int) -> None:
    payload = npy(array)

    assert shrunk_ahead(payload, judge, jobs) == shrunk(payload, judge).reduction


@pytest.mark.slow
@given(small_arrays, odd_judges())
def test_only_progress_is_proposed_and_a_second_shrink_changes_nothing(
    array: Array, judge: Judge
) -> None:
    order, best = KINDS["npy"].order, npy(array)

    done = shrunk(best, judge)

    for candidate, verdict in done.told:
        assert order.is_better(candidate.data, best)
        best = candidate.data if verdict is Verdict.BAD else best
    again = shrunk(done.reduction.payload, judge)
    assert again.reduction.payload == done.reduction.payload


@pytest.mark.slow
def test_a_large_array_takes_less_than_twenty_times_its_size() -> None:
    payload = npy(np.ones((200, 5000)))

    def needs_all_rows(it: bytes) -> bool:
        return len(array_of(it)) == 200

    tracemalloc.start()
    try:
        done = shrunk(payload, fails_if(needs_all_rows))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert readable(done.reduction.payload) == "float64 (200, 0)\n[]"
    assert peak < 20 * len(payload)


@pytest.mark.slow
def test_where_all_shapes_must_stay_zeros_come_first() -> None:
    shapes = {f"layer.{n}": (16, 12 + n % 3) for n in range(30)}
    named = {name: noise(*shape, dtype="f4") for name, shape in shapes.items()}
    named["layer.7"][3, 4] = np.nan

    def holds(it: bytes) -> bool:
        found = safetensors.numpy.load(it)
        fits = {name: tensor.shape for name, tensor in found.items()} == shapes
        return fits and bool(np.isnan(found["layer.7"]).any())

    done = shrunk(safetensors.numpy.save(named), fails_if(holds))

    assert str(readable(done.reduction.payload)).count("all 0") == 29
    zeros = [each.by_pass for each, verdict in done.told if verdict is Verdict.BAD]
    last = len(zeros) - zeros[::-1].index("put zeros for arrays (safetensors)")
    bad = [at for at, (_, verdict) in enumerate(done.told) if verdict is Verdict.BAD]
    assert bad[last - 1] <= 80
    assert done.calls <= 900
