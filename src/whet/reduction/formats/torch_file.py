"""`.pt` and `.pth`: the zip files of torch, with a pickle that is read but never run.

A checkpoint is a tree of dictionaries, lists, tuples, numbers, texts and tensors. What holds
anything else, a whole module for instance, is not read; it is no payload of this kind.
"""

import io
import math
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whet.reduction.formats.arrays import Codec, Entry, Layout, is_bomb
from whet.reduction.formats.floats import BFLOAT16
from whet.reduction.formats.npy import ZIP_MAGIC
from whet.reduction.formats.safetensors import convert
from whet.reduction.formats.torch_pickle import (
    Name,
    Storage,
    TensorRecord,
    dump_pickle,
    load_pickle,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BFLOAT16 = "BFloat16Storage"
_STORAGES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "|i1",
    "ByteStorage": "|u1",
    "BoolStorage": "|b1",
    "ComplexFloatStorage": "<c8",
    "ComplexDoubleStorage": "<c16",
    _BFLOAT16: BFLOAT16.bits,
}
_DATA = "/data.pkl"
DEEPEST = 100
MOST_VALUES = 1_000_000
"""A pickle can name one list a million times; more values than this are no checkpoint."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What an entry is in the tree, apart from its numbers.

    Attributes:
        value: a container without what it holds, `None`, a name, or the type of a number.
        tensor: of a tensor.
    """

    value: object = None
    tensor: TensorRecord | None = None

    def __str__(self) -> str:
        return getattr(self.value, "name", repr(self.value))


def _read(payload: bytes) -> Sequence[Entry] | None:
    if not payload.startswith(ZIP_MAGIC):
        return None
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        members = archive.infolist()
        data = next((each.filename for each in members if each.filename.endswith(_DATA)), "")
        if not data or is_bomb(payload, sum(each.file_size for each in members)):
            return None
        root = data.removesuffix("data.pkl")
        order = f"{root}byteorder"
        if order in archive.namelist() and archive.read(order) != b"little":
            return None
        storages = _Storages(archive, root)
        found: list[Entry] = []
        for entry in _entries((), load_pickle(archive.read(data)), storages):
            found.append(entry)
            if len(found) > MOST_VALUES:
                return None
        return found


class _Storages:
    """The records of an archive; each is read once."""

    def __init__(self, archive: zipfile.ZipFile, root: str) -> None:
        self._archive, self._root = archive, root
        self._read: dict[str, bytes] = {}

    def tensor(self, record: TensorRecord) -> "tuple[NDArray[Any], Codec | None]":
        """Return its numbers.

        Raises:
            ValueError: if they are of no known type, or do not lie in the storage.
        """
        import numpy as np

        storage = record.storage
        if storage.type_name not in _STORAGES:
            raise ValueError(f"a storage of a type that is not known: {storage.type_name}")
        if storage.key not in self._read:
            self._read[storage.key] = self._archive.read(f"{self._root}data/{storage.key}")
        flat = np.frombuffer(self._read[storage.key], _STORAGES[storage.type_name])
        size = math.prod(record.size)
        last = record.offset + sum(
            (n - 1) * step for n, step in zip(record.size, record.stride, strict=True)
        )
        if size > flat.size or (size and last >= flat.size):
            raise ValueError("a tensor that reaches beyond its storage")
        steps = [step * flat.itemsize for step in record.stride]
        array: NDArray[Any] = np.lib.stride_tricks.as_strided(
            flat[record.offset :], record.size, steps, writeable=False
        )
        return array, BFLOAT16 if storage.type_name == _BFLOAT16 else None


def _entries(path: tuple[str | int, ...], value: object, storages: _Storages) -> Iterator[Entry]:
    import numpy as np

    if len(path) > DEEPEST:
        raise ValueError("a nesting without an end")
    if isinstance(value, TensorRecord):
        array, codec = storages.tensor(value)
        yield Entry(path=path, array=array, codec=codec, note=_Held(tensor=value))
    elif isinstance(value, dict | list | tuple):
        yield Entry(path=path, note=_Held(type(value)()))
        for key, part in _parts(value):
            yield from _entries((*path, key), part, storages)
    elif isinstance(value, bool | int | float | str):
        array = np.array(value)
        if array.dtype.hasobject:
            raise ValueError("a number of more than 64 bits")
        yield Entry(path=path, array=array, note=_Held(type(value)), is_fixed=True)
    elif value is None or isinstance(value, Name):
        yield Entry(path=path, note=_Held(value))
    else:
        raise ValueError(f"{type(value).__name__} is no data")


def _parts(value: "dict[object, object] | list[object] | tuple[object, ...]") -> Iterator[Any]:
    if not isinstance(value, dict):
        yield from enumerate(value)
        return
    for key, part in dict.items(value):
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise ValueError("a key that is neither a text nor a number")
        yield key, part


class _Writer:
    """Makes the tree of entries again, and numbers the records of its tensors."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.records: list[bytes] = []
        self._inner: dict[tuple[str | int, ...], list[Entry]] = {}
        for each in entries[1:]:
            self._inner.setdefault(each.path[:-1], []).append(each)

    def value(self, entry: Entry) -> object:
        """Return what stands at an entry, with all that is in it."""
        held = entry.note
        assert isinstance(held, _Held), "it was read here"
        if held.tensor is not None:
            return self._tensor(entry, held.tensor)
        if entry.array is not None and isinstance(held.value, type):
            return held.value(entry.array.item())
        inner = self._inner.get(entry.path, [])
        if isinstance(held.value, OrderedDict):
            return OrderedDict((each.path[-1], self.value(each)) for each in inner)
        if isinstance(held.value, dict):
            return {each.path[-1]: self.value(each) for each in inner}
        if isinstance(held.value, list | tuple):
            return type(held.value)(self.value(each) for each in inner)
        return held.value

    def _tensor(self, entry: Entry, record: TensorRecord) -> TensorRecord:
        array = entry.array
        assert array is not None, "a tensor has numbers"
        type_name = next(
            name
            for name, text in _STORAGES.items()
            if array.dtype.str == text and (name == _BFLOAT16) == (entry.codec is not None)
        )
        storage = Storage(type_name, str(len(self.records)), record.storage.location, array.size)
        self.records.append(array.tobytes())
        stride = tuple(math.prod(array.shape[axis + 1 :]) for axis in range(array.ndim))
        return replace(record, storage=storage, offset=0, size=array.shape, stride=stride)


def _write(entries: Sequence[Entry]) -> bytes:
    if not entries or entries[0].path:
        return b""  # the root is gone
    writer = _Writer(entries)
    data = dump_pickle(writer.value(entries[0]))
    members = {"data.pkl": data, "byteorder": b"little"}
    members |= {f"data/{number}": record for number, record in enumerate(writer.records)}
    members["version"] = b"3\n"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(f"archive/{name}"), content)
    return stream.getvalue()


TORCH = Layout(
    name="torch",
    read=_read,
    write=_write,
    types=("float32", "int64", "bool"),
    convert=convert,
)
