"""A folder travels as bytes and comes back as it was."""

import io
import os
import socket
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from whet.core.errors import PayloadMissing, PayloadTooLarge, PayloadUnreadable
from whet.host.code import folders
from whet.host.code.folders import pack_folder, put_folder_back, replace_folder, unpack_folder
from whet.host.process.cleanup_journal import CleanupJournal
from whet.reduction.formats.archives.tar_archive import parse_tar


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "data"
    (top / "sub" / "deep").mkdir(parents=True)
    (top / "empty").mkdir()
    (top / "sub" / "run.sh").write_text("echo\n")
    (top / "sub" / "run.sh").chmod(0o755)
    (top / "sub" / "deep" / ("n" * 200)).write_bytes(bytes(range(256)) * 9)
    (top / os.fsdecode(b"na\xffme \xc3\xa9")).write_text("x")
    (top / "up").symlink_to("../../elsewhere")
    (top / "in").symlink_to("sub")
    (top / "private").mkdir(mode=0o700)
    (top / "private" / "key").write_text("k")
    (top / "private" / "key").chmod(0o400)
    return top


def looks(folder: Path) -> dict[str, tuple[int, object]]:
    found: dict[str, tuple[int, object]] = {}
    for path in sorted(folder.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        content: object = None
        if path.is_symlink():
            content = path.readlink()
        elif path.is_file():
            content = path.read_bytes()
        found[str(path.relative_to(folder))] = (mode, content)
    return found


def test_a_folder_comes_back_as_it_was(folder: Path, tmp_path: Path) -> None:
    data = pack_folder(folder)

    unpack_folder(data, tmp_path / "copy")

    assert looks(tmp_path / "copy") == looks(folder)
    assert pack_folder(tmp_path / "copy") == data


def test_any_part_of_it_is_packed_again_as_that_part(folder: Path, tmp_path: Path) -> None:
    archive = parse_tar(pack_folder(folder))
    assert archive is not None

    for number in range(len(archive.members)):
        part = archive.having([*archive.members[:number], *archive.members[number + 1 :]])
        if archive.members[number].path == b"private":
            continue  # what is left in it then lies in a folder of the usual mode
        unpack_folder(part, tmp_path / str(number))
        assert pack_folder(tmp_path / str(number)) == part


def test_a_replaced_folder_is_never_a_part(folder: Path, tmp_path: Path) -> None:
    cleanup_journal = CleanupJournal(tmp_path / "made")
    result = tmp_path / "result"

    replace_folder(result, pack_folder(folder), cleanup_journal)
    assert looks(result) == looks(folder)
    replace_folder(result, bytes(1024), cleanup_journal)

    assert looks(result) == {}
    assert sorted(path.name for path in tmp_path.iterdir()) in (
        ["data", "made", "result"],
        ["data", "result"],
    )


def test_what_was_half_written_by_a_killed_whet_goes_at_the_next_start(
    folder: Path, tmp_path: Path
) -> None:
    script = (
        "import sys, os, pathlib\n"
        "import whet.host.code.folders as folders\n"
        "from whet.host.process.cleanup_journal import CleanupJournal\n"
        "folders._exchange = lambda one, other: os.kill(os.getpid(), 9)\n"
        "top = pathlib.Path(sys.argv[1])\n"
        "data = folders.pack_folder(top)\n"
        "cleanup_journal = CleanupJournal(pathlib.Path(sys.argv[2]))\n"
        "folders.replace_folder(top.with_name('result'), data, cleanup_journal)\n"
        "folders.replace_folder(top.with_name('result'), data, cleanup_journal)\n"
    )
    made = tmp_path / "made"
    words = [sys.executable, "-c", script, str(folder), str(made)]

    assert subprocess.run(words, check=False).returncode == -9
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    CleanupJournal(made).sweep()

    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert looks(tmp_path / "result") == looks(folder)


def test_what_a_command_changed_is_put_back_and_what_it_made_stays(folder: Path) -> None:
    data, before = pack_folder(folder), looks(folder)
    assert not put_folder_back(folder, data)

    (folder / "sub" / "run.sh").write_text("other")
    (folder / "up").unlink()
    (folder / "empty").rmdir()
    (folder / "new").write_text("made")
    (folder / "sub" / "__pycache__").mkdir()
    (folder / "sub" / "__pycache__" / "m.pyc").write_text("code")

    assert put_folder_back(folder, data)
    assert looks(folder) == {**before, "new": looks(folder)["new"]}
    assert (folder / "new").read_text() == "made"


def test_a_folder_that_holds_too_much_is_refused_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (folder / "sub" / "large").open("wb") as file:
        file.truncate(1 << 30)

    with pytest.raises(PayloadTooLarge, match=r"1\.1 GB") as caught:
        pack_folder(folder, "data")
    assert "`sub` (1.1 GB)" in (caught.value.hint or "")

    (folder / "sub" / "large").unlink()
    monkeypatch.setattr(folders, "MOST_FILES", 5)
    with pytest.raises(PayloadTooLarge, match=r"at most .* in 5 files"):
        pack_folder(folder)


def test_a_socket_or_a_pipe_in_it_is_refused_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "s"))
        with pytest.raises(PayloadUnreadable, match="d/s` is a pipe, a socket or a device"):
            pack_folder(folder)
    (folder / "s").unlink()
    os.mkfifo(folder / "p")
    with pytest.raises(PayloadUnreadable, match="d/p` is a pipe, a socket or a device"):
        pack_folder(folder)


