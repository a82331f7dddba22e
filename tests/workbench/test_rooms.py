"""What the options of a room are made into, and which of them are refused."""

import os
from pathlib import Path

import click
import pytest

from whet.cli.options.rooms import ROOM_OPTIONS, room_of
from whet.core.errors import BadUsage, LimitMakesNoSense
from whet.core.room import Disk, Room
from whet.workbench.trials.rooms import settle_room


def _settled(folder: Path, *options: str) -> Room:
    @click.command()
    def command() -> None: ...

    for option in ROOM_OPTIONS:
        option(command)
    room = room_of(command.make_context("whet", list(options)).params)
    assert room is not None
    environment = {"TMPDIR": str(folder / "tmp")}
    return settle_room(room, project=str(folder), cwd=str(folder / "work"), environment=environment)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("tmp", "work"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--disk", "5X"], "`--disk 5X` doesn't start with a size"),
        (["--disk", "-1"], "doesn't start with a size"),
        (["--disk", "100"], "less than one page"),
        (["--disk", "9000T"], "more than this machine's memory"),
        (["--disk", "1M:/proc"], "`/proc` of `--disk` belongs to the kernel, and isn't a disk"),
        (["--disk-free", "9000T"], "more than this machine's memory"),
        (["--disk", "\u0665M"], "doesn't start with a size"),
        (["--inodes", "9" * 30], "is more than a file system can hold"),
        (["--read-only", ""], "`--read-only` was given no path"),
        (["--disk", "1M:/not/there"], "`/not/there` of `--disk` doesn't exist"),
        (["--disk", "1M:/"], "whole machine"),
        (["--disk", "1M:/etc/passwd"], "`/etc/passwd` of `--disk` isn't a folder"),
        (["--disk", "1M:/opt", "--disk-free", "1M:/opt"], "`/opt` gets two file systems"),
        (["--inodes", "0"], "doesn't start with a number"),
        (["--inodes", "many"], "doesn't start with a number"),
        (["--read-only", "/not/there"], "doesn't exist"),
        (["--keep-writes", "kept"], "needs `--clean`"),
        (["--clock", "tomorrow"], "`--clock tomorrow` isn't a date and time"),
        (["--fail", "write"], "doesn't say which call fails"),
        (["--fail", "wrote:EIO"], "`wrote` of `--fail wrote:EIO` isn't a system call"),
        (["--fail", "write:ENOTHING"], "`ENOTHING` of `--fail write:ENOTHING` isn't an error"),
        (["--gpus", "some"], "`--gpus some` is no number"),
        (["--gpu-free", "x=1G"], "`--gpu-free x=1G` isn't a size"),
        (["--gpu-memory", "5X"], "`--gpu-memory 5X` isn't a size"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_value_and_the_next_step(
    folder: Path, options: list[str], says: str
) -> None:
    with pytest.raises((BadUsage, LimitMakesNoSense)) as raised:
        _settled(folder, *options)
    assert says in str(raised.value)
    assert raised.value.hint


def test_more_than_is_free_cannot_be_left(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nearly_full = os.statvfs_result((4096, 4096, 1000, 20, 10, 0, 0, 0, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _path: nearly_full)
    with pytest.raises(LimitMakesNoSense, match="is more than the 40 KiB free there"):
        _settled(folder, "--disk-free", "50K")
    assert _settled(folder, "--disk-free", "30K").disks[0].size_bytes == 30 << 10


def test_a_name_that_is_nearly_a_system_call_brings_the_right_one(folder: Path) -> None:
    with pytest.raises(BadUsage) as raised:
        _settled(folder, "--fail", "wrote:EIO")
    assert "`write`" in raised.value.hint


def test_paths_are_those_of_where_whet_was_called(folder: Path) -> None:
    (folder / "work" / "data").mkdir()
    room = _settled(folder, "--read-only", "data", "--clean", "--keep-writes", "../kept")

    assert room.read_only == (str(folder / "work" / "data"),)
    assert room.keep_writes == str(folder / "kept")
    assert room.project == str(folder)


def test_a_disk_without_a_folder_is_that_of_temporary_files(folder: Path) -> None:
    temporary = str(folder / "tmp")
    assert _settled(folder, "--disk", "1M", "--inodes", "9").disks == (
        Disk(path=temporary, size_bytes=1 << 20, inodes=9),
    )
    assert _settled(folder, "--inodes", "9").disks == (Disk(path=temporary, inodes=9),)


def test_a_link_is_followed_to_what_it_names(folder: Path) -> None:
    (folder / "work" / "data").mkdir()
    (folder / "work" / "link").symlink_to("data")
    room = _settled(folder, "--disk", "1M:link")

    assert room.disks[0].path == os.path.realpath(folder / "work" / "data")
