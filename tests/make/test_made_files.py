"""Texts, bytes and trees from nothing."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

import whet
from whet.core.errors import BadUsage, CannotWrite, DiskFull, NotEnoughMemory
from whet.make.documents.raw import BYTES_FILLS
from whet.make.edges import BYTES, TEXTS
from whet.make.files import tree


def test_a_text_counts_its_words() -> None:
    assert whet.make.text(2, 2) == "1 2\n3 4\n"
    assert whet.make.text(3, 2, "coordinates") == "0 1\n1000 1001\n2000 2001\n"
    assert whet.make.text(1, 3, "constant", value=7) == "7 7 7\n"
    assert whet.make.text(0, 3) == ""


def test_random_words_are_the_same_on_every_machine() -> None:
    made = whet.make.text(3, 3, "random", seed=1)

    assert made == "in river apple\nof one one\nsmall river in\n"
    assert made != whet.make.text(3, 3, "random", seed=2)


def test_the_edges_of_a_text_are_a_line_each() -> None:
    assert whet.make.text(len(TEXTS), 1, "edge") == "".join(f"{each}\n" for each in TEXTS)


@pytest.mark.parametrize("fill", BYTES_FILLS)
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 256, 5000])
def test_there_are_as_many_bytes_as_one_asks_for(fill: str, size: int) -> None:
    assert len(whet.make.bytes(size, fill)) == size


def test_bytes_count_and_start_again() -> None:
    assert whet.make.bytes(300)[:3] == b"\x01\x02\x03"
    assert whet.make.bytes(300)[254:258] == b"\xff\x00\x01\x02"
    assert whet.make.bytes(3, "constant", value=0xAB) == b"\xab\xab\xab"
    assert whet.make.bytes(400, "edge").startswith(b"".join(BYTES)[:200])


def test_random_bytes_are_the_same_on_every_machine() -> None:
    assert (
        hashlib.sha256(whet.make.bytes(1000, "random", seed=1)).hexdigest()[:16]
        == "12fb603870222539"
    )


@pytest.mark.parametrize(("border", "length"), [("row", 16), ("block", 512), ("page", 4096)])
def test_guards_stand_at_the_borders_of_bytes(border: str, length: int) -> None:
    made = whet.make.bytes(3 * length, "deadbeef", border=border)

    for start in range(0, len(made), length):
        assert made[start : start + 4].hex() == "deadbeef"
        assert made[start + length - 4 : start + length].hex() == "beefdead"
    assert made.count(bytes.fromhex("deadbeef")) == 3


def test_a_tree_has_files_that_count(tmp_path: Path) -> None:
    top = whet.make.tree(tmp_path / "top", depth=3, width=2)

    files = sorted(each for each in top.rglob("*") if each.is_file())
    assert sorted(int(each.read_text()) for each in files) == list(range(1, 15))
    assert (top / "folder2" / "folder1" / "file1.txt").exists()


def contents(top: Path) -> list[tuple[str, int, float, object]]:
    found: list[tuple[str, int, float, object]] = []
    for each in sorted([top, *top.rglob("*")]):
        status = each.lstat()
        data = (
            str(each.readlink())
            if each.is_symlink()
            else each.read_bytes()
            if each.is_file()
            else ""
        )
        found.append((str(each.relative_to(top)), status.st_mode, status.st_mtime, data))
    return found


@pytest.mark.parametrize("fill", tree.TREE_FILLS)
def test_a_tree_is_the_same_each_time(tmp_path: Path, fill: str) -> None:
    first, second = (whet.make.tree(tmp_path / name, 2, 2, fill) for name in ("a", "b"))
    for top in (first, second):
        for each in top.glob("forbidden.txt"):
            each.chmod(0o600)

    assert contents(first) == contents(second)
    assert {time for _, _, time, _ in contents(first)} == {315_532_800.0}


def test_the_edges_of_a_tree_are_there(tmp_path: Path) -> None:
    top = whet.make.tree(tmp_path / "top", fill="edge")
    names = [os.fsencode(each.name) for each in top.iterdir()]

    assert {b"new\nline", b"-dash", b"\xff not UTF-8", b"x" * 255} < {*names}
    assert not (top / "link to nothing").exists()
    with pytest.raises(OSError, match="symbolic links"):
        (top / "link to itself").stat()
    assert (top / "forbidden.txt").stat().st_mode & 0o777 == 0
    assert len(list(top.rglob("deep"))) == 60


def test_what_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "empty").mkdir()

    with pytest.raises(CannotWrite, match="is there already"):
        whet.make.tree(tmp_path / "full")
    assert whet.make.tree(tmp_path / "empty", 1, 1) == tmp_path / "empty"
    assert [each.name for each in (tmp_path / "full").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_a_full_disk_or_ctrl_c_leaves_no_part_of_a_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(os, "utime", fail)  # after the last file is written

    with pytest.raises(DiskFull if isinstance(error, OSError) else KeyboardInterrupt):
        whet.make.tree(tmp_path / "top")
    assert list(tmp_path.iterdir()) == []


def test_what_can_not_be_is_refused(tmp_path: Path) -> None:
    for refused in (
        lambda: whet.make.text(-1),
        lambda: whet.make.text(fill="normal"),
        lambda: whet.make.bytes(-1),
        lambda: whet.make.bytes(fill="eye"),
        lambda: whet.make.bytes(16, "deadbeef", border="line"),
        lambda: whet.make.tree(tmp_path / "a", -1),
        lambda: whet.make.tree(tmp_path / "a", fill="random"),
    ):
        with pytest.raises(BadUsage):
            refused()
    for too_large in (
        lambda: whet.make.text(10**12, 10),
        lambda: whet.make.bytes(10**15),
        lambda: whet.make.tree(tmp_path / "a", 60, 10),
    ):
        with pytest.raises(NotEnoughMemory):
            too_large()
    assert list(tmp_path.iterdir()) == []
