"""A shrink passes on the code on which the command passed before, which nobody has to name."""

import json
import sys
from typing import Any

import pytest
from whet_command import Said, Whet

pytestmark = pytest.mark.slow

PYTHON = sys.executable
COMMAND = ("--", PYTHON, "search.py", "data.txt")
OLDER, NEWER = "not text.strip()", 'not text.strip() or "crash" in text'
PROGRAM = "import sys\ntext = open(sys.argv[1]).read()\nif {}:\n    raise SystemError('met')\n"
DATA = "hay\n" * 9 + "a crash\n" + "hay\n" * 9


def last(said: Said) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])["payloads"][0]
    return found


def first_line(said: Said) -> str:
    return next(line for line in said.stdout.splitlines() if line.startswith("data.txt: "))


def commit(whet: Whet, condition: str) -> None:
    whet.git("init", "--quiet")
    whet.write("search.py", PROGRAM.format(condition))
    whet.write("data.txt", DATA)
    whet.git("add", ".")
    whet.git("commit", "--quiet", "-m", "all")


def test_each_step_passes_on_the_code_of_the_last_trial_that_passed(whet: Whet) -> None:
    commit(whet, OLDER)
    assert whet("run", *COMMAND).code == 0
    whet.write("search.py", PROGRAM.format(NEWER))
    whet.git("commit", "--quiet", "-am", "more")

    said = whet("shrink", "data.txt", *COMMAND)

    assert (whet.folder / "data.shrunk.txt").read_text() == "crash"
    assert first_line(said).endswith("; passes on the code of trial 1")


@pytest.mark.long
def test_each_step_passes_on_the_last_commit_where_something_is_edited(whet: Whet) -> None:
    commit(whet, OLDER)
    whet.write("search.py", PROGRAM.format(NEWER))

    said = whet("shrink", "data.txt", "--json", *COMMAND)

    assert (whet.folder / "data.shrunk.txt").read_text() == "crash"
    assert last(said)["guarded_by"] == "the last commit"
    assert last(said)["not_excluded"] == ""


def test_without_a_good_side_the_first_line_says_what_is_not_excluded(whet: Whet) -> None:
    commit(whet, NEWER)

    said = whet("shrink", "data.txt", *COMMAND)

    assert (whet.folder / "data.shrunk.txt").read_text() == ""
    assert first_line(said).endswith("; not excluded: an older bug in the same place")


def test_code_on_which_it_fails_too_is_no_good_side(whet: Whet) -> None:
    commit(whet, NEWER)
    whet.write("search.py", PROGRAM.format(NEWER) + "# edited\n")

    said = whet("shrink", "data.txt", "--json", *COMMAND)

    assert last(said)["guarded_by"] == ""
    assert last(said)["not_excluded"] == "an older bug in the same place"


def test_a_bare_assert_is_said_to_be_all_that_is_held_on_to(whet: Whet) -> None:
    whet.write(
        "search.py", "import sys\ntext = open(sys.argv[1]).read()\nassert 'crash' not in text\n"
    )
    whet.write("data.txt", DATA)

    said = whet("shrink", "data.txt", *COMMAND)

    assert first_line(said).endswith("; not excluded: another value at the same assert")


NO_END = "import sys\ntext = open(sys.argv[1]).read()\nif 'end' not in text or 'crash' in text:\n    raise SystemError('met')\n"


@pytest.mark.long
def test_what_is_a_part_of_a_good_file_beside_it_shows_nothing(whet: Whet) -> None:
    whet.write("search.py", NO_END)
    whet.write("data.txt", DATA + "end\n")
    whet.write("data.good.txt", "hay\n" * 20 + "end\n")

    said = whet("shrink", "data.txt", *COMMAND)

    left = (whet.folder / "data.shrunk.txt").read_text()
    assert left
    assert not set(left.splitlines()) <= {"hay", "end"}
    assert "; not a part of data.good.txt, which passes; not excluded: " in first_line(said)


def test_a_file_beside_it_that_fails_too_is_no_good_side(whet: Whet) -> None:
    whet.write("search.py", NO_END)
    whet.write("data.txt", DATA + "end\n")
    whet.write("data.ok.txt", "hay\n")

    said = whet("shrink", "data.txt", "--json", *COMMAND)

    assert last(said)["good_file"] == ""
    assert last(said)["after_bytes"] == 0


@pytest.mark.long
@pytest.mark.parametrize("way", ["trial", "commit", "before"])
def test_the_file_as_it_was_when_it_passed_is_a_good_side(whet: Whet, way: str) -> None:
    commit(whet, "'end' not in text or 'crash' in text")
    whet.write("data.txt", "hay\nend\n")
    whet.git("commit", "--quiet", "-am", "passes")
    if way == "trial":
        whet.write("data.txt", "hay\nhay\nend\n")
        assert whet("run", *COMMAND).code == 0
    whet.write("data.txt", DATA + "end\n")
    if way == "before":
        whet.git("commit", "--quiet", "-am", "fails")

    said = whet("shrink", "data.txt", "--json", *COMMAND)

    labels = {"trial": "trial 1", "commit": "the last commit", "before": "the commit before"}
    assert last(said)["good_file"] == f"`data.txt` of {labels[way]}"
    assert last(said)["after_bytes"] > 0
