"""Files of arrays, written with the standard library alone: the same bytes on every machine."""

import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterable, Mapping

from whet.core.errors import BadUsage
from whet.make.arrays.filled import FilledArray

_NPY_ALIGN = 64
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_SORTS = {"bool": "b", "int": "i", "uint": "u", "float": "f", "complex": "c"}

_SAFE_NAMES = {
    "bool": "BOOL", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
    "float8_e4m3fnuz": "F8_E4M3FNUZ", "float8_e5m2fnuz": "F8_E5M2FNUZ", "complex64": "C64",
    **{f"{sort}{bits}": f"{letter}{bits}" for sort, letter in (("int", "I"), ("uint", "U"), ("float", "F"))
       for bits in (8, 16, 32, 64) if (sort, bits) != ("float", 8)},
}  # fmt: skip

_TORCH_STORAGES = {
    "float64": "DoubleStorage", "float32": "FloatStorage", "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage", "int64": "LongStorage", "int32": "IntStorage",
    "int16": "ShortStorage", "int8": "CharStorage", "uint8": "ByteStorage", "bool": "BoolStorage",
    "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage",
}  # fmt: skip
"""The storages that every torch knows; other types are bytes with a type since torch 2.1."""


def npy(arrays: Mapping[str, FilledArray]) -> bytes:
    """Return a `.npy` file of one array."""
    (array,) = arrays.values()
    if not (array.dtype.code):
        raise _no_place(array, ".npy")
    order = "|" if array.dtype.width == 1 else "<"
    shape = f"({', '.join(map(str, array.shape))}{',' if len(array.shape) == 1 else ''})"
    described = f"{order}{_NPY_SORTS[array.dtype.sort]}{array.dtype.width}"
    header = f"{{'descr': '{described}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(_NPY_MAGIC) + 2 + len(header) + 1) % _NPY_ALIGN) + "\n"
    return b"".join((_NPY_MAGIC, struct.pack("<H", len(header)), header.encode(), array.content))


def npz(arrays: Mapping[str, FilledArray]) -> bytes:
    """Return a `.npz` file."""
    return _zipped((f"{name}.npy", npy({name: array})) for name, array in arrays.items())


def safetensors(arrays: Mapping[str, FilledArray]) -> bytes:
    """Return a `.safetensors` file."""
    header: dict[str, object] = {}
    end = 0
    for name, array in arrays.items():
        if array.dtype.name not in _SAFE_NAMES:
            raise _no_place(array, ".safetensors")
        start, end = end, end + len(array.content)
        kind, shape = _SAFE_NAMES[array.dtype.name], list(array.shape)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the tensors are aligned
    contents = (array.content for array in arrays.values())
    return b"".join((len(text).to_bytes(8, "little"), text, *contents))


def torch_zip(arrays: Mapping[str, FilledArray]) -> bytes:
    """Return a `.pt` file that `torch.load(weights_only=True)` reads: a tensor, or a dict of several."""
    tensors = {name: _tensor(array, str(at)) for at, (name, array) in enumerate(arrays.items())}
    if len(tensors) == 1:
        (pickled,) = tensors.values()
    else:
        pickled = b"}(" + b"".join(_text(name) + each for name, each in tensors.items()) + b"u"
    members = {"data.pkl": b"\x80\x02" + pickled + b".", "byteorder": b"little"}
    members |= {f"data/{at}": bytes(each.content) for at, each in enumerate(arrays.values())}
    members["version"] = b"3\n"
    return _zipped((f"archive/{name}", content) for name, content in members.items())


def _tensor(array: FilledArray, key: str) -> bytes:
    """Return the part of a pickle (protocol 2) that makes a tensor, as torch itself writes it."""
    name = array.dtype.name
    plain = _TORCH_STORAGES.get(name)
    size = len(array.content) // array.dtype.width if plain else len(array.content)
    storage = _name("torch", plain) if plain else _name("torch.storage", "UntypedStorage")
    strides = [1]
    for length in reversed(array.shape[1:]):
        strides.insert(0, strides[0] * length)
    parts = (
        _tuple(_text("storage"), storage, _text(key), _text("cpu"), _whole(size)) + b"Q",
        _whole(0),
        _tuple(*map(_whole, array.shape)),
        _tuple(*map(_whole, strides[: len(array.shape)])),
        b"\x89",  # it requires no gradient
        _name("collections", "OrderedDict") + b")R",  # it has no hooks
    )
    typed = () if plain else (_name("torch", name),)
    rebuild = _name("torch._utils", "_rebuild_tensor_v2" if plain else "_rebuild_tensor_v3")
    return rebuild + _tuple(*parts, *typed) + b"R"


def _tuple(*parts: bytes) -> bytes:
    return b"(" + b"".join(parts) + b"t"


def _name(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n".encode()


def _text(text: str) -> bytes:
    encoded = text.encode()
    return b"X" + struct.pack("<I", len(encoded)) + encoded


def _whole(number: int) -> bytes:
    if number < 2**31:
        return b"J" + struct.pack("<i", number)
    return b"\x8a\x08" + struct.pack("<q", number)


def _zipped(members: Iterable[tuple[str, bytes]]) -> bytes:
    """Return a zip file in which nothing is of today or of this machine."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.create_system = 3
            archive.writestr(info, content)
    return stream.getvalue()


def _no_place(array: FilledArray, ending: str) -> BadUsage:
    fitting = [each for each, write in ARRAY_FILES.items() if _fits(array, write)]
    return BadUsage(
        f"a {ending} file has no place for {array.dtype.name}",
        hint=f"choose {' or '.join(fitting)}, or another dtype",
    )


def _fits(array: FilledArray, write: "Callable[[Mapping[str, FilledArray]], bytes]") -> bool:
    if write in {npy, npz}:
        return bool(array.dtype.code)
    return write is torch_zip or array.dtype.name in _SAFE_NAMES


ARRAY_FILES: dict[str, Callable[[Mapping[str, FilledArray]], bytes]] = {
    ".npy": npy,
    ".npz": npz,
    ".pt": torch_zip,
    ".pth": torch_zip,
    ".safetensors": safetensors,
}
"""The files that there are, by their endings."""
