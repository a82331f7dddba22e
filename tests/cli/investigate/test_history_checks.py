"""The first bad commit is that of the program, not of the test or script that shows the failure."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

ADD = "def add(prices):\n    return {sum}\n# {note}\n"
TEST = "import json, pathlib, shop\n\ndef test_sum():\n    data = pathlib.Path(__file__).with_name('prices.json')\n    assert shop.add(json.loads(data.read_text())) == 6\n"
CHECK = "import sys, shop\nif shop.add([1, 2, 3]) > {most}:\n    sys.exit('too much')\n"
RIGHT, WRONG = "sum(prices)", "sum(prices) + 1"


def shop(text: str, note: str) -> str:
    return ADD.replace("{sum}", text).replace("{note}", note)


def begun(whet: Whet, *texts: str) -> list[str]:
    """Make a commit of the program as each text has it."""
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write("Makefile", f"check:\n\t@{sys.executable} -m pytest\n")
    whet.write("pytest.ini", "[pytest]\npythonpath = .\n")
    whet.write(".gitignore", "whet-report\n__pycache__\n.pytest_cache\n")
    return [whet.commit(f"c{n}", shop_py=shop(text, str(n))) for n, text in enumerate(texts)]


def investigated(whet: Whet, *command: str) -> dict[str, Any]:
    said = whet("investigate", "--no-changes", "--", *command)
    assert said.code == 0, said.stderr
    told: dict[str, Any] = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    return told


def with_test(whet: Whet) -> str:
    whet.write("tests/prices.json", "[1, 2, 3]")
    whet.write("tests/test_shop.py", TEST)
    return whet.commit("a test")


@pytest.mark.long
@pytest.mark.parametrize("command", [(sys.executable, "-m", "pytest"), ("make", "check")])
def test_todays_test_judges_the_versions_from_before_it(
    command: tuple[str, ...], whet: Whet
) -> None:
    commits = begun(whet, RIGHT, RIGHT, WRONG, WRONG)
    with_test(whet)

    told = investigated(whet, *command)

    assert told["history"]["first_bad"] == commits[2][:10]
    assert "today's tests/test_shop.py" in told["answer"]["cause"]["says"]


@pytest.mark.long
def test_a_test_that_no_version_passes_is_not_blamed_on_the_commit_that_added_it(
    whet: Whet,
) -> None:
    begun(whet, WRONG, WRONG, WRONG)
    with_test(whet)

    told = investigated(whet, sys.executable, "-m", "pytest")

    assert told["answer"]["cause"] is None
    says = "with today's check (tests/test_shop.py) every older version fails as well"
    (clue,) = (each for each in told["clues"] if each["says"] == says)
    assert clue["sureness"] == "possible"
    assert len(told["clues"]) > 1
    assert clue == told["clues"][-1]


@pytest.mark.long
def test_a_commit_that_only_made_a_test_stricter_is_not_the_cause(whet: Whet) -> None:
    whet.write("tests/prices.json", "[1, 2, 3]")
    whet.write("tests/test_shop.py", TEST.replace("== 6", "== 7"))
    begun(whet, WRONG, WRONG)
    stricter = whet.commit("stricter", **{"tests/test_shop_py": TEST})

    told = investigated(whet, sys.executable, "-m", "pytest")

    assert told["answer"]["cause"] is None
    says = f"{stricter[:10]} only changed the check (tests/test_shop.py); with today's check every older version fails as well"
    assert says in [each["says"] for each in told["clues"]]


@pytest.mark.long
def test_a_script_that_became_stricter_does_not_hide_the_commit_that_it_reveals(whet: Whet) -> None:
    whet.write("check.py", CHECK.format(most=10))
    commits = begun(whet, RIGHT, RIGHT, WRONG, WRONG)
    whet.commit("stricter", check_py=CHECK.format(most=6))

    told = investigated(whet, sys.executable, "check.py")

    assert told["history"]["first_bad"] == commits[2][:10]
    assert "today's check.py" in told["answer"]["cause"]["says"]


def test_a_file_outside_the_repository_in_the_command_does_not_hide_its_history(whet: Whet) -> None:
    whet.write("check.py", CHECK.format(most=6))
    commits = begun(whet, RIGHT, WRONG, WRONG)
    outside = whet.folder.parent / "outside.txt"
    outside.write_text("x\n")

    told = investigated(whet, sys.executable, "check.py", str(outside))

    assert told["history"]["first_bad"] == commits[1][:10]


@pytest.mark.long
def test_a_script_that_asks_the_same_as_before_is_part_of_the_program(whet: Whet) -> None:
    """The commit before it passed the same check: with today's script, an innocent one is the first to fail."""
    check = (
        "import sys\n{path}\nimport shop\nif shop.add([1, 2, 3]) > 6:\n    sys.exit('too much')\n"
    )
    whet.write("check.py", check.format(path=""))
    begun(whet, RIGHT)
    whet.commit("tools", **{"tools/shop_py": shop(WRONG, "tools")})
    wrong = whet.commit("path", check_py=check.format(path="sys.path.insert(0, 'tools')"))
    whet.commit("later", note_txt="x")

    told = investigated(whet, sys.executable, "check.py")

    assert told["history"]["first_bad"] == wrong[:10]
    assert "today's" not in told["answer"]["cause"]["says"]


@pytest.mark.long
def test_a_script_that_asks_for_what_never_was_is_said_to_have_changed_alone(whet: Whet) -> None:
    whet.write("check.py", CHECK.format(most=10))
    begun(whet, WRONG, WRONG, WRONG)
    stricter = whet.commit("stricter", check_py=CHECK.format(most=6))

    told = investigated(whet, sys.executable, "check.py")

    assert told["answer"]["cause"] is None
    says = f"{stricter[:10]} only changed the check (check.py); with today's check every older version fails as well"
    assert says in [each["says"] for each in told["clues"]]


@pytest.mark.long
def test_a_program_that_raises_is_no_check(whet: Whet) -> None:
    begun(whet, RIGHT)
    whet.commit("a program", app_py="import shop\nprint(shop.add([1]))\n")
    broken = whet.commit("broken", app_py="import shop\nprint(shop.add(['1']))\n")

    told = investigated(whet, sys.executable, "app.py")

    assert told["history"]["first_bad"] == broken[:10]
    assert told["answer"]["cause"]["sureness"] == "shown"


@pytest.mark.long
def test_older_commits_read_their_own_data(whet: Whet) -> None:
    """With today's data, the commits before the new kind of record fail, too: in their own way."""
    program = "import sys\nfor line in open(sys.argv[1]):\n    assert line.split()[0] in {kinds}, line\n    {work}\n"
    begun(whet, RIGHT)
    whet.write("read.py", program.format(kinds="['a']", work="pass"))
    whet.write("data.txt", "a 1\n")
    whet.commit("reader")
    whet.write("note.txt", "x")
    whet.commit("a note")
    whet.write("read.py", program.format(kinds="['a', 'b']", work="int(line.split()[1]) // 0"))
    whet.write("data.txt", "a 1\nb 2\n")
    wrong = whet.commit("b, too")
    whet.write("note.txt", "y")
    whet.commit("another note")

    told = investigated(whet, sys.executable, "read.py", "data.txt")

    assert told["history"]["first_bad"] == wrong[:10]
    cause = told["answer"]["cause"]["says"]
    assert "each commit ran with its own data.txt" in cause
