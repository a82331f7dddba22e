"""Laws of hearing that something is written in a folder."""

import queue
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from whet.host.stirrings import Stirrings

PATIENCE_SECONDS = 60.0


@pytest.fixture
def told() -> "queue.SimpleQueue[None]":
    return queue.SimpleQueue()


@pytest.fixture
def stirrings(told: "queue.SimpleQueue[None]") -> Iterator[Stirrings]:
    with Stirrings(lambda: told.put(None)) as stirrings:
        yield stirrings


def test_a_save_in_a_near_folder_is_told_of_and_does_not_count(
    stirrings: Stirrings, told: "queue.SimpleQueue[None]", tmp_path: Path
) -> None:
    assert stirrings.listen_in([str(tmp_path)], [])
    before = stirrings.heard()
    (tmp_path / "new").write_text("1")
    told.get(timeout=PATIENCE_SECONDS)
    (tmp_path / "new").replace(tmp_path / "old")
    told.get(timeout=PATIENCE_SECONDS)

    assert stirrings.heard() == before


CHANGES: "dict[str, Callable[[Path], object]]" = {
    "written": lambda folder: (folder / "file").write_text("2"),
    "made": lambda folder: (folder / "other").touch(),
    "removed": lambda folder: (folder / "file").unlink(),
    "renamed": lambda folder: (folder / "file").rename(folder / "other"),
    "mode": lambda folder: (folder / "file").chmod(0o600),
    "folder": lambda folder: (folder / "below").rmdir(),
    "gone": lambda folder: folder.rename(folder.with_name("elsewhere")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_in_a_far_folder_counts_at_once(
    stirrings: Stirrings, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    folder = tmp_path / "far"
    (folder / "below").mkdir(parents=True)
    (folder / "file").write_text("1")
    assert stirrings.listen_in([], [str(folder)])
    before = stirrings.heard()

    change(folder)

    assert stirrings.heard() > before


def test_a_far_folder_that_is_not_there_counts_when_it_appears(
    stirrings: Stirrings, tmp_path: Path
) -> None:
    assert stirrings.listen_in([], [str(tmp_path / "absent" / "below")])
    before = stirrings.heard()

    (tmp_path / "absent").mkdir()

    assert stirrings.heard() > before


@pytest.mark.parametrize("order", ["near first", "far first"])
def test_a_folder_with_two_names_is_near_by_the_one_and_far_by_the_other(
    stirrings: Stirrings, told: "queue.SimpleQueue[None]", tmp_path: Path, order: str
) -> None:
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    if order == "near first":
        assert stirrings.listen_in([str(folder)], [])
    assert stirrings.listen_in([], [str(link)])
    if order == "far first":
        assert stirrings.listen_in([str(folder)], [])
    before = stirrings.heard()

    (folder / "file").touch()

    told.get(timeout=PATIENCE_SECONDS)
    assert stirrings.heard() > before


def test_what_is_to_be_done_soon_is_done_between_two_stirrings(
    stirrings: Stirrings, told: "queue.SimpleQueue[None]"
) -> None:
    stirrings.do_soon(lambda: told.put(None))

    told.get(timeout=PATIENCE_SECONDS)
