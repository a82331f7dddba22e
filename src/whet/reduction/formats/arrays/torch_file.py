"""`.pt` and `.pth`: the zip files of torch, with a pickle that is read but never run.

A checkpoint is a tree of dictionaries, lists, tuples, numbers, texts and tensors. What holds
anything else, a whole module for instance, isn't read; it is no payload of this kind.
"""

import io
import zipfile
from collections.abc import Sequence

from whet.reduction.formats.arrays.arrays import Entry, Layout, is_bomb
from whet.reduction.formats.arrays.npy import ZIP_MAGIC
from whet.reduction.formats.arrays.safetensors import convert
from whet.reduction.formats.arrays.torch_pickle import dump_pickle, load_pickle
from whet.reduction.formats.arrays.torch_tree import TreeWriter, entries_of, own_storage

_DATA = "/data.pkl"


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
        return entries_of(
            load_pickle(archive.read(data)),
            lambda storage: archive.read(f"{root}data/{storage.key}"),
        )


def _write(entries: Sequence[Entry]) -> bytes:
    if not entries or entries[0].path:
        return b""  # the root is gone
    writer = TreeWriter(entries)
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
    plainer=own_storage,
)
