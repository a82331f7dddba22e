"""Folders that Hugging Face's `datasets` saves (`save_to_disk`), read without that library.

A data set is shards of Arrow, `state.json` and `dataset_info.json`; a dictionary of them has a
folder for each split and `dataset_dict.json`.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from whet.core.errors import CannotSample
from whet.core.value_class import value_class
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
    state: Mapping[str, Any]
    info: Mapping[str, Any]
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
            splits = _json(folder / SPLITS).get("splits", [])
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
    files = [Path(str(each["filename"])).name for each in state.get("_data_files", [])]
    paths = tuple(folder / file for file in files)
    missing = next((path for path in paths if not path.is_file()), None)
    if missing is not None or not paths:
        raise CannotSample(
            f"`{folder.name}` has no shard `{missing.name if missing else '*.arrow'}`",
            hint="get the whole folder again",
        )
    info = _json(folder / _INFO) if (folder / _INFO).is_file() else {}
    return _DataSet(folder, place, state, info, ArrowTable(paths, name, schema_of(paths[0])))


def _write(part: _DataSet, places: Sequence[int], folder: Path) -> None:
    shard = "data-00000-of-00001.arrow"
    first = part.table.paths[0]
    size = write_rows(part.table, places, folder / shard, as_stream=is_stream(first))
    # `datasets` finds what it has computed earlier by the fingerprint: other rows need another one.
    said = f"{part.state.get('_fingerprint')} {[*places]}"
    fingerprint = hashlib.sha256(said.encode()).hexdigest()[:16]
    state = {**part.state, "_data_files": [{"filename": shard}], "_fingerprint": fingerprint}
    (folder / STATE).write_text(json.dumps(state, indent=2, sort_keys=True), "utf-8")
    if part.info:
        info = dict(part.info)
        splits: Any = info.get("splits") or {}
        split: Any = part.state.get("_split")
        if split in splits:
            counted = {**splits[split], "num_examples": len(places), "num_bytes": size}
            counted.pop("shard_lengths", None)
            info["splits"] = {**splits, split: counted}
        (folder / _INFO).write_text(json.dumps(info, indent=2, sort_keys=True), "utf-8")


def _json(path: Path) -> dict[str, Any]:
    try:
        found: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise CannotSample(
            f"`{path.parent.name}/{path.name}` can't be read: {error}",
            hint="get the whole folder again",
        ) from error
    if not isinstance(found, dict):
        raise CannotSample(f"`{path.name}` isn't an object", hint="get the whole folder again")
    return cast("dict[str, Any]", found)