def test_nothing_is_unpacked_outside_of_the_folder(tmp_path: Path) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("../outside"))

    with pytest.raises(PermissionError):
        unpack_folder(file.getvalue(), tmp_path / "in")

    assert not (tmp_path / "outside").exists()


def test_a_full_disk_leaves_the_last_result_whole(folder: Path, tmp_path: Path) -> None:
    script = (
        "import resource, sys, pathlib\n"
        "from whet.core.errors import DiskFull\n"
        "from whet.host.process.cleanup_journal import CleanupJournal\n"
        "from whet.host.code.folders import pack_folder, replace_folder\n"
        "top = pathlib.Path(sys.argv[1])\n"
        "result, data = top.with_name('result'), pack_folder(top)\n"
        "cleanup_journal = CleanupJournal(pathlib.Path(sys.argv[2]))\n"
        "replace_folder(result, data, cleanup_journal)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    replace_folder(result, data, cleanup_journal)\n"
        "except DiskFull:\n"
        "    sys.exit(7)\n"
    )

    words = [sys.executable, "-c", script, str(folder), str(tmp_path / "made")]

    assert subprocess.run(words, check=False).returncode == 7
    assert looks(tmp_path / "result") == looks(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "made", "result"]


def test_where_names_cannot_be_exchanged_the_folder_is_replaced_in_two_steps(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleanup_journal, result = CleanupJournal(tmp_path / "made"), tmp_path / "result"
    replace_folder(result, bytes(1024), cleanup_journal)
    monkeypatch.setattr(folders, "_EXCHANGE", 1 << 30)  # the kernel knows no such flag

    replace_folder(result, pack_folder(folder), cleanup_journal)

    assert looks(result) == looks(folder)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_folder_that_is_gone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PayloadMissing, match="nothing"):
        pack_folder(tmp_path / "nothing")


def test_nothing_is_unpacked_through_a_link_that_leads_out(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        link = tarfile.TarInfo("out")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("out/taken"))

    with pytest.raises(PermissionError):
        unpack_folder(packed.getvalue(), tmp_path / "folder")

    assert not (tmp_path / "taken").exists()


def test_what_is_no_packed_folder_is_refused_as_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="can't read the packed"):
        unpack_folder(b"no archive", tmp_path / "folder")
