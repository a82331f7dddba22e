"""Files are written whole or not at all; folders go whatever is in them."""

import errno
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from whet.core.errors import CannotWrite, DiskFull
from whet.host.files.files import content_of, remove_tree, storage_error, write_atomically


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    write_atomically(path, b"new" * 100_000)

    assert path.read_bytes() == b"new" * 100_000
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_rights_it_is_given_less_the_umask(tmp_path: Path) -> None:
    write_atomically(tmp_path / "script", b"", mode=0o777)

    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "script").stat().st_mode & 0o777 == 0o777 & ~umask


def test_on_a_full_disk_the_old_file_stays(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a small file system")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", tmp_path], check=True)
    try:
        path = tmp_path / "file"
        path.write_bytes(b"old")
        with pytest.raises(DiskFull, match="no space left"):
            write_atomically(path, b"x" * 200_000)
        assert [entry.read_bytes() for entry in tmp_path.iterdir()] == [b"old"]
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_in_a_read_only_folder_it_is_said(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a file system")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", tmp_path], check=True)
    try:
        with pytest.raises(CannotWrite, match="Read-only"):
            write_atomically(tmp_path / "file", b"x")
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_folder_that_takes_no_files_is_said(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match=r"/proc/a\.npy"):
        write_atomically(Path("/proc/a.npy"), b"")
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "gone" / "a.npy", b"")


def test_an_error_that_is_not_about_space_or_rights_stays_itself() -> None:
    error = OSError(errno.EIO, "broken")

    assert storage_error(error, Path("x")) is error


def test_a_tree_deeper_than_any_path_is_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(110):
        os.mkdir("a" * 40, dir_fd=here)
        below = os.open("a" * 40, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT, dir_fd=here))
    os.close(here)

    remove_tree(top)

    assert list(tmp_path.iterdir()) == []


def test_nothing_outside_is_followed_and_nothing_there_is_fine(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").touch()
    top = tmp_path / "top"
    top.mkdir()
    (top / "link").symlink_to(tmp_path / "outside")

    remove_tree(top)
    remove_tree(top)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "outside")
    remove_tree(link)

    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (tmp_path / "outside" / "file").exists()


def test_ctrl_c_in_the_middle_of_a_file_leaves_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", stopped)

    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "result", b"data")

    assert not list(tmp_path.iterdir())


def test_what_is_no_file_is_never_replaced_by_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(CannotWrite, match="isn't a file"):
        write_atomically(pipe, b"data")

    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    assert pipe.is_fifo()


def test_a_high_limit_of_a_small_file_takes_no_memory(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    tracemalloc.start()
    try:
        assert content_of(tmp_path / "a", most_bytes=1 << 40) == b"abc"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_file_is_read_whole_up_to_its_limit(tmp_path: Path) -> None:
    data = bytes(range(256)) * 10_000
    (tmp_path / "a").write_bytes(data)
    assert content_of(tmp_path / "a") == data
    with pytest.raises(OSError, match="File too large"):
        content_of(tmp_path / "a", most_bytes=len(data) - 1)


_SWAPS = """
import os, sys, tempfile
from pathlib import Path
from whet.host.files.files import remove_tree

def swapped(home, swap, moment):
    # Put a link in the place of a folder at the moment of a system call; return whether it came so far.
    outside, top = home / "outside", home / "top"
    (top / "a" / "b" / "c").mkdir(parents=True)
    (top / "a" / "b" / "c" / "file").touch()
    outside.mkdir(mode=0o755)
    (outside / "b").mkdir()
    (outside / "b" / "kept").touch()
    (outside / "kept").touch()
    seen = []
    def hook(event, _arguments):
        if event.startswith(("os.", "open")) and len(seen) <= moment:
            seen.append(event)
            if len(seen) == moment and os.path.lexists(top / swap):
                seen.append("")
                os.rename(top / swap, home / "moved")
                os.symlink(outside, top / swap)
    if not os.fork():
        sys.addaudithook(hook)
        try:
            remove_tree(top)
        except OSError:
            pass
        os._exit(len(seen) >= moment)
    struck = os.waitstatus_to_exitcode(os.wait()[1])
    assert (outside / "kept").exists() and (outside / "b" / "kept").exists(), (swap, moment)
    assert outside.stat().st_mode & 0o777 == 0o755, (swap, moment)
    return struck

for swap in ("a", "a/b", "a/b/c"):
    moment = 1
    while True:
        with tempfile.TemporaryDirectory() as home:
            if not swapped(Path(home), swap, moment):
                break
        moment += 1
    assert moment > 8
"""


def test_a_link_that_is_put_in_a_tree_at_any_moment_of_its_removal_is_not_followed() -> None:
    done = subprocess.run([sys.executable, "-c", _SWAPS], check=False, capture_output=True)
    assert not done.stderr.decode()
