"""HDF5: groups, datasets, attributes and links, through h5py.

How a dataset is packed (chunks, compression) is kept until it is found not to matter. A link is
kept as a link: nothing that it leads to is opened, in this file or another one. What cannot be
written again (references, lists of many lengths) is not in the view, so that the first candidate
already lacks it.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
    """What an entry is.

    Attributes:
        kind: a group, a dataset, an attribute or a link.
        target: what a link names: a path, or a file and a path in it.
        packing: how a dataset is packed, as h5py takes it.
    """

    kind: str
    target: tuple[str, ...] = ()
    packing: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return " -> ".join((self.kind, ":".join(self.target))) if self.target else self.kind


_GROUP = _Held("group")
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
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            is_inner = isinstance(link, h5py.SoftLink)
            target = (link.path,) if is_inner else (link.filename, link.path)
            yield Entry(path=inner, note=_Held("link", target))
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
                yield Entry(path=inner, array=array, note=_Held("dataset", packing=_packing(found)))
                yield from _attributes(inner, found)


def _packing(dataset: Any) -> tuple[tuple[str, Any], ...]:
    """Return how a dataset is packed; nothing if it lies in the file as it is."""
    if dataset.chunks is None:
        return ()
    packing = {
        "compression": dataset.compression,
        "compression_opts": dataset.compression_opts,
        "shuffle": dataset.shuffle,
        "fletcher32": dataset.fletcher32,
    }
    return (("chunks", True), *((name, value) for name, value in packing.items() if value))


def _plainer(entry: Entry) -> Entry | None:
    is_packed = isinstance(entry.note, _Held) and entry.note.packing
    return replace(entry, note=_Held("dataset")) if is_packed else None


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
            held = entry.note
            assert isinstance(held, _Held), "it was read here"
            if held.kind == "group":
                owner.create_group(last)
            elif held.kind == "link":
                owner[last] = _link(held.target)
            elif held.kind == "attribute":
                owner.attrs.create(last.removeprefix("@"), *_stored(entry))
            else:
                data, dtype = _stored(entry)[0], _stored(entry)[-1]
                packing = dict(held.packing) if data.size else {}  # an empty one has no chunks
                owner.create_dataset(last, data=data, dtype=dtype, **(packing if data.ndim else {}))
    return stream.getvalue()


def _link(target: tuple[str, ...]) -> Any:
    h5py = _h5py()
    return h5py.SoftLink(*target) if len(target) == 1 else h5py.ExternalLink(*target)


def _stored(entry: Entry) -> "tuple[NDArray[Any], None, Any]":
    """Return what h5py is given: the data, a shape (that of the data) and a type."""
    assert entry.array is not None, "a dataset and an attribute hold something"
    if entry.array.dtype.kind == "U":
        return entry.array.astype(object), None, _h5py().string_dtype()
    return entry.array, None, entry.array.dtype


HDF5 = Layout(
    name="hdf5",
    read=_read,
    write=_write,
    types=("float64", "int64", "bool"),
    convert=convert,
    plainer=_plainer,
)
