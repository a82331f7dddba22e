"""The tensors of a checkpoint: where the bytes of each are, without reading them.

Safetensors files say it in a header. Torch's files say it in a pickle, which whet reads but never
runs; their bytes are records of a zip file that isn't compressed.
"""

import json
import math
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from whet.core.errors import CheckpointUnreadable
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    record,
    row,
    sequence,
    text,
    text_map,
    whole,
)
from whet.core.value_class import value_class
from whet.host.files.files import content_of
from whet.reduction.formats.arrays.safetensors import MOST_HEADER_BYTES
from whet.reduction.formats.arrays.torch_pickle import Storage, TensorRecord, load_pickle
from whet.sampling.streams import BROKEN_ZIP

_LENGTH = struct.Struct("<Q")
_ZIP_MEMBER = struct.Struct("<26xHH")
_ZIP_MEMBER_BYTES = 30
_PIECE_BYTES = 1 << 22
_METADATA = "__metadata__"
_ALIGNMENT_BYTES = 8
_MOST_PICKLE_BYTES = 100_000_000
_LONGEST_ORDER, _LONGEST_NAME = 16, 255

_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_SINGLES = ("model.safetensors", "pytorch_model.bin")
_PICKLED = (".bin", ".pt", ".pth")

_STORAGES = {
    "DoubleStorage": ("F64", 8),
    "FloatStorage": ("F32", 4),
    "HalfStorage": ("F16", 2),
    "BFloat16Storage": ("BF16", 2),
    "LongStorage": ("I64", 8),
    "IntStorage": ("I32", 4),
    "ShortStorage": ("I16", 2),
    "CharStorage": ("I8", 1),
    "ByteStorage": ("U8", 1),
    "BoolStorage": ("BOOL", 1),
}
_AGAIN = "copy the file again, or check its name"
_CONVERT = "convert it to safetensors with your libraries, where you trust it: `model.save_pretrained(DIR)`"


