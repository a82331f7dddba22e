"""`.npy` and `.npz`: arrays of numpy. Nothing in them is ever unpickled."""

import io
import sys
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from whet.reduction.formats.arrays.arrays import Entry, Layout, is_bomb

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = b"\x93NUMPY"
ZIP_MAGIC = b"PK\x03\x04"
_SUFFIX = ".npy"
_REST = "the rest"
"""The name of the bytes that follow the last array; they have no type."""


def read_array(payload: bytes) -> "NDArray[Any] | None":
    """Return the array of a `.npy` file; it shares the memory of the bytes.

    Returns:
        None if it is none, if it holds objects (which only a pickle can say) or too few bytes.
    """
    found = _array_at(payload, 0)
    return None if found is None else found[0]


def _array_at(payload: bytes, start: int) -> "tuple[NDArray[Any], int] | None":
    """Return the array that begins at a place, and where it ends."""
    if not payload.startswith(MAGIC, start):  # before numpy is imported: every payload is asked
        return None
    import numpy as np

    stream = io.BytesIO(payload)
    stream.seek(start)
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, is_fortran, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        return None
    if dtype.hasobject:
        return None
    size = 1
    for length in shape:
        size *= length
    start = stream.tell()
    end = start + size * dtype.itemsize
    if min(shape, default=0) < 0 or dtype.itemsize == 0 or end > len(payload):
        return None
    flat = np.frombuffer(payload, dtype, count=size, offset=start)
    if not _holds_text(flat):
        return None
    return flat.reshape(shape, order="F" if is_fortran else "C"), end


def _holds_text(values: "NDArray[Any]") -> bool:
    """Whether what is to be text is: numpy takes any four bytes for a character, Python doesn't."""
    import numpy as np

    if values.dtype.names:
        return all(_holds_text(values[name]) for name in values.dtype.names)
    if values.dtype.base.kind != "U":
        return True
    number = np.dtype("u4").newbyteorder(values.dtype.base.byteorder)
    codes = np.ascontiguousarray(values).view(number)
    return bool((codes <= sys.maxunicode).all())


def write_array(array: "NDArray[Any]") -> bytes:
    """Return a `.npy` file."""
    import numpy as np

    header = io.BytesIO()
    fields = np.lib.format.header_data_from_array_1_0(array)
    write = np.lib.format.write_array_header_1_0
    if len(str(fields["descr"])) > 2**15:  # more names of fields than its header has room for
        write = np.lib.format.write_array_header_2_0
    write(header, fields)
    raw = array.tobytes("F") if fields["fortran_order"] else array.tobytes()
    return b"".join((header.getvalue(), raw))


def convert(entry: Entry, name: str) -> Entry | None:
    """Return an array of another type; None if that can't hold what it holds."""
    import numpy as np

    if entry.array is None:
        return None
    if name not in {"float64", "int64", "bool"}:
        return None
    if entry.array.dtype.kind not in "biufcmM":
        return None
    values = np.real(entry.array) if entry.array.dtype.kind == "c" else entry.array
    with np.errstate(all="ignore"):
        return entry.with_array(np.ascontiguousarray(values).astype(name).reshape(entry.shape))


def _read_npy(payload: bytes) -> Sequence[Entry] | None:
    """Read the array, or those that several calls of `numpy.save` put one behind another.

    Other bytes may follow: those of a pickle, or of an array that was not written to its end.
    """
    arrays: list[NDArray[Any]] = []
    end = 0
    while (found := _array_at(payload, end)) is not None:
        array, end = found
        arrays.append(array)
    if not arrays:
        return None
    names = [""] if len(arrays) == 1 else map(str, range(len(arrays)))
    entries = [Entry(path=(name,), array=each) for name, each in zip(names, arrays, strict=True)]
    rest = _bytes_from(payload, end)
    return [*entries, Entry(path=(_REST,), array=rest, is_fixed=True)] if rest.size else entries


def _bytes_from(payload: bytes, start: int) -> "NDArray[Any]":
    import numpy as np

    return np.frombuffer(payload, np.uint8, offset=start)


def _write_npy(entries: Sequence[Entry]) -> bytes:
    held = [(each.array, each.is_fixed) for each in entries if each.array is not None]
    return b"".join(array.tobytes() if is_rest else write_array(array) for array, is_rest in held)


def _read_npz(payload: bytes) -> Sequence[Entry] | None:
    if not payload.startswith(ZIP_MAGIC):
        return None
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        members = archive.infolist()
        if not members or not all(each.filename.endswith(_SUFFIX) for each in members):
            return None
        if is_bomb(payload, sum(each.file_size for each in members)):
            return None
        entries: list[Entry] = []
        for each in members:
            array = read_array(archive.read(each))
            if array is None:
                return None
            entries.append(Entry(path=(each.filename.removesuffix(_SUFFIX),), array=array))
    return entries


def _write_npz(entries: Sequence[Entry]) -> bytes:
    if not entries:
        return b""  # an empty archive is no longer one of arrays
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for each in entries:
            if each.array is not None:  # a fixed date, so that the same arrays are the same bytes
                info = zipfile.ZipInfo(f"{each.path[0]}{_SUFFIX}")
                archive.writestr(info, write_array(each.array))
    return stream.getvalue()


_TYPES = ("float64", "int64", "bool")

NPY = Layout(name="npy", read=_read_npy, write=_write_npy, types=_TYPES, convert=convert)
NPZ = Layout(name="npz", read=_read_npz, write=_write_npz, types=_TYPES, convert=convert)
