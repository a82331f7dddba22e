"""Laws of hearing that something is written in a folder."""

import os
import queue
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from whet.host.files import file_times
from whet.host.files.folder_watch import FolderWatch

PATIENCE_SECONDS = 60.0


@pytest.fixture
def told() -> "queue.SimpleQueue[None]":
    return queue.SimpleQueue()


@pytest.fixture
def folder_watch(told: "queue.SimpleQueue[None]") -> Iterator[FolderWatch]:
    with FolderWatch(lambda: told.put(None)) as folder_watch:
        yield folder_watch


def test_a_save_in_a_near_folder_is_told_of_and_does_not_count(
    folder_watch: FolderWatch, told: "queue.SimpleQueue[None]", tmp_path: Path
) -> None:
    assert not folder_watch.listen_in([str(tmp_path)], [], []).is_deaf
    before = folder_watch.heard()
    (tmp_path / "new").write_text("1")
    told.get(timeout=PATIENCE_SECONDS)
    (tmp_path / "new").replace(tmp_path / "old")
    told.get(timeout=PATIENCE_SECONDS)

    assert folder_watch.heard() == before


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
    folder_watch: FolderWatch, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    folder = tmp_path / "far"
    (folder / "below").mkdir(parents=True)
    (folder / "file").write_text("1")
    assert not folder_watch.listen_in([], [], [str(folder)]).is_deaf
    before = folder_watch.heard()

    change(folder)

    assert folder_watch.heard() > before


def test_a_far_folder_that_is_not_there_counts_when_it_appears(
    folder_watch: FolderWatch, tmp_path: Path
) -> None:
    assert not folder_watch.listen_in([], [], [str(tmp_path / "absent" / "below")]).is_deaf
    before = folder_watch.heard()

    (tmp_path / "absent").mkdir()

    assert folder_watch.heard() > before


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
    folder_watch: FolderWatch, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    folder = tmp_path / "real" / "middle" / "far"
    folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "led to").write_text("1")
    (folder / "file").symlink_to("../../../led to")
    assert not folder_watch.listen_in(
        [], [str(tmp_path / "link" / "middle" / "far" / "file")], []
    ).is_deaf
    before = folder_watch.heard()

    change(folder)

    assert folder_watch.heard() > before


def _heard_in_far_folder(folder_watch: FolderWatch, tmp_path: Path) -> tuple[Path, int]:
    """Listen at a path in a folder; return the folder, and how much has been heard by then."""
    folder = tmp_path / "above" / "far"
    folder.mkdir(parents=True)
    assert not folder_watch.listen_in([], [str(folder / "file")], []).is_deaf
    return folder, folder_watch.heard()


def test_what_happens_beside_the_way_to_a_far_path_does_not_count(
    folder_watch: FolderWatch, tmp_path: Path
) -> None:
    _, before = _heard_in_far_folder(folder_watch, tmp_path)

    (tmp_path / "above" / "beside").write_text("1")
    (tmp_path / "above" / "beside").unlink()

    assert folder_watch.heard() == before


def test_a_far_folder_that_is_removed_while_a_process_stands_in_it_counts_at_once(
    folder_watch: FolderWatch, tmp_path: Path
) -> None:
    """Until the process has left it, the folder itself tells of nothing."""
    folder, before = _heard_in_far_folder(folder_watch, tmp_path)
    standing = os.open(folder, os.O_RDONLY)
    try:
        folder.rmdir()
        folder.mkdir()

        assert folder_watch.heard() > before
    finally:
        os.close(standing)


@contextmanager
def _mounted(*arguments: "str | Path") -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    if subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", arguments[-1]], check=True)


def test_a_file_that_is_mounted_over_another_counts_by_each_of_its_names(
    folder_watch: FolderWatch, tmp_path: Path
) -> None:
    source, target = tmp_path / "source" / "file", tmp_path / "a target" / "file"
    for each in (source, target):
        each.parent.mkdir()
        each.write_text("1")
    with _mounted("--bind", source, target):
        assert not folder_watch.listen_in([], [str(target)], []).is_deaf
        for name in (source, target):
            before = folder_watch.heard()

            name.write_text("2")

            assert folder_watch.heard() > before


def test_a_folder_that_is_mounted_over_another_counts_itself(
    folder_watch: FolderWatch, tmp_path: Path
) -> None:
    source, target = tmp_path / "from" / "folder", tmp_path / "to" / "folder"
    source.mkdir(parents=True)
    target.mkdir(parents=True)
    with _mounted("--bind", source, target):
        assert not folder_watch.listen_in([], [str(target)], []).is_deaf
        before = folder_watch.heard()

        source.chmod(0o700)

        assert folder_watch.heard() > before


def test_a_link_on_the_way_that_another_machine_may_change_makes_what_it_leads_to_remote(
    folder_watch: FolderWatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote, local = tmp_path / "remote", tmp_path / "local"
    remote.mkdir()
    local.mkdir()
    with _mounted("-t", "tmpfs", "none", remote):
        device, kind_of = remote.stat().st_dev, file_times._mount_of
        monkeypatch.setattr(
            file_times,
            "_mount_of",
            lambda each: ("nfs4", "unknown") if each == device else kind_of(each),
        )
        (remote / "link").symlink_to(local)

        assert folder_watch.listen_in([], [str(remote / "link" / "file")], []).is_remote
        assert not folder_watch.listen_in([], [str(local / "file")], []).is_remote


def test_links_that_lead_in_a_circle_cannot_be_listened_to(
    folder_watch: FolderWatch, tmp_path: Path
) -> None:
    (tmp_path / "circle").symlink_to("circle")

    assert folder_watch.listen_in([], [str(tmp_path / "circle" / "file")], []).is_deaf


def test_a_far_folder_that_has_taken_the_place_of_another_counts_when_it_is_listened_in_again(
    folder_watch: FolderWatch, tmp_path: Path
) -> None:
    folder = tmp_path / "far"
    folder.mkdir()
    assert not folder_watch.listen_in([], [], [str(folder)]).is_deaf
    folder.rmdir()
    folder.mkdir()
    assert not folder_watch.listen_in([], [], [str(folder)]).is_deaf
    before = folder_watch.heard()

    (folder / "file").touch()

    assert folder_watch.heard() > before


@pytest.mark.parametrize("order", ["near first", "far first"])
def test_a_folder_with_two_names_is_near_by_the_one_and_far_by_the_other(
    folder_watch: FolderWatch, told: "queue.SimpleQueue[None]", tmp_path: Path, order: str
) -> None:
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    if order == "near first":
        assert not folder_watch.listen_in([str(folder)], [], []).is_deaf
    assert not folder_watch.listen_in([], [], [str(link)]).is_deaf
    if order == "far first":
        assert not folder_watch.listen_in([str(folder)], [], []).is_deaf
    before = folder_watch.heard()

    (folder / "file").touch()

    told.get(timeout=PATIENCE_SECONDS)
    assert folder_watch.heard() > before


def test_what_is_to_be_done_soon_is_done_between_two_stirrings(
    folder_watch: FolderWatch, told: "queue.SimpleQueue[None]"
) -> None:
    folder_watch.do_soon(lambda: told.put(None))

    told.get(timeout=PATIENCE_SECONDS)