@value_class(kw_only=True)
class TensorPlace:
    """Where the bytes of a tensor are.

    Attributes:
        name: its name in the checkpoint.
        dtype: its type, in the words of safetensors.
        shape: its lengths.
        file: the file.
        start: of its first byte in the file.
        length: how many bytes it has.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: Path
    start: int
    length: int


@value_class(kw_only=True)
class KeptRows:
    """The part of a tensor that is copied.

    Attributes:
        axis: the place of the rows in its shape.
        numbers: the rows, in their new order.
    """

    axis: int
    numbers: tuple[int, ...]


@value_class(kw_only=True)
class Checkpoint:
    """The tensors of a model's folder.

    Attributes:
        tensors: by their names.
        files: the files that hold them.
        size: the bytes of these files.
        read: how many bytes whet has read to know this.
    """

    tensors: Mapping[str, TensorPlace]
    files: tuple[Path, ...]
    size: int
    read: int


def read_checkpoint(folder: Path) -> Checkpoint:
    """Return where the tensors of a model's folder are.

    Raises:
        CheckpointUnreadable: if there are none, a file is damaged, or holds more than tensors.
    """
    files = _files_of(folder)
    tensors: dict[str, TensorPlace] = {}
    read = 0
    for file in files:
        if not file.is_file():
            raise CheckpointUnreadable(
                f"`{file}` isn't there, but the index of the model names it", hint=_AGAIN
            )
        found, cost = (_pickled if file.suffix in _PICKLED else _safetensors)(file)
        tensors.update({each.name: each for each in found})
        read += cost
    size = sum(file.stat().st_size for file in files)
    return Checkpoint(tensors=tensors, files=files, size=size, read=read)


def stored_types(folder: Path) -> dict[str, str]:
    """Return the type of each tensor of a model's folder by its name, with a star for each number.

    What differs between layers, and what can't be read, isn't there.
    """
    types: dict[str, set[str]] = {}
    with suppress(CheckpointUnreadable, OSError):
        for name, place in read_checkpoint(folder).tensors.items():
            parts = ["*" if part.isdigit() else part for part in name.split(".")]
            types.setdefault(".".join(parts), set()).add(place.dtype)
    return {name: next(iter(each)) for name, each in types.items() if len(each) == 1}


def write_safetensors(
    target: Path,
    tensors: Sequence[tuple[str, TensorPlace]],
    rows: Mapping[str, KeptRows] | None = None,
) -> int:
    """Copy tensors, under new names, into one file.

    Args:
        target: the file to write.
        tensors: each with its new name.
        rows: for some of these names, the rows that are copied alone.

    Returns:
        How many bytes were read for it.
    """
    # The library that reads it needs each tensor at a multiple of its type's size.
    ordered = sorted(tensors, key=lambda each: (-_width(each[1]), each[0]))
    header: dict[str, object] = {_METADATA: {"format": "pt"}}
    end = 0
    stretches: list[tuple[TensorPlace, list[tuple[int, int]]]] = []
    for name, place in ordered:
        shape, parts = _part_of(place, (rows or {}).get(name))
        length = sum(size for _, size in parts)
        header[name] = {"dtype": place.dtype, "shape": shape, "data_offsets": [end, end + length]}
        stretches.append((place, parts))
        end += length
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % _ALIGNMENT_BYTES)
    with target.open("wb") as out:
        out.write(_LENGTH.pack(len(encoded)) + encoded)
        for place, parts in stretches:
            _copy(place, parts, out)
    return end


def _part_of(
    place: TensorPlace, kept: KeptRows | None
) -> tuple[tuple[int, ...], list[tuple[int, int]]]:
    """Return the shape of a part of a tensor, and the stretches of its file that hold it."""
    if kept is None:
        return place.shape, [(place.start, place.length)]
    shape, axis = place.shape, kept.axis
    if max(kept.numbers) >= shape[axis]:
        raise CheckpointUnreadable(
            f"the tokenizer has a token {max(kept.numbers)}, and `{place.name}` has {shape[axis]} rows",
            hint="leave `--tokenizer` out",
        )
    row = math.prod(shape[axis + 1 :]) * _width(place)
    table = shape[axis] * row
    begins = range(place.start, place.start + place.length, table) if table else ()
    parts: list[tuple[int, int]] = []
    for begin in begins:
        for number in kept.numbers:
            at = begin + number * row
            if parts and sum(parts[-1]) == at:
                parts[-1] = (parts[-1][0], parts[-1][1] + row)
            else:
                parts.append((at, row))
    return (*shape[:axis], len(kept.numbers), *shape[axis + 1 :]), parts


def _copy(place: TensorPlace, parts: Sequence[tuple[int, int]], out: BinaryIO) -> None:
    with place.file.open("rb") as file:
        for start, length in parts:
            file.seek(start)
            left = length
            while left:
                piece = file.read(min(left, _PIECE_BYTES))
                if not piece:
                    raise CheckpointUnreadable(
                        f"`{place.file}` ends within `{place.name}`", hint=_AGAIN
                    )
                out.write(piece)
                left -= len(piece)


def _width(place: TensorPlace) -> int:
    values = math.prod(place.shape)
    return place.length // values if values else 0


def _files_of(folder: Path) -> tuple[Path, ...]:
    for index in _INDEXES:
        if (folder / index).is_file():
            names = _index(folder / index).values()
            return tuple(folder / name for name in dict.fromkeys(names))
    for single in _SINGLES:
        if (folder / single).is_file():
            return (folder / single,)
    others = sorted(each for each in folder.glob("*.safetensors") if each.is_file())
    if not others:
        raise CheckpointUnreadable(
            f"`{folder}` has no weights: neither model.safetensors nor pytorch_model.bin",
            hint=_AGAIN,
        )
    return tuple(others)


def _index(path: Path) -> dict[str, str]:
    try:
        index = as_record(decoded(content_of(path, most_bytes=MOST_HEADER_BYTES)), path.name)
        names = text_map(index, "weight_map")
    except (OSError, MalformedRecordError) as error:
        raise CheckpointUnreadable(
            f"`{path}` isn't an index of weights: {error}", hint=_AGAIN
        ) from error
    if not names:
        raise CheckpointUnreadable(f"`{path}` has no `weight_map`", hint=_AGAIN)
    for file in names.values():
        is_odd = file in {"", ".."} or len(file) > _LONGEST_NAME or not file.isprintable()
        if is_odd or Path(file).name != file:
            raise CheckpointUnreadable(
                f"`{path}` names `{file}`, which isn't in its folder", hint=_AGAIN
            )
    return names


def _safetensors(path: Path) -> tuple[list[TensorPlace], int]:
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(_LENGTH.size)
        length = _LENGTH.unpack(start)[0] if len(start) == _LENGTH.size else 0
        if not 0 < length <= min(MOST_HEADER_BYTES, size):
            raise CheckpointUnreadable(f"`{path}` isn't a safetensors file", hint=_AGAIN)
        raw = file.read(length)
    data = _LENGTH.size + length
    try:
        header = as_record(decoded(raw), "header")
        places = [_place(path, name, header, data) for name in header if name != _METADATA]
    except MalformedRecordError as error:
        raise CheckpointUnreadable(
            f"`{path}` has a damaged header: {error}", hint=_AGAIN
        ) from error
    for each in places:
        if each.length < 0 or each.start < data or each.start + each.length > size:
            raise CheckpointUnreadable(
                f"`{path}` ends before `{each.name}`: it isn't complete", hint=_AGAIN
            )
    return places, data


def _place(path: Path, name: str, header: JsonObject, data: int) -> TensorPlace:
    fields = record(header, name)
    start, end = map(whole, row(fields.get("data_offsets"), 2))
    shape = tuple(map(whole, sequence(fields, "shape")))
    if any(each < 0 for each in shape):
        raise MalformedRecordError(f"`{name}` has a shape of {shape}")
    return TensorPlace(
        name=name,
        dtype=text(fields, "dtype"),
        shape=shape,
        file=path,
        start=data + start,
        length=end - start,
    )


def _pickled(path: Path) -> tuple[list[TensorPlace], int]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = {each.filename: each for each in archive.infolist()}
            data = next((name for name in members if name.endswith("/data.pkl")), "")
            if not data or members[data].file_size > _MOST_PICKLE_BYTES:
                raise CheckpointUnreadable(f"`{path}` isn't a checkpoint of torch", hint=_CONVERT)
            root = data.removesuffix("data.pkl")
            order = f"{root}byteorder"
            if order in members and archive.open(order).read(_LONGEST_ORDER) != b"little":
                raise CheckpointUnreadable(
                    f"`{path}` is of a machine with another order of bytes", hint=_AGAIN
                )
            pickled = archive.read(data)
    except (*BROKEN_ZIP, OSError) as error:
        raise CheckpointUnreadable(
            f"`{path}` isn't a zip file of torch: {error}", hint=_CONVERT
        ) from error
    try:
        held = load_pickle(pickled)
    except ValueError as error:
        raise CheckpointUnreadable(f"whet doesn't run `{path}`: {error}", hint=_CONVERT) from error
    records = _Records(
        path, {name: each for name, each in members.items() if name.startswith(root)}
    )
    places = [
        records.place(name, tensor, f"{root}data/{tensor.storage.key}")
        for name, tensor in _named_tensors(held, path)
    ]
    return places, members[data].file_size + records.read


def _named_tensors(held: object, path: Path) -> Iterable[tuple[str, TensorRecord]]:
    if not isinstance(held, dict):
        raise CheckpointUnreadable(f"`{path}` holds no names of tensors", hint=_CONVERT)
    named = cast("dict[object, object]", held)
    for name, each in named.items():
        if not isinstance(name, str) or not isinstance(each, TensorRecord):
            raise CheckpointUnreadable(f"`{path}` holds more than tensors: {name!r}", hint=_CONVERT)
        yield name, each


class _Records:
    """The records of a zip file, each found where its local header ends."""

    def __init__(self, path: Path, members: Mapping[str, zipfile.ZipInfo]) -> None:
        self._path = path
        self._members = members
        self._starts: dict[str, int] = {}
        self.read = 0

    def place(self, name: str, tensor: TensorRecord, record: str) -> TensorPlace:
        """Return where a tensor is.

        Raises:
            CheckpointUnreadable: if its bytes aren't one after the other in the file.
        """
        dtype, width = self._type(name, tensor.storage)
        length = math.prod(tensor.size) * width
        member = self._members.get(record)
        is_whole = member is not None and member.compress_type == zipfile.ZIP_STORED
        first = tensor.offset * width
        if member is None or not is_whole or first + length > member.file_size:
            raise CheckpointUnreadable(
                f"`{self._path}` doesn't have all bytes of `{name}`", hint=_CONVERT
            )
        if length and not _is_plain(tensor):
            raise CheckpointUnreadable(
                f"`{name}` in `{self._path}` isn't stored row by row", hint=_CONVERT
            )
        return TensorPlace(
            name=name,
            dtype=dtype,
            shape=tensor.size,
            file=self._path,
            start=self._start(record, member) + first,
            length=length,
        )

    def _type(self, name: str, storage: Storage) -> tuple[str, int]:
        if storage.type_name not in _STORAGES:
            raise CheckpointUnreadable(
                f"`{name}` in `{self._path}` is a {storage.type_name}", hint=_CONVERT
            )
        return _STORAGES[storage.type_name]

    def _start(self, record: str, member: zipfile.ZipInfo) -> int:
        if record not in self._starts:
            with self._path.open("rb") as file:
                file.seek(member.header_offset)
                header = file.read(_ZIP_MEMBER_BYTES)
            self.read += len(header)
            if len(header) < _ZIP_MEMBER_BYTES:
                raise CheckpointUnreadable(f"`{self._path}` ends before `{record}`", hint=_AGAIN)
            name_bytes, extra_bytes = _ZIP_MEMBER.unpack(header)
            self._starts[record] = (
                member.header_offset + _ZIP_MEMBER_BYTES + name_bytes + extra_bytes
            )
        return self._starts[record]


def _is_plain(tensor: TensorRecord) -> bool:
    step = 1
    for length, stride in zip(reversed(tensor.size), reversed(tensor.stride), strict=True):
        if length > 1 and stride != step:
            return False
        step *= length
    return True
