"""What ``whet investigate`` says of the change that brought a failure."""

import json
from pathlib import Path
from typing import Any

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

PROGRAM = """
import json, sys
a = {a}
pad1 = pad2 = pad3 = 0
pad4 = pad5 = pad6 = 0
pad7 = pad8 = pad9 = 0
b = {b}
pad1 = pad2 = pad3 = 0
pad4 = pad5 = pad6 = 0
pad7 = pad8 = pad9 = 0
c = {c}
config = json.load(open(sys.argv[1])) if sys.argv[1:] else {}
if b == 22 and config.get("x", 1) == 1:
    raise KeyError("price")
"""


def program(a: int, b: int, c: int) -> str:
    text = PROGRAM
    for name, value in (("a", a), ("b", b), ("c", c)):
        text = text.replace("{" + name + "}", str(value))
    return text


def report(whet: Whet) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (Path(whet.folder) / "whet-report" / "report.json").read_text()
    )
    return found


def test_the_hunk_of_the_commit_and_the_setting_that_decide_are_named(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    (whet.folder / "bad.json").write_text('{"x": 1, "y": 2}')
    whet.commit("one", app_py=program(1, 2, 3))
    changed = whet.commit("two", app_py=program(11, 22, 33))
    (whet.folder / "good.json").write_text('{"x": 0, "y": 3}')

    said = whet("investigate", "--good-config", "good.json", "--", "python3", "app.py", "bad.json")

    found = report(whet)
    assert said.code == 0, said.stderr
    assert found["history"]["first_bad"] == changed[:10]
    assert found["part"]["places"] == ["app.py:7"]
    assert (found["part"]["hunks_before"], found["part"]["hunks_after"]) == (3, 1)
    assert "+b = 22" in found["part"]["diff"]
    assert "good.json fails with setting x: `0` → `1`" in said.stderr
    assert "of 3 hunks causes it: app.py:7" in " ".join(said.stdout.split())
    assert "+b = 22" in (whet.folder / "whet-report" / "report.md").read_text()
    assert json.loads((whet.folder / "bad.json").read_text()) == {"x": 1, "y": 2}


@pytest.mark.long
def test_what_a_good_configuration_shows_is_the_cause_in_the_box_of_each_output(whet: Whet) -> None:
    whet.write("app.py", program(1, 22, 3))
    whet.write("bad.json", '{"x": 1, "y": 2}')
    whet.write("good.json", '{"x": 0, "y": 3}')

    said = whet("investigate", "--good-config", "good.json", "--", "python3", "app.py", "bad.json")

    found = report(whet)["answer"]
    decides = "good.json fails with setting x: `0` → `1`"
    assert decides in found["cause"]["says"]
    assert found["cause"]["sureness"] == "shown"
    assert found["cause"]["trials"]
    assert f"cause: {decides}" in " ".join(said.stdout.split())
    for page, ends in (("report.md", "## Reproduce it"), ("report.html", "</section>")):
        box = (whet.folder / "whet-report" / page).read_text().split(ends)[0]
        assert "good.json fails with setting x:" in box


READER = """
def read(text):
    return [int(word) for word in text.split()]

lengths = read("3 -4 5")
"""
READS = "import math\nprint([math.log(each) for each in lengths])\n"


@pytest.mark.long
def test_a_commit_that_only_adds_the_line_that_fails_is_not_called_the_cause(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.commit("one", app_py=READER)
    whet.commit("two", app_py=READER + "print(len(lengths))\n")
    changed = whet.commit("three", app_py=READER + "print(len(lengths))\n" + READS)

    said = whet("investigate", "--no-changes", "--", "python3", "app.py")

    found, box = report(whet)["answer"], " ".join(said.stdout.split())
    assert report(whet)["history"]["first_bad"] == changed[:10]
    assert found["cause"] is None
    assert "cause: " not in box
    assert "where it began to fail: " in box
    assert "adds the line that fails (app.py:8), so the bad value may be older" in box
    assert "causes it" not in box


def test_a_configuration_that_is_not_there_leaves_no_folder(whet: Whet) -> None:
    whet.write("app.py", program(1, 22, 3))
    whet.write("bad.json", '{"x": 1, "y": 2}')

    said = whet("investigate", "--good-config", "gone.json", "--", "python3", "app.py", "bad.json")

    assert said.code == 66
    assert not (whet.folder / "whet-report").exists()


@pytest.mark.long
def test_where_the_last_commit_passes_the_edit_that_brings_it_is_named(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.commit("one", app_py=program(1, 2, 3))
    whet.commit("two", app_py=program(1, 2, 4))
    (whet.folder / "app.py").write_text(program(11, 22, 4))

    said = whet("investigate", "--", "python3", "app.py")

    found = report(whet)
    assert found["part"]["places"] == ["app.py:7"]
    assert (found["part"]["hunks_before"], found["part"]["hunks_after"]) == (2, 1)
    assert "it passes without your uncommitted edits" in said.stderr
    assert (whet.folder / "app.py").read_text() == program(11, 22, 4)


@pytest.mark.long
def test_the_last_attempt_that_passed_is_found_and_compared_with(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.commit("one", app_py=program(1, 2, 3))
    words = ("--", "python3", "app.py")
    codes: list[int] = []
    for attempt in (program(1, 2, 3), program(5, 2, 3), program(5, 22, 7)):
        (whet.folder / "app.py").write_text(attempt)
        codes.append(whet("run", *words).code)

    said = whet("investigate", *words)

    assert codes == [0, 0, 1]
    assert "Compare with trial 2  it passed: find the differences that decide" in said.stderr
    assert "trial 2 fails with" in said.stderr
    decides = said.stderr.split("trial 2 fails with", 1)[1].splitlines()[0]
    assert "app.py:7" in decides
    assert "app.py:10" not in decides  # `c` has changed since then too


MONEY = """from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def cents(value):
    return Decimal(value).quantize(CENT, rounding=ROUND_HALF_UP)
"""
MONEY_WITH_PLACES = """from decimal import Decimal, localcontext

PLACES = 2


def quantum(places=PLACES):
    return Decimal(1).scaleb(-places)


def cents(value, places=PLACES):
    with localcontext() as context:
        context.prec = 28
        return Decimal(value).quantize(quantum(places))
"""


@pytest.mark.long
def test_of_a_commit_whose_hunks_need_each_other_the_line_is_named_with_what_it_was(
    whet: Whet,
) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    check = "from money import cents\n\nassert cents('0.665') == cents('0.67')\n"
    whet.commit("one", app_py=check, money_py=MONEY)
    whet.commit("two", money_py=MONEY_WITH_PLACES, notes="places")

    whet("investigate", "--no-changes", "--budget", "2m", "--", "python3", "app.py")

    found = report(whet)
    assert found["part"]["undoing"]["places"] == ["money.py:13"]
    says = found["answer"]["cause"]["says"]
    became = "`return Decimal(value).quantize(CENT, rounding=ROUND_HALF_UP)` became"
    assert f"What decides is at money.py:13: {became}" in says
    assert "with money.py:13 as it was it passes (money.py:1, money.py:3 undone too)" in says
    assert found["answer"]["cause"]["sureness"] == "shown"
    first, second = whet.git("log", "--format=%h", "--abbrev=10", "--reverse").split()
    diff = f"git diff {first} {second} -- money.py"
    assert found["answer"]["next_step"] == f"Look at money.py:13 in the change: `{diff}`."
    assert "+        return Decimal(value)" in whet.git(*diff.split()[1:])
    page = (whet.folder / "whet-report" / "report.md").read_text()
    assert "The other way round, with money.py:13 as it was it passes" in page


@pytest.mark.long
def test_a_change_of_many_parts_that_matter_takes_no_more_than_some_trials(whet: Whet) -> None:
    """Each of 200 files is needed: no part can go, and to show that takes hundreds of trials."""
    whet.git("init", "--quiet", "--initial-branch=main")
    for number in range(200):
        whet.write(f"part{number}", "0")
    text = "import pathlib\nif all(path.read_text() == '1' for path in"
    text += " pathlib.Path(__file__).parent.glob('part*')):\n    raise KeyError('price')\n"
    whet.commit("one", app_py=text)
    for number in range(200):
        whet.write(f"part{number}", "1")
    changed = whet.commit("two")

    whet("investigate", "--", "python3", "app.py")

    found = report(whet)
    assert found["history"]["first_bad"] == changed[:10]
    assert found["part"]["stopped"] == "out_of_trials"
    assert found["part"]["trials"] <= 61


def test_a_configuration_that_the_command_does_not_name_is_refused_before_a_run(
    whet: Whet,
) -> None:
    (whet.folder / "app.py").write_text(program(1, 22, 3))

    said = whet("investigate", "--good-config", "good.yaml", "--", "python3", "app.py")

    assert said.code == 64
    assert "names no file that ends in `.yaml`" in said.stderr
    assert "run 1" not in said.stderr


@pytest.mark.parametrize(
    "words",
    [("--good-config", "gone.json"), ("--good-packages", "gone.txt"), ("--good-trial", "99")],
)
def test_what_is_to_be_compared_with_and_is_not_there_is_refused_before_a_run(
    words: tuple[str, str], whet: Whet
) -> None:
    whet.write("app.py", "raise KeyError('price')\n")
    (whet.folder / "bad.json").write_text("{}")
    said = whet("investigate", *words, "--", "python3", "app.py", "bad.json")

    assert said.code not in {0, 70}
    assert words[1] in said.stderr
    assert "run 1" not in said.stderr
    assert not (whet.folder / "whet-report").exists()


@pytest.mark.long
def test_a_part_that_brings_it_is_not_said_to_be_the_only_one_that_does(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    rest = "pad = 0\n" * 9
    text = "a = {0}\n" + rest + "b = {0}\n" + rest + "assert not (a or b)\n"
    whet.commit("one", app_py=text.format(0))
    whet.commit("two", app_py=text.format(1))
    assert whet("investigate", "--", "python3", "app.py").code == 0

    told = (whet.folder / "whet-report" / "report.md").read_text()
    assert report(whet)["part"]["hunks_after"] == 1
    assert "without that it passes" not in told, "the other hunk brings it too"


@pytest.mark.long
def test_in_a_repository_of_one_commit_the_edit_that_brings_it_is_named(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.commit("one", app_py=program(1, 2, 3))
    (whet.folder / "app.py").write_text(program(11, 22, 4))

    whet("investigate", "--no-changes", "--", "python3", "app.py")

    found = report(whet)
    assert found["part"]["places"] == ["app.py:7"]
    assert "app.py:7" in found["answer"]["cause"]["says"]
    assert found["answer"]["cause"]["sureness"] == "shown"


@pytest.mark.long
def test_what_whet_and_python_have_left_there_before_is_no_edit(whet: Whet) -> None:
    whet.git("init", "-q")
    whet.commit("all", main_py="import other\n", other_py="assert 1 == 2\n")
    whet.write("__pycache__/old.cpython-311.pyc", "x")
    for report in ("whet-report", "whet-report-2"):
        said = whet("investigate", "--no-changes", "-o", report, "--", "python3", "main.py")
        assert (whet.folder / report / "report.json").exists()

        assert "Search your edits" not in said.stderr


@pytest.mark.long
def test_a_script_of_the_repository_that_is_run_by_its_path_has_a_history(whet: Whet) -> None:
    whet.git("init", "-q")
    run = whet.write("run.sh", "#!/bin/sh\nexec python3 -c 'import shop'\n")
    run.chmod(0o755)
    for number in range(3):
        whet.commit(f"change {number}", shop_py=f"assert {number} < 2, 'no'\n")
    whet("investigate", "--no-changes", "--", "./run.sh")
    found = json.loads((whet.folder / "whet-report" / "report.json").read_text())

    assert found["history_remark"] == ""
    assert "change 2" in found["answer"]["says"]


def test_edits_without_which_it_fails_too_are_not_accused(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.commit("one", app_py=program(1, 22, 3))
    (whet.folder / "app.py").write_text(program(11, 22, 4))

    said = whet("investigate", "--no-changes", "--", "python3", "app.py")

    assert report(whet)["part"] is None
    assert "whet didn't search them: " in said.stderr
    assert "hunk" not in said.stdout


KEEPS = """
import json, os

def positions(words):
    if not os.path.exists("build/positions.json"):
        os.makedirs("build", exist_ok=True)
        with open("build/positions.json", "w") as file:
            json.dump({word: at for at, word in enumerate(words)}, file)
    with open("build/positions.json") as file:
        return json.load(file)

settings = json.load(open("local.json")) if os.path.exists("local.json") else {}
words = ["ash", "birch", "cedar"]
found = positions(words)
if [found.get(word) for word in words] != [0, 1, settings.get("last", 2)]:
    raise RuntimeError("a word is in another place")
"""


def in_one_commit(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    (whet.folder / ".gitignore").write_text("build/\nlocal.json\n")
    whet.commit("one", app_py=KEEPS)


@pytest.mark.long
@pytest.mark.parametrize("commits", [1, 2])
def test_a_stale_file_that_git_does_not_track_is_named_and_a_harmless_one_is_not(
    whet: Whet, commits: int
) -> None:
    in_one_commit(whet)
    if commits > 1:
        whet.commit("two", app_py=KEEPS + "\n")
    (whet.folder / "build").mkdir()
    (whet.folder / "build" / "positions.json").write_text('{"ash": 0, "birch": 1}')
    (whet.folder / "local.json").write_text('{"last": 2}')

    whet("investigate", "--no-changes", "--budget", "60s", "--", "python3", "app.py")

    answer = report(whet)["answer"]
    assert answer["cause"]["sureness"] == "shown"
    says = "it fails with `build/positions.json` and passes without: git doesn't track it"
    assert says in answer["cause"]["says"]
    assert (whet.folder / "build" / "positions.json").read_text() == '{"ash": 0, "birch": 1}'
    # It may hold passwords, as a `.env` does.
    reports = [*(whet.folder / "whet-report").iterdir()]
    assert not any('birch": 1' in each.read_text() for each in reports)
    assert not (whet.state / "parts").exists()


@pytest.mark.long
def test_untracked_files_without_which_it_fails_too_are_not_accused(whet: Whet) -> None:
    in_one_commit(whet)
    whet.commit("two", app_py=KEEPS.replace('get("last", 2)', 'get("last", 3)'))
    (whet.folder / "local.json").write_text('{"first": 3}')

    whet("investigate", "--no-changes", "--budget", "60s", "--", "python3", "app.py")

    assert "git doesn't track" not in report(whet)["answer"]["says"]
