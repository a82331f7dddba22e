"""What an editor holds and no file has, and what was saved too late to run."""

import os
from pathlib import Path

import pytest

from whet.host.code.editing import saved_since, unsaved_below, unsaved_beside

NAMES = [
    "prog.py",
    "with space.py",
    "-rf.py",
    "$(id).py",
    "new\nline.py",
    os.fsdecode(b"\xff\xfe.py"),
]
"""Names as they may be, also such that are no UTF-8."""


def vim_swap(*, is_modified: bool) -> bytes:
    """Return block 0 of a swap file as Vim writes it."""
    block = bytearray(4096)
    block[:12] = b"b0VIM 9.0\0\0\0"
    block[1007] = 0x55 if is_modified else 0
    return bytes(block)


@pytest.mark.parametrize("name", NAMES)
def test_changes_that_vim_holds_are_told_and_an_open_file_alone_is_not(
    name: str, tmp_path: Path
) -> None:
    file, swap = tmp_path / name, tmp_path / f".{name}.swp"
    file.write_text("x = 1\n")
    swap.write_bytes(vim_swap(is_modified=False))

    assert unsaved_beside(str(file)) == ""
    assert unsaved_below(tmp_path) == []

    swap.write_bytes(vim_swap(is_modified=True))

    assert unsaved_beside(str(file)) == str(swap)
    assert unsaved_below(tmp_path) == [str(file)]


def test_a_lock_of_emacs_counts_while_its_emacs_runs(tmp_path: Path) -> None:
    file, lock = tmp_path / "prog.py", tmp_path / ".#prog.py"
    file.touch()
    lock.symlink_to(f"ada@{os.uname().nodename}.{os.getpid()}:1700000000")

    assert unsaved_beside(str(file)) == str(lock)

    lock.unlink()
    lock.symlink_to(f"ada@{os.uname().nodename}.{2**22 + 1}:1700000000")  # above any process

    assert unsaved_beside(str(file)) == ""


def test_what_emacs_saved_by_itself_counts_until_the_file_is_saved(tmp_path: Path) -> None:
    file, kept = tmp_path / "prog.py", tmp_path / "#prog.py#"
    file.touch()
    kept.touch()
    os.utime(file, (1, 1))

    assert unsaved_below(tmp_path) == [str(file)]

    os.utime(kept, (0, 0))

    assert unsaved_below(tmp_path) == []


def test_a_swap_file_of_nothing_is_nothing(tmp_path: Path) -> None:
    (tmp_path / ".gone.py.swp").write_bytes(vim_swap(is_modified=True))

    assert unsaved_below(tmp_path) == []


def test_what_was_saved_after_a_moment_is_told(tmp_path: Path) -> None:
    early, late = tmp_path / "early.py", tmp_path / "late.py"
    for path, at in ((early, 100.0), (late, 200.0)):
        path.touch()
        os.utime(path, (at, at))

    assert saved_since([str(early), str(late), str(tmp_path / "gone")], 150.0) == [str(late)]
