"""What a torch file holds, however it is stored: a tree of plain values and tensors."""

import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from whet.core.value_class import value_class
from whet.reduction.formats.arrays.arrays import Codec, Entry
from whet.reduction.formats.arrays.floats import BFLOAT16
from whet.reduction.formats.arrays.torch_pickle import Name, Storage, TensorRecord, as_parts

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
DEEPEST = 100
MOST_VALUES = 1_000_000
"""A pickle can name one list a million times; a file with more values than this isn't a checkpoint."""

_MOST_LOOKED_INTO = 16
"""A storage can have thousands of tensors; whet compares with at most this many."""


@value_class
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


def entries_of(root: object, record_of: Callable[[Storage], bytes]) -> list[Entry] | None:
    """Return all that is in a tree, each folder before what is in it; None if it is too much.

    Args:
        root: what the pickle holds.
        record_of: returns the bytes of a storage; it is asked once about each.

    Raises:
        ValueError: if it is no data, or its tensors aren't.
    """
    storages = _Storages(record_of)
    found: list[Entry] = []
    for entry in _entries((), root, storages):
        found.append(entry)
        if len(found) > MOST_VALUES:
            return None
    sharing = Counter(each.storage for each in found)
    return [each if sharing[each.storage] > 1 else own_storage(each) or each for each in found]


def own_storage(entry: Entry) -> Entry | None:
    """Return a tensor with a storage of its own; None if it has one."""
    return replace(entry, storage="") if entry.storage else None


def width_of(storage: Storage) -> int:
    """Return how many bytes a number of a storage takes.

    Raises:
        ValueError: if its type isn't known.
    """
    if storage.type_name not in _STORAGES:
        raise ValueError(f"a storage of an unknown type: {storage.type_name}")
    return int(_STORAGES[storage.type_name][2:])


class _Storages:
    """The records of a file; each is read once."""

    def __init__(self, record_of: Callable[[Storage], bytes]) -> None:
        self._record_of = record_of
        self._read: dict[str, bytes] = {}

    def tensor(self, record: TensorRecord) -> "tuple[NDArray[Any], Codec | None]":
        """Return its numbers.

        Raises:
            ValueError: if they are of no known type, or don't lie in the storage.
        """
        import numpy as np

        storage = record.storage
        width_of(storage)
        if storage.key not in self._read:
            self._read[storage.key] = self._record_of(storage)
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
        raise ValueError("infinite nesting")
    if isinstance(value, TensorRecord):
        array, codec = storages.tensor(value)
        held = _Held("tensor", tensor=value)
        yield Entry(path=path, array=array, codec=codec, note=held, storage=value.storage.key)
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
        raise ValueError(f"{type(value).__name__} isn't data")


def _parts(value: object) -> Iterator[tuple[str | int, object]]:
    parts = as_parts(value)
    if not issubclass(type(value), dict):
        yield from enumerate(parts)
        return
    for key, part in zip(parts[::2], parts[1::2], strict=True):
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise TypeError("a key that is neither a text nor a number")
        yield key, part


class TreeWriter:
    """Makes the tree of entries again, and numbers the records of its tensors.

    Tensors that were views of one storage are so again: one whose numbers stand in another lies
    there, as tied weights do; what doesn't is put behind. So they share it, whatever was cut.

    Attributes:
        records: the bytes of each.
        storages: what each is.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.records: list[bytes] = []
        self.storages: list[Storage] = []
        self._blocks = _blocks_of(entries)
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
        block = self._blocks[entry.path]
        if block.storage is None:
            type_name = next(
                name
                for name, text in _STORAGES.items()
                if array.dtype.str == text and (name == _BFLOAT16) == (entry.codec is not None)
            )
            key, size = str(len(self.records)), len(block.content) // array.itemsize
            block.storage = replace(record.storage, type_name=type_name, key=key, size=size)
            self.records.append(bytes(block.content))
            self.storages.append(block.storage)
        stride = tuple(math.prod(array.shape[axis + 1 :]) for axis in range(array.ndim))
        offset = block.offsets[entry.path] // array.itemsize
        return replace(
            record, storage=block.storage, offset=offset, size=array.shape, stride=stride
        )


@dataclass(slots=True)
class _Block:
    """A storage that is to be written.

    Attributes:
        content: its bytes.
        offsets: where in it each of its tensors begins.
        storage: its name, once it has one.
    """

    content: bytearray = field(default_factory=bytearray)
    offsets: dict[tuple[str | int, ...], int] = field(
        default_factory=dict[tuple[str | int, ...], int]
    )
    storage: Storage | None = None
    _known: dict[bytes, int] = field(default_factory=dict[bytes, int])

    def put(self, path: tuple[str | int, ...], content: bytes, itemsize: int) -> None:
        """Put a tensor where its bytes are already, else behind all others."""
        at = self._known.get(content, -1)
        if at < 0 and len(self._known) < _MOST_LOOKED_INTO:
            at = self._place_of(content, itemsize)
        if at < 0:
            at = len(self.content)
            self.content += content
        self.offsets[path] = self._known[content] = at

    def _place_of(self, content: bytes, itemsize: int) -> int:
        at = self.content.find(content)
        while at > 0 and at % itemsize:
            at = self.content.find(content, at + 1)
        return at


def _blocks_of(entries: Sequence[Entry]) -> dict[tuple[str | int, ...], _Block]:
    """Return the storage of each tensor; the largest of those that share one is put first."""
    blocks: dict[object, _Block] = {}
    found: dict[tuple[str | int, ...], _Block] = {}
    for entry in sorted(entries, key=lambda entry: -entry.size):
        if entry.array is None or entry.is_fixed:
            continue
        alike = (entry.storage, entry.dtype) if entry.storage else (entry.path,)
        block = found[entry.path] = blocks.setdefault(alike, _Block())
        block.put(entry.path, entry.array.tobytes(), entry.array.itemsize)
    return found
