"""Folders that Hugging Face's `datasets` saves (`save_to_disk`), read without that library.

A data set is shards of Arrow, `state.json` and `dataset_info.json`; a dictionary of them has a
folder for each split and `dataset_dict.json`.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from whet.core.errors import CannotSample
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    record_of,
    sequence,
)
from whet.core.value_class import value_class
from whet.host.files.files import content_of
from whet.sampling.arrow_files import ArrowTable, is_stream, schema_of, write_rows
from whet.sampling.table import Link, Table

STATE, SPLITS = "state.json", "dataset_dict.json"
_INFO = "dataset_info.json"


def is_saved_data_set(folder: Path) -> bool:
    """Whether `datasets` has saved it."""
    return (folder / STATE).is_file() or (folder / SPLITS).is_file()


@value_class
class _DataSet:
    """One split.

    Attributes:
        folder: where it is.
        place: its folder's name in the whole; empty: it is the whole.
        state: what its `state.json` says.
        info: what its `dataset_info.json` says.
        table: its rows.
    """

    folder: Path
    place: str
    state: JsonObject
    info: JsonObject
    table: ArrowTable


class DataSetFolder:
    """A folder that `datasets` has saved; a `Source`."""

    kind = "datasets folder"

    def __init__(self, folder: Path, name: str) -> None:
        """Read what describes it.

        Raises:
            CannotSample: if that is damaged.
        """
        self._folder = folder
        if (folder / SPLITS).is_file():
            splits = map(_name, _list(folder / SPLITS, "splits"))
            self._parts = [_data_set(folder / split, split, split) for split in splits]
        else:
            self._parts = [_data_set(folder, "", name)]

    @property
    def tables(self) -> Sequence[Table]:
        """Its splits."""
        return tuple(part.table for part in self._parts)

    def links(self) -> Sequence[Link]:
        """Return nothing: splits don't refer to each other."""
        return ()

    def write(self, chosen: Mapping[str, Sequence[int]], target: Path) -> None:
        """Write each split as one shard, and what describes it."""
        if (self._folder / SPLITS).is_file():
            (target / SPLITS).write_bytes((self._folder / SPLITS).read_bytes())
        for part in self._parts:
            folder = target / part.place
            folder.mkdir(exist_ok=True)
            _write(part, chosen[part.table.name], folder)


def _data_set(folder: Path, place: str, name: str) -> _DataSet:
    state = _json(folder / STATE)
    if state.get("_indices_files") or state.get("_indices_data_files"):
        raise CannotSample(
            f"`{folder.name}` holds a selection of rows, which an old `datasets` saved",
            hint="load it and save it again: `load_from_disk(…).flatten_indices().save_to_disk(…)`",
        )
    shards = [record_of(each) or {} for each in _list(folder / STATE, "_data_files")]
    files = [_name(Path(str(each.get("filename"))).name) for each in shards]
    paths = tuple(folder / file for file in files)
    missing = next((path for path in paths if not path.is_file()), None)
    if missing is not None or not paths:
        raise CannotSample(
            f"`{folder.name}` has no shard `{missing.name if missing else '*.arrow'}`",
            hint="get the whole folder again",
        )
    nothing: JsonObject = {}
    info = _json(folder / _INFO) if (folder / _INFO).is_file() else nothing
    return _DataSet(folder, place, state, info, ArrowTable(paths, name, schema_of(paths[0])))


def _write(part: _DataSet, places: Sequence[int], folder: Path) -> None:
    shard = "data-00000-of-00001.arrow"
    first = part.table.paths[0]
    size = write_rows(part.table, places, folder / shard, as_stream=is_stream(first))
    # `datasets` finds what it has computed earlier by the fingerprint: other rows need another one.
    said = f"{part.state.get('_fingerprint')} {[*places]}"
    fingerprint = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    state = {**part.state, "_data_files": [{"filename": shard}], "_fingerprint": fingerprint}
    (folder / STATE).write_text(json.dumps(state, indent=2, sort_keys=True), "utf-8")
    if part.info:
        info: dict[str, object] = {**part.info}
        splits = dict(record_of(info.get("splits")) or {})
        split = part.state.get("_split")
        if isinstance(split, str) and (known := record_of(splits.get(split))) is not None:
            counted = {**known, "num_examples": len(places), "num_bytes": size}
            counted.pop("shard_lengths", None)
            info["splits"] = {**splits, split: counted}
        (folder / _INFO).write_text(json.dumps(info, indent=2, sort_keys=True), "utf-8")


def _json(path: Path) -> JsonObject:
    try:
        return as_record(decoded(content_of(path)), path.name)
    except (OSError, MalformedRecordError) as error:
        raise _damaged(path, str(error)) from error


def _list(path: Path, name: str) -> Sequence[object]:
    try:
        return sequence(_json(path), name)
    except MalformedRecordError as error:
        raise _damaged(path, str(error)) from error


def _name(value: object) -> str:
    """Return the name of a file or folder in the data set; one that leads out of it is refused."""
    name = value if isinstance(value, str) else ""
    if name in {"", ".", ".."} or not _is_encodable(name) or Path(name).name != name:
        raise CannotSample(
            f"the data set names `{value}`, which isn't a file or folder in it",
            hint="get the whole folder again",
        )
    return name


def _is_encodable(name: str) -> bool:
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def _damaged(path: Path, why: str) -> CannotSample:
    return CannotSample(
        f"`{path.parent.name}/{path.name}` can't be read: {why}", hint="get the whole folder again"
    )
