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
    as_parts,
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
_CONTAINERS = ("dict", "OrderedDict", "list", "tuple")
_DATA = "/data.pkl"
DEEPEST = 100
MOST_VALUES = 1_000_000
"""A pickle can name one list a million times; more values than this are no checkpoint."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What an entry is in the tree, apart from its numbers.

    Attributes:
        kind: a container (``dict``, ``OrderedDict``, ``list``, ``tuple``), the type of a plain
            value, ``tensor`` or ``constant``.
        constant: `None` or a name.
        tensor: of a tensor.
    """

    kind: str
    constant: Name | None = None
    tensor: TensorRecord | None = None

    def __str__(self) -> str:
        if self.kind != "constant":
            return self.kind
        return "None" if self.constant is None else f"{self.constant.module}.{self.constant.name}"


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
        yield Entry(path=path, array=array, codec=codec, note=_Held("tensor", tensor=value))
    elif type(value).__name__ in _CONTAINERS:
        yield Entry(path=path, note=_Held(type(value).__name__))
        for key, part in _parts(value):
            yield from _entries((*path, key), part, storages)
    elif isinstance(value, bool | int | float | str):
        array = np.array(value)
        if array.dtype.hasobject:
            raise ValueError("a number of more than 64 bits")
        yield Entry(path=path, array=array, note=_Held(type(value).__name__), is_fixed=True)
    elif value is None or isinstance(value, Name):
        yield Entry(path=path, note=_Held("constant", value))
    else:
        raise ValueError(f"{type(value).__name__} is no data")


def _parts(value: object) -> Iterator[tuple[str | int, object]]:
    parts = as_parts(value)
    if not issubclass(type(value), dict):
        yield from enumerate(parts)
        return
    for key, part in zip(parts[::2], parts[1::2], strict=True):
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise TypeError("a key that is neither a text nor a number")
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
        if entry.array is not None:
            return entry.array.item()
        inner = self._inner.get(entry.path, [])
        pairs = [(each.path[-1], self.value(each)) for each in inner]
        match held.kind:
            case "OrderedDict":
                return OrderedDict(pairs)
            case "dict":
                return dict(pairs)
            case "list":
                return [value for _, value in pairs]
            case "tuple":
                return tuple(value for _, value in pairs)
            case _:
                return held.constant

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
