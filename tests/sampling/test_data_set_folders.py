"""A folder of `datasets` from somebody else names nothing outside itself."""

import json
from pathlib import Path

import pytest
from benchmarks.faults.payloads import arrow_seeds

from whet.core.errors import CannotSample
from whet.sampling.kinds import open_source


def data_set(top: Path, split: object) -> Path:
    for folder in (top, top / "inside" / "train"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "a.arrow"}]}))
        (folder / "a.arrow").write_bytes(arrow_seeds()[1])
    (top / "inside" / "dataset_dict.json").write_text(json.dumps({"splits": [split]}))
    return top / "inside"


@pytest.mark.parametrize(
    "split", ["..", ".", "", "../train", "/", "train/..", 3, None, ["train"], "\ud800", "a\0"]
)
def test_a_split_that_is_no_folder_in_it_is_refused(tmp_path: Path, split: object) -> None:
    with pytest.raises(CannotSample, match="isn't a file or folder in it"):
        open_source(data_set(tmp_path, split), "inside")


def test_a_split_in_it_is_sampled(tmp_path: Path) -> None:
    source = open_source(data_set(tmp_path, "train"), "inside")
    (target := tmp_path / "out").mkdir()
    source.write({table.name: [0] for table in source.tables}, target)
    assert (target / "train" / "data-00000-of-00001.arrow").stat().st_size
