"""Nothing that is put in the way of a folder leads out of the one above it."""

from pathlib import Path

import pytest

from whet.core.errors import CannotWrite
from whet.host.files.below import folder_below


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "top"
    folder.mkdir()
    return folder


def test_a_link_out_of_it_is_refused_by_name(top: Path, outside: Path) -> None:
    (top / "a").symlink_to(outside)
    with pytest.raises(CannotWrite, match="a link leads out"), folder_below(top, top / "a" / "b"):
        pass
    assert not list(outside.iterdir())


def test_a_link_that_stays_below_is_followed(top: Path) -> None:
    (top / "b").mkdir()
    (top / "a").symlink_to("b")
    with folder_below(top, top / "a" / "c") as folder:
        (folder / "file").touch()
    assert (top / "b" / "c" / "file").is_file()


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_is_in_the_way_goes_where_the_folder_replaces_it(
    top: Path, outside: Path, kind: str
) -> None:
    if kind == "link":
        (top / "a").symlink_to(outside)
    else:
        (top / "a").touch()
    with folder_below(top, top / "a" / "b", replaces=True) as folder:
        (folder / "file").touch()
    assert (top / "a" / "b" / "file").is_file()
    assert not list(outside.iterdir())


def test_a_link_that_is_put_in_its_place_meanwhile_is_not_followed(
    top: Path, outside: Path
) -> None:
    with folder_below(top, top / "a") as folder:
        (top / "a").rename(top / "moved")
        (top / "a").symlink_to(outside)
        (folder / "file").touch()
    assert (top / "moved" / "file").is_file()
    assert not list(outside.iterdir())
