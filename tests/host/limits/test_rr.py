"""`rr` is offered where it records, and said why where not; of its recordings one is kept."""

import shutil
import subprocess
from pathlib import Path

import pytest

from whet.host.limits.rr import keep_one_recording, rr_refusal


def test_it_is_refused_exactly_where_it_does_not_record(tmp_path: Path) -> None:
    why = rr_refusal(tmp_path / "rr")

    if shutil.which("rr") is None:
        assert "install the package `rr`" in why
    else:
        words = ["rr", "record", "-o", str(tmp_path / "trace"), "true"]
        done = subprocess.run(words, capture_output=True, check=False)
        assert bool(why) is (done.returncode != 0)
        assert not why or why.removeprefix("`rr record true` doesn't work here: ") in str(
            done.stderr, "utf-8"
        )
    assert not (tmp_path / "rr").exists()


@pytest.mark.parametrize(("is_wanted", "left"), [(True, {"main-2"}), (False, {"main-0", "main-1"})])
def test_one_recording_is_kept(tmp_path: Path, *, is_wanted: bool, left: set[str]) -> None:
    for name in ("main-0", "main-1", "main-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "events").write_text("x")
    (tmp_path / "latest-trace").symlink_to(tmp_path / "main-2")
    keep_one_recording(tmp_path, is_wanted=is_wanted)

    assert {each.name for each in tmp_path.iterdir() if not each.is_symlink()} == left
    keep_one_recording(tmp_path / "nowhere", is_wanted=True)
