"""HDF5: groups, datasets, attributes and links, through h5py.

How a dataset is packed (chunks, compression) is kept until it is found not to matter. A link is
kept as a link: nothing that it leads to is opened, in this file or another one. What can't be
written again (references to regions, lists of lists in several dimensions) isn't in the view, so
that the first candidate already lacks it.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from whet.reduction.formats.arrays.arrays import Entry, Layout, is_bomb, is_installed
from whet.reduction.formats.arrays.hdf5_values import (
    ATTRIBUTE,
    DATASET,
    Held,
    Path,
    Writer,
    entries_of,
    h5py_library,
    held_of,
)
from whet.reduction.formats.arrays.npy import convert

MAGIC = b"\x89HDF\r\n\x1a\n"
DEEPEST = 50
"""Groups can contain themselves."""


_GROUP = Held("group")


def _read(payload: bytes) -> Sequence[Entry] | None:
    if not payload.startswith(MAGIC) or not is_installed("h5py"):
        return None
    with h5py_library().File(io.BytesIO(payload), "r") as file:
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


def _members(path: Path, group: Any, room: _Room) -> Iterator[Entry]:
    h5py = h5py_library()
    if len(path) > DEEPEST:
        raise ValueError("infinite nesting")
    for name in group:
        inner = (*path, str(name))
        link = group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            is_inner = isinstance(link, h5py.SoftLink)
            target = (link.path,) if is_inner else (link.filename, link.path)
            yield Entry(path=inner, note=Held("link", target))
            continue
        found = group[name]
        if isinstance(found, h5py.Group):
            yield Entry(path=inner, note=_GROUP)
            yield from _attributes(inner, found)
            yield from _members(inner, found, room)
        elif isinstance(found, h5py.Dataset) and not found.external and not found.is_virtual:
            room.take(found.nbytes)
            is_text = h5py.check_string_dtype(found.dtype) is not None and found.shape is not None
            value = found.asstr(errors="surrogateescape")[()] if is_text else found[()]
            held = Held(DATASET, packing=_packing(found))
            held_here = list(entries_of(inner, value, found.dtype, held, group.file))
            if held_here:
                yield from held_here
                yield from _attributes(inner, found)


def _packing(dataset: Any) -> tuple[tuple[str, Any], ...]:
    """Return how a dataset is packed; nothing if it is in the file as it is."""
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
    held = held_of(entry)
    return replace(entry, note=replace(held, packing=())) if held.packing else None


def _attributes(path: Path, owner: Any) -> Iterator[Entry]:
    for name in owner.attrs:
        dtype = owner.attrs.get_id(name).dtype
        inner = (*path, f"@{name}")
        yield from entries_of(inner, owner.attrs[name], dtype, Held(ATTRIBUTE), owner.file)


def _write(entries: Sequence[Entry]) -> bytes:
    stream = io.BytesIO()
    with h5py_library().File(stream, "w") as file:
        writer = Writer(file)
        for entry in entries:
            *folders, last = map(str, entry.path)
            folder = f"/{'/'.join(folders)}"
            held = held_of(entry)
            if held.kind == "group":
                file[folder].create_group(last)
            elif held.kind == "link":
                file[folder][last] = _link(held.target)
            else:
                writer.add(folder, entry)
        writer.finish()
    return stream.getvalue()


def _link(target: tuple[str, ...]) -> Any:
    h5py = h5py_library()
    return h5py.SoftLink(*target) if len(target) == 1 else h5py.ExternalLink(*target)


HDF5 = Layout(
    name="hdf5",
    read=_read,
    write=_write,
    types=("float64", "int64", "bool"),
    convert=convert,
    plainer=_plainer,
)
