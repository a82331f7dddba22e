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
    assert not stirrings.listen_in([str(tmp_path)], [], []).is_deaf
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
    assert not stirrings.listen_in([], [], [str(folder)]).is_deaf
    before = stirrings.heard()

    change(folder)

    assert stirrings.heard() > before


def test_a_far_folder_that_is_not_there_counts_when_it_appears(
    stirrings: Stirrings, tmp_path: Path
) -> None:
    assert not stirrings.listen_in([], [], [str(tmp_path / "absent" / "below")]).is_deaf
    before = stirrings.heard()

    (tmp_path / "absent").mkdir()

    assert stirrings.heard() > before


def _above(folder: Path) -> None:
    folder.parents[1].rename(folder.parents[1].with_name("elsewhere"))


def _link_above(folder: Path) -> None:
    (folder.parents[2] / "new").symlink_to("other")
    (folder.parents[2] / "new").replace(folder.parents[2] / "link")


def _led_to(folder: Path) -> None:
    (folder.parents[2] / "led to").write_text("2")


WAYS: "dict[str, Callable[[Path], object]]" = {
    "a folder above": _above,
    "a link above": _link_above,
    "what a link leads to": _led_to,
}


@pytest.mark.parametrize("change", WAYS.values(), ids=WAYS)
def test_whatever_changes_on_the_way_to_a_far_path_counts_at_once(
    stirrings: Stirrings, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    folder = tmp_path / "real" / "middle" / "far"
    folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "led to").write_text("1")
    (folder / "file").symlink_to("../../../led to")
    assert not stirrings.listen_in(
        [], [str(tmp_path / "link" / "middle" / "far" / "file")], []
    ).is_deaf
    before = stirrings.heard()

    change(folder)

    assert stirrings.heard() > before


def test_what_happens_beside_the_way_to_a_far_path_does_not_count(
    stirrings: Stirrings, tmp_path: Path
) -> None:
    folder = tmp_path / "above" / "far"
    folder.mkdir(parents=True)
    assert not stirrings.listen_in([], [str(folder / "file")], []).is_deaf
    before = stirrings.heard()

    (tmp_path / "above" / "beside").write_text("1")
    (tmp_path / "above" / "beside").unlink()

    assert stirrings.heard() == before


def test_links_that_lead_in_a_circle_cannot_be_listened_to(
    stirrings: Stirrings, tmp_path: Path
) -> None:
    (tmp_path / "circle").symlink_to("circle")

    assert stirrings.listen_in([], [str(tmp_path / "circle" / "file")], []).is_deaf


def test_a_far_folder_that_has_taken_the_place_of_another_counts_when_it_is_listened_in_again(
    stirrings: Stirrings, tmp_path: Path
) -> None:
    folder = tmp_path / "far"
    folder.mkdir()
    assert not stirrings.listen_in([], [], [str(folder)]).is_deaf
    folder.rmdir()
    folder.mkdir()
    assert not stirrings.listen_in([], [], [str(folder)]).is_deaf
    before = stirrings.heard()

    (folder / "file").touch()

    assert stirrings.heard() > before


@pytest.mark.parametrize("order", ["near first", "far first"])
def test_a_folder_with_two_names_is_near_by_the_one_and_far_by_the_other(
    stirrings: Stirrings, told: "queue.SimpleQueue[None]", tmp_path: Path, order: str
) -> None:
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    if order == "near first":
        assert not stirrings.listen_in([str(folder)], [], []).is_deaf
    assert not stirrings.listen_in([], [], [str(link)]).is_deaf
    if order == "far first":
        assert not stirrings.listen_in([str(folder)], [], []).is_deaf
    before = stirrings.heard()

    (folder / "file").touch()

    told.get(timeout=PATIENCE_SECONDS)
    assert stirrings.heard() > before


def test_what_is_to_be_done_soon_is_done_between_two_stirrings(
    stirrings: Stirrings, told: "queue.SimpleQueue[None]"
) -> None:
    stirrings.do_soon(lambda: told.put(None))

    told.get(timeout=PATIENCE_SECONDS)
