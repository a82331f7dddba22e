"""The file system of a path, as `df` and `stat` tell it."""

import os
import subprocess
from pathlib import Path

import pytest

from whet.host.files.file_systems import file_system_of
from whet.host.kernel.mounts import points_of


@pytest.mark.parametrize("path", ["/", "/proc/self", "/dev/null", "/usr/bin"])
def test_it_is_the_one_that_df_names(path: str) -> None:
    found = file_system_of(path)
    df = subprocess.run(
        ["df", "--output=target", path], check=True, capture_output=True, text=True
    ).stdout.splitlines()[1]

    assert found is not None
    assert found.point == df
    assert found.total_bytes == os.statvfs(path).f_blocks * os.statvfs(path).f_frsize


def test_a_path_that_is_gone_lies_where_its_folder_does(tmp_path: Path) -> None:
    assert file_system_of(str(tmp_path / "gone" / "x")) is not None
    there, gone = file_system_of(str(tmp_path)), file_system_of(str(tmp_path / "gone" / "x"))
    assert there is not None
    assert gone is not None
    assert (there.point, there.kind) == (gone.point, gone.kind)


def test_spaces_and_backslashes_in_mount_points_are_read() -> None:
    line = rb"36 35 98:0 / /mnt/a\040b\134c\011d rw shared:1 - ext4 /dev/root rw"
    assert points_of(line) == [b"/mnt/a b\\c\td"]
