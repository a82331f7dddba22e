"""`.safetensors`: eight bytes of length, a header in JSON, and the bits of the tensors."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from whet.reduction.formats.arrays.arrays import Entry, Layout
from whet.reduction.formats.arrays.floats import BFLOAT16, FLOAT8_E4M3, FLOAT8_E5M2

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NUMPY_TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
    "C64": "<c8",
}
_CODED = {"BF16": BFLOAT16, "F8_E4M3": FLOAT8_E4M3, "F8_E5M2": FLOAT8_E5M2}
_METADATA = "__metadata__"
_LENGTH_BYTES = 8
MOST_HEADER_BYTES = 100_000_000
"""What the format allows."""


def _read(payload: bytes) -> Sequence[Entry] | None:
    length = int.from_bytes(payload[:_LENGTH_BYTES], "little")
    start = _LENGTH_BYTES + length
    is_one = 0 < length <= MOST_HEADER_BYTES and start <= len(payload)
    if not is_one or payload[_LENGTH_BYTES : _LENGTH_BYTES + 1] != b"{":
        return None
    header: dict[str, Any] = json.loads(payload[_LENGTH_BYTES:start])
    entries: list[Entry] = []
    for name, found in header.items():
        entry = _metadata(found) if name == _METADATA else _tensor(payload, start, name, found)
        if entry is None:
            return None
        entries.append(entry)
    return entries


def _metadata(texts: "dict[str, str]") -> Entry:
    return Entry(path=(_METADATA,), note=json.dumps(texts))


def _tensor(payload: bytes, start: int, name: str, found: "dict[str, Any]") -> Entry | None:
    import numpy as np

    codec = _CODED.get(found["dtype"])
    if codec is None and found["dtype"] not in _NUMPY_TYPES:
        return None
    dtype = np.dtype(_NUMPY_TYPES[found["dtype"]] if codec is None else codec.bits)
    first, last = found["data_offsets"]
    shape = tuple(int(length) for length in found["shape"])
    size = 1
    for length in shape:
        size *= length
    is_whole = first >= 0 and last <= len(payload) - start and last - first == size * dtype.itemsize
    if not is_whole or min(shape, default=0) < 0:
        return None
    array: NDArray[Any] = np.frombuffer(payload, dtype, size, start + first)
    return Entry(path=(name,), array=array.reshape(shape), codec=codec)


def _write(entries: Sequence[Entry]) -> bytes:
    header: dict[str, object] = {}
    pieces: list[bytes] = []
    position = 0
    for each in entries:
        if each.array is None:
            header[_METADATA] = json.loads(str(each.note))
            continue
        name = each.dtype if each.codec is not None else _name_of(each.array)
        pieces.append(each.array.tobytes())
        offsets = [position, position + len(pieces[-1])]
        header[str(each.path[0])] = {
            "dtype": name,
            "shape": list(each.shape),
            "data_offsets": offsets,
        }
        position = offsets[1]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _LENGTH_BYTES)  # so that the tensors are aligned
    return b"".join((len(text).to_bytes(_LENGTH_BYTES, "little"), text, *pieces))


def _name_of(array: "NDArray[Any]") -> str:
    return next(name for name, text in _NUMPY_TYPES.items() if array.dtype.str == text)


def convert(entry: Entry, name: str) -> Entry | None:
    """Return a tensor of another type; None if it can't be."""
    import numpy as np

    values = entry.values()
    if values.dtype.kind == "c":
        values = np.real(values)
    with np.errstate(all="ignore"):
        array = np.ascontiguousarray(values).astype(name).reshape(entry.shape)
        return replace(entry, array=array, codec=None)


SAFETENSORS = Layout(
    name="safetensors",
    read=_read,
    write=_write,
    types=("float32", "int64", "bool"),
    convert=convert,
)
