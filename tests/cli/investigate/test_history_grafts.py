"""A line that fails and was added lately judges the commits from before it, where it has a place."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

APP = """\
import json


def total(prices):
    result = {sum}
    return result


print(total(json.load(open("prices.json"))))
# {note}
"""
RIGHT, WRONG = "sum(prices)", "sum(prices) + len(prices)"
ASSERTS = "    assert result <= max(prices) * len(prices), result\n    return"


def app(text: str, note: str) -> str:
    return APP.replace("{sum}", text).replace("{note}", note)


def checked(text: str) -> str:
    return text.replace("    return", ASSERTS)


def begun(whet: Whet, *texts: str) -> list[str]:
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write("prices.json", "[2, 2, 2]")
    whet.write(".gitignore", "whet-report\n__pycache__\n")
    return [whet.commit(f"c{n}", app_py=app(text, str(n))) for n, text in enumerate(texts)]


def investigated(whet: Whet, *words: str) -> dict[str, Any]:
    said = whet("investigate", "--no-changes", "--no-releases", "--", *words)
    assert said.code == 0, said.stderr
    told: dict[str, Any] = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    return told


def test_a_check_that_was_added_lately_finds_the_older_commit_that_breaks_it(whet: Whet) -> None:
    commits = begun(whet, RIGHT, RIGHT, WRONG, WRONG)
    whet.commit("check", app_py=checked(app(WRONG, "3")))

    told = investigated(whet, sys.executable, "app.py")

    assert told["history"]["first_bad"] == commits[2][:10]
    cause = told["answer"]["cause"]
    assert cause["sureness"] == "shown"
    assert "each version ran with today's app.py:6" in cause["says"]


@pytest.mark.long
def test_the_commit_that_brings_the_check_and_the_bug_is_the_cause(whet: Whet) -> None:
    begun(whet, RIGHT, RIGHT, RIGHT)
    both = whet.commit("both", app_py=checked(app(WRONG, "2")))

    told = investigated(whet, sys.executable, "app.py")

    cause = told["answer"]["cause"]
    assert told["history"]["first_bad"] == both[:10]
    assert cause["sureness"] == "shown"
    assert "the line that fails" not in cause["why"]


@pytest.mark.long
def test_a_line_that_was_changed_later_is_not_added_by_the_commit_that_breaks_it(
    whet: Whet,
) -> None:
    text = checked(app(RIGHT, "0"))
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write("prices.json", "[2, 2, 2]")
    whet.write(".gitignore", "whet-report\n__pycache__\n")
    whet.commit("right", app_py=text)
    wrong = whet.commit("wrong", app_py=text.replace(RIGHT, WRONG))
    later = text.replace(RIGHT, WRONG).replace(", result\n", ", result  # in cents\n")
    whet.commit("later", app_py=later)

    told = investigated(whet, sys.executable, "app.py")

    cause = told["answer"]["cause"]
    assert told["history"]["first_bad"] == wrong[:10]
    assert "today's" not in cause["says"]
    assert not any("adds the line" in each["why"] for each in told["clues"])


@pytest.mark.long
def test_a_check_that_was_reworded_since_is_no_cause_where_it_was_added(whet: Whet) -> None:
    begun(whet, WRONG, WRONG)
    check = whet.commit("check", app_py=checked(app(WRONG, "1")))
    reworded = checked(app(WRONG, "1")).replace(", result\n", ", f'{result} cents'\n")
    whet.commit("reworded", app_py=reworded)

    told = investigated(whet, sys.executable, "app.py")

    assert told["history"]["first_bad"] == check[:10]
    assert any("so the bad value may be older" in each["why"] for each in told["clues"])


def test_a_merge_of_what_does_not_go_together_is_shown_with_what_it_brings(whet: Whet) -> None:
    shop = "def price(item):\n    return item / 100\n\n\ndef total(items):\n    return sum(map(price, items))\n"
    program = "import shop\n\nvalue = shop.total([250, 100])\nassert value < 10, value\n"
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write(".gitignore", "whet-report\n__pycache__\n")
    whet.commit("shop", shop_py=shop, main_py=program)
    whet.git("checkout", "--quiet", "-b", "cents")
    in_cents = shop.replace("item / 100", "item").replace("items))", "items)) / 100")
    whet.commit("in cents", shop_py=in_cents)
    whet.git("checkout", "--quiet", "main")
    added_here = program.replace("shop.total([250, 100])", "sum(map(shop.price, [250, 100]))")
    whet.commit("in the program", main_py=added_here)
    whet.git("merge", "--quiet", "-m", "merge", "cents")

    told = investigated(whet, sys.executable, "main.py")

    cause = told["answer"]["cause"]
    assert cause["next_step"].startswith("Look at what the merge brings to ")
    (clue,) = (each for each in told["clues"] if each["says"] == cause["says"])
    assert "git diff" in cause["next_step"]
    assert clue["sureness"] == "shown"


@pytest.mark.long
def test_a_check_that_no_version_passes_blames_none(whet: Whet) -> None:
    begun(whet, WRONG, WRONG, WRONG)
    check = whet.commit("check", app_py=checked(app(WRONG, "2")))

    told = investigated(whet, sys.executable, "app.py")

    assert told["history"]["first_bad"] == check[:10]
    says = [each["says"] for each in told["clues"]]
    assert any("with today's app.py:6 every older version fails as well" in one for one in says)


@pytest.mark.long
def test_a_version_without_a_place_for_the_line_says_nothing(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write("prices.json", "[2, 2, 2]")
    whet.write(".gitignore", "whet-report\n__pycache__\n")
    whet.commit("other", app_py="print('nothing')\n")
    whet.commit("program", app_py=app(WRONG, "0"))
    whet.commit("check", app_py=checked(app(WRONG, "0")))

    told = investigated(whet, sys.executable, "app.py")

    says = " ".join(each["says"] for each in told["clues"])
    assert "and the versions before it can't run it" in says


@pytest.mark.long
def test_a_version_that_does_not_reach_the_line_is_no_good_one(whet: Whet) -> None:
    begun(whet, WRONG)
    unused = app(WRONG, "0").replace('print(total(json.load(open("prices.json"))))', "print(1)")
    whet.commit("unused", app_py=unused)
    whet.commit("used", app_py=app(WRONG, "0"))
    check = whet.commit("check", app_py=checked(app(WRONG, "0")))

    told = investigated(whet, sys.executable, "app.py")

    assert told["history"]["first_bad"] == check[:10]
    says = " ".join(each["says"] for each in told["clues"])
    assert "passes with today's app.py:6 but doesn't reach it" in says


@pytest.mark.long
def test_a_file_that_was_renamed_is_the_same_file(whet: Whet) -> None:
    commits = begun(whet, RIGHT, WRONG)
    whet.git("mv", "app.py", "main.py")
    whet.write("app.py", "import main\n")
    whet.commit("rename")
    whet.commit("check", main_py=checked(app(WRONG, "1")))

    told = investigated(whet, sys.executable, "app.py")

    assert told["history"]["first_bad"] == commits[1][:10]


@pytest.mark.long
def test_a_check_that_is_not_committed_yet_finds_the_commit_that_breaks_it(whet: Whet) -> None:
    commits = begun(whet, RIGHT, WRONG, WRONG)
    whet.write("app.py", checked(app(WRONG, "2")))

    told = investigated(whet, sys.executable, "app.py")

    assert told["history"]["first_bad"] == commits[1][:10]
    assert told["answer"]["cause"]["sureness"] == "shown"


@pytest.mark.long
def test_an_edit_that_breaks_it_is_the_cause_with_its_own_check(whet: Whet) -> None:
    begun(whet, RIGHT, RIGHT)
    whet.write("app.py", checked(app(WRONG, "1")))

    told = investigated(whet, sys.executable, "app.py")

    assert told["history"] is None
    assert any("app.py:5" in each["says"] for each in told["clues"])


@pytest.mark.long
def test_a_new_test_beside_ones_of_what_was_not_there_finds_the_older_commit(whet: Whet) -> None:
    """Carried as a whole, today's file of tests can be imported on no older commit."""
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write("pytest.ini", "[pytest]\npythonpath = .\n")
    whet.write(".gitignore", "whet-report\n__pycache__\n.pytest_cache\n")
    test = "from shop import add\n\n\ndef test_none():\n    assert add([]) == 0\n"
    shop = "def add(prices):\n    return {sum}\n"
    sums = ("sum(prices)", "sum(prices)", "sum(prices) * 1.0", "sum(prices) + bool(prices)")
    commits = [
        whet.commit(f"c{at}", shop_py=shop.format(sum=each), test_shop_py=test)
        for at, each in enumerate(sums)
    ]
    more = test.replace("import add", "import add, mean") + (
        "\n\ndef test_three():\n    assert add([1, 2]) == 3\n"
        "\n\ndef test_mean():\n    assert mean([3]) == 4\n"
    )
    means = (
        shop.format(sum=sums[-1]) + "\n\ndef mean(prices):\n    return add(prices) / len(prices)\n"
    )
    whet.commit("mean", shop_py=means, test_shop_py=more)

    told = investigated(whet, sys.executable, "-m", "pytest", "-q")

    assert told["history"]["first_bad"] == commits[3][:10]
