"""A report goes into a folder that whet has made, and onto no file of the user's."""

import sys
from pathlib import Path

import pytest
from whet_command import Whet

FAILS = (sys.executable, "-c", "raise KeyError(1)")
QUICK = ("investigate", "--no-changes", "--no-releases")
OURS = {"report.md", "report.html", "report.json", "reproduce.sh"}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_next_report_takes_the_place_of_the_last_one(whet: Whet) -> None:
    for _ in range(2):
        whet(*QUICK, "--", *FAILS)
        assert names(whet.folder) == {"whet-report"}
        assert names(whet.folder / "whet-report") == OURS


@pytest.mark.parametrize("name", ["notes.md", "report.md"])
def test_a_folder_of_the_users_with_the_reports_name_stays(whet: Whet, name: str) -> None:
    mine = whet.write(f"whet-report/{name}", "precious")

    whet(*QUICK, "--", *FAILS)

    assert mine.read_text() == "precious"
    assert names(mine.parent) == {name}
    assert names(whet.folder / "whet-report-2") == OURS


@pytest.mark.long
def test_a_report_that_the_user_has_changed_stays(whet: Whet) -> None:
    whet(*QUICK, "--", *FAILS)
    mine = whet.write("whet-report/report.md", "what I think of it")

    whet(*QUICK, "--", *FAILS)

    assert mine.read_text() == "what I think of it"
    assert names(whet.folder / "whet-report-2") == OURS


@pytest.mark.parametrize("named", [".", "theirs"])
def test_a_folder_that_was_named_and_holds_other_things_gets_one_of_its_own(
    whet: Whet, named: str
) -> None:
    folder = whet.folder / named
    mine = whet.write(f"{named}/report.json", "precious")

    whet(*QUICK, "-o", named, "--", *FAILS)

    assert mine.read_text() == "precious"
    assert names(folder) == {"report.json", "whet-report"}
    assert names(folder / "whet-report") == OURS


def test_an_empty_folder_that_was_named_is_where_it_goes(whet: Whet) -> None:
    (whet.folder / "mine").mkdir()

    whet(*QUICK, "-o", "mine", "--", *FAILS)

    assert names(whet.folder / "mine") == OURS


def test_no_file_is_written_through_a_link(whet: Whet, tmp_path: Path) -> None:
    whet(*QUICK, "--", *FAILS)
    theirs = tmp_path / "theirs.md"
    (whet.folder / "whet-report" / "report.md").rename(theirs)
    (whet.folder / "whet-report" / "report.md").symlink_to(theirs)
    before = theirs.read_bytes()

    whet(*QUICK, "--", *FAILS)

    assert theirs.read_bytes() == before
    assert names(whet.folder / "whet-report-2") == OURS
