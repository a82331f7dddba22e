"""What a change can be told by: the times of files, on file systems that have several clocks."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from whet.host.files import file_times
from whet.host.files.file_times import SLACK_NS, clock_of, unsettled_ns, wait_until_settled
from whet.host.files.marks import UNSURE, listing, of_file, sure

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")
_TRIES = 50


def overwrite(path: Path, byte: int) -> os.stat_result:
    with path.open("r+b") as file:
        file.write(bytes([byte]))
    return path.stat()


def same_times_when_settled(folder: Path) -> int:
    """Count changes that have the time of the one before, though that had settled."""
    path, same = folder / "file", 0
    path.write_bytes(b"x")
    found = path.stat()
    for byte in range(_TRIES):
        wait_until_settled([found])
        assert not unsettled_ns(found.st_ctime_ns, found.st_dev)
        later = overwrite(path, byte)
        same += later.st_ctime_ns == found.st_ctime_ns
        found = later
    return same


def test_a_change_of_what_has_settled_has_another_time(tmp_path: Path) -> None:
    assert same_times_when_settled(tmp_path) == 0


@NEEDS_ROOT
@pytest.mark.parametrize("mounted", ["ticks"], indirect=True)
def test_so_has_one_where_the_clock_of_files_goes_in_ticks(mounted: Path) -> None:
    path = mounted / "file"
    path.write_bytes(b"x")
    device = path.stat().st_dev

    assert same_times_when_settled(mounted) == 0
    assert file_times._mount_of(device) == ("ramfs", "ticks")
    # There is something to wait for.
    assert any(unsettled_ns(overwrite(path, byte).st_ctime_ns, device) for byte in range(_TRIES))


@NEEDS_ROOT
@pytest.mark.parametrize("mounted", ["ticks"], indirect=True)
def test_a_device_that_has_the_number_of_an_earlier_one_is_known_by_what_it_is(
    mounted: Path,
) -> None:
    numbers = set[int]()
    for _ in range(5):  # somebody else may take the number
        for kind in ("tmpfs", "ramfs"):
            subprocess.run(["mount", "-t", kind, "none", mounted], check=True)
            try:
                device = mounted.stat().st_dev
                numbers.add(device)

                assert file_times._mount_of(device)[0] == kind
            finally:
                subprocess.run(["umount", mounted], check=True)
    assert len(numbers) < 10


@NEEDS_ROOT
@pytest.mark.parametrize("mounted", ["whole seconds"], indirect=True)
def test_nothing_is_sure_for_two_seconds_where_times_are_whole_seconds(mounted: Path) -> None:
    path = mounted / "file"
    path.write_bytes(b"x")
    began = time.monotonic()
    wait_until_settled([path.stat()])
    waited_ns = (time.monotonic() - began) * 1e9

    assert path.stat().st_ctime_ns % 1_000_000_000 == 0
    assert sure(of_file(str(path))) == UNSURE
    assert listing(str(mounted))[0] == 0
    # Nobody wants to wait so long after each save.
    assert waited_ns < 5 * SLACK_NS


def test_what_is_two_seconds_old_is_sure_where_times_are_whole_seconds() -> None:
    changed_ns = time.time_ns() // 1_000_000_000 * 1_000_000_000

    assert unsettled_ns(changed_ns, 0) > 0
    assert unsettled_ns(changed_ns - 3_000_000_000, 0) == 0


@pytest.mark.parametrize(
    ("kind", "release", "clock"),
    [
        ("ext4", "6.13.0", "fine"),
        ("tmpfs", "7.0-rc1", "fine"),
        ("ext4", "6.12.57+deb13-amd64", "ticks"),
        ("xfs", "5.14.0-503.el9.x86_64", "ticks"),
        ("ramfs", "6.18.2", "ticks"),
        ("devtmpfs", "6.18.2", "ticks"),
        ("nfs4", "6.18.2", "unknown"),
        ("overlay", "6.18.2", "unknown"),
        ("fuse.sshfs", "5.15.0", "unknown"),
        ("ext4", "strange", "ticks"),
    ],
)
def test_the_clock_is_that_of_the_file_system_and_the_kernel(
    kind: str, release: str, clock: str
) -> None:
    assert clock_of(kind, release) == clock


def test_a_file_of_a_device_that_nobody_knows_settles_in_the_longest_tick() -> None:
    left_ns = unsettled_ns(time.time_ns(), -1)

    assert SLACK_NS / 2 < left_ns <= SLACK_NS
