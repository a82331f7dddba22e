"""`.pt` and `.pth` as torch wrote them before 1.6, and still does when it is asked to: a stream.

A magic number, a protocol, what the machine was like, the data and the names of its storages, each
a pickle of its own; then each storage, its length first. No pickle is ever run.
"""

import io
import struct
from collections.abc import Sequence

from whet.reduction.formats.arrays.arrays import Entry, Layout
from whet.reduction.formats.arrays.safetensors import convert
from whet.reduction.formats.arrays.torch_pickle import (
    Storage,
    as_parts,
    dump_pickle,
    load_pickle,
    next_pickle,
)
from whet.reduction.formats.arrays.torch_tree import TreeWriter, entries_of, own_storage, width_of

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_MAGIC_BYTES = _MAGIC.to_bytes(10, "little")
_FAR = 16
"""The magic number is in the first bytes, whatever its pickle's protocol."""

_LENGTH = struct.Struct("<q")
_MACHINE = {
    "protocol_version": _PROTOCOL,
    "little_endian": True,
    "type_sizes": {"short": 2, "int": 4, "long": 4},
}


def _read(payload: bytes) -> Sequence[Entry] | None:
    if _MAGIC_BYTES not in payload[:_FAR]:
        return None
    stream = io.BytesIO(payload)
    storages: dict[str, Storage] = {}
    magic, protocol, machine, data, keys = (
        load_pickle(next_pickle(stream), storages) for _ in range(5)
    )
    if (magic, protocol) != (_MAGIC, _PROTOCOL) or machine != _MACHINE:
        return None  # of a machine with the other order of bytes
    records: dict[str, bytes] = {}
    for key in as_parts(keys):
        storage = storages[str(key)]
        (length,) = _LENGTH.unpack(stream.read(_LENGTH.size))
        records[storage.key] = stream.read(length * width_of(storage)) if length >= 0 else b""
    return entries_of(data, lambda storage: records[storage.key])


def _write(entries: Sequence[Entry]) -> bytes:
    if not entries or entries[0].path:
        return b""  # the root is gone
    writer = TreeWriter(entries)
    data = writer.value(entries[0])
    pickles = (_MAGIC, _PROTOCOL, _MACHINE, data, [each.key for each in writer.storages])
    records = zip(writer.storages, writer.records, strict=True)
    return b"".join(
        (
            *map(dump_pickle, pickles),
            *(_LENGTH.pack(storage.size) + record for storage, record in records),
        )
    )


TORCH_STREAM = Layout(
    name="torch-stream",
    read=_read,
    write=_write,
    types=("float32", "int64", "bool"),
    convert=convert,
    plainer=own_storage,
)
