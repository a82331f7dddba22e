"""HDF5: groups, datasets and attributes, through h5py.

What cannot be written again (references, links to other files, lists of many lengths) is not in
the view, so that the first candidate already lacks it.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whet.reduction.formats.arrays import Entry, Layout, is_bomb, is_installed
from whet.reduction.formats.npy import convert

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAGIC = b"\x89HDF\r\n\x1a\n"
DEEPEST = 50
"""Groups may hold themselves."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What an entry is: a group, a dataset or an attribute."""

    kind: str

    def __str__(self) -> str:
        return self.kind


_GROUP = _Held("group")
_DATASET = _Held("dataset")
_ATTRIBUTE = _Held("attribute")


def _h5py() -> Any:
    import h5py

    return h5py


def _read(payload: bytes) -> Sequence[Entry] | None:
    if not payload.startswith(MAGIC) or not is_installed("h5py"):
        return None
    with _h5py().File(io.BytesIO(payload), "r") as file:
        room = _Room(payload)
        return [*_attributes((), file), *_members((), file, room)]


class _Room:
    """How much has been read: a file of a few bytes can claim to hold endlessly many zeros."""

    def __init__(self, payload: bytes) -> None:
        self._payload, self._taken = payload, 0

    def take(self, size: int) -> None:
        self._taken += size
        if is_bomb(self._payload, self._taken):
            raise ValueError("the file expands to more than fits into memory")


def _members(path: tuple[str | int, ...], group: Any, room: _Room) -> Iterator[Entry]:
    h5py = _h5py()
    if len(path) > DEEPEST:
        raise ValueError("a nesting without an end")
    for name in group:
        inner = (*path, str(name))
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        found = group[name]
        if isinstance(found, h5py.Group):
            yield Entry(path=inner, note=_GROUP)
            yield from _attributes(inner, found)
            yield from _members(inner, found, room)
        elif isinstance(found, h5py.Dataset) and not found.external and not found.is_virtual:
            room.take(found.nbytes)
            is_text = h5py.check_string_dtype(found.dtype) is not None
            array = _array(found.asstr(errors="surrogateescape")[()] if is_text else found[()])
            if array is not None:
                yield Entry(path=inner, array=array, note=_DATASET)
                yield from _attributes(inner, found)


def _attributes(path: tuple[str | int, ...], owner: Any) -> Iterator[Entry]:
    for name in owner.attrs:
        array = _array(owner.attrs[name])
        if array is not None:
            yield Entry(path=(*path, f"@{name}"), array=array, note=_ATTRIBUTE)


def _array(found: Any) -> "NDArray[Any] | None":
    """Return the array of what h5py gives; None if it is of no type that can be written again."""
    import numpy as np

    array: NDArray[Any] = np.asarray(found)
    if array.dtype.hasobject:
        texts = list(array.flat)
        if not all(isinstance(each, str) for each in texts):
            return None
        array = np.array(texts, dtype=str).reshape(array.shape)
    return array


def _write(entries: Sequence[Entry]) -> bytes:
    stream = io.BytesIO()
    with _h5py().File(stream, "w") as file:
        for entry in entries:
            *folder, last = map(str, entry.path)
            owner = file["/".join(folder)] if folder else file
            if entry.note is _GROUP:
                owner.create_group(last)
            elif entry.note is _ATTRIBUTE:
                owner.attrs.create(last.removeprefix("@"), *_stored(entry))
            else:
                data, dtype = _stored(entry)[0], _stored(entry)[-1]
                owner.create_dataset(last, data=data, dtype=dtype)
    return stream.getvalue()


def _stored(entry: Entry) -> "tuple[NDArray[Any], None, Any]":
    """Return what h5py is given: the data, a shape (that of the data) and a type."""
    assert entry.array is not None, "a dataset and an attribute hold something"
    if entry.array.dtype.kind == "U":
        return entry.array.astype(object), None, _h5py().string_dtype()
    return entry.array, None, entry.array.dtype


HDF5 = Layout(
    name="hdf5", read=_read, write=_write, types=("float64", "int64", "bool"), convert=convert
)
