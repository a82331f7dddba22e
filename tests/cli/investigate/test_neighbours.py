"""`whet investigate`: the neighbour that works, made by whet, and where the failing run leaves its way."""

import json
import sys
from typing import Any

import pytest
from whet_command import Whet

LEAP = """
import sys


def is_leap(year):
    if year % 400 == 0:
        return True
    if year % 100 == 0:
        return "no"
    return year % 4 == 0


def days(year):
    return 366 if is_leap(year) else 365


year = int(sys.argv[1])
assert sum(map(days, range(1, year))) == (year - 1) * 365 + (year - 1) // 4 - (year - 1) // 100
"""
LEDGER = """
import sys


def amount(text):
    if text.startswith("("):
        text = text.strip("()")
    return int(text)


with open(sys.argv[1]) as file:
    amounts = [amount(line.strip()) for line in file]
assert sum(amounts) == 0, "the books do not balance"
"""
CART = """
class Cart:
    def __init__(self):
        self.lines = {}

    def add(self, name, count):
        if name in self.lines:
            count = max(count, self.lines[name])
        self.lines[name] = count

    def count(self):
        return sum(self.lines.values())
"""
TESTS = """
import pytest
from cart import Cart


@pytest.mark.parametrize("names", ["aba", "a", "ab", "abc"])
def test_count(names):
    cart = Cart()
    for name in names:
        cart.add(name, 1)
    assert cart.count() == len(names)
"""
ORDERS = """
def rate(order):
    if order["kind"] == "bulk" and order["count"] > 9:
        return 9
    return 10


def check(order):
    if order["count"] * rate(order) != order["paid"]:
        raise ValueError(order["paid"])


for count, kind, paid in [(2, "bulk", 20), (12, "loose", 120), (20, "bulk", 160), (1, "bulk", 10)]:
    check({"count": count, "kind": kind, "paid": paid})
"""


def told(whet: Whet, *command: str) -> list[dict[str, Any]]:
    """Return the clues of an investigation that come from a comparison."""
    done = whet("investigate", "--json", "--no-changes", "--", sys.executable, *command)
    clues = json.loads(done.stdout)["clues"]
    return [each for each in clues if each["why"] == "what was different the last time it worked"]


def test_an_earlier_call_of_the_same_run_is_a_neighbour(whet: Whet) -> None:
    whet.write("main.py", ORDERS)
    (clue,) = told(whet, "main.py")
    assert clue["line"] == 4
    assert "compared with the 2 earlier calls of `check`, which returned" in clue["says"]
    assert clue["sureness"] == "possible"


@pytest.mark.long
def test_a_number_in_the_command_is_varied(whet: Whet) -> None:
    whet.write("main.py", LEAP)
    (clue,) = told(whet, "main.py", "150")
    assert clue["line"] == 9
    assert "with `75` instead of `150` the command passes" in clue["says"]
    assert len(clue["trials"]) >= 2


@pytest.mark.long
def test_the_nearest_payload_that_passes_is_made(whet: Whet) -> None:
    whet.write("main.py", LEDGER)
    whet.write("ledger.txt", "70\n-70\n200\n-200\n500\n(500)\n20\n-20\n")
    (clue,) = told(whet, "main.py", "ledger.txt")
    assert clue["line"] == 7
    assert "without ledger.txt:5 (`500`) and the 1 after it the command passes" in clue["says"]
    assert (whet.folder / "ledger.txt").read_text().count("\n") == 8


@pytest.mark.long
def test_the_reader_is_sent_to_the_one_record_that_is_another_in_what_passes(whet: Whet) -> None:
    """The line that reads all records is seldom wrong where one of them decides."""
    heights = [f"{170 + n % 7}.5" for n in range(40)]
    heights[25] = "-9999"
    read = "def read(path):\n    with open(path) as file:\n        for line in file:\n            yield float(line)\n"
    used = "import math\nimport sys\nheights = list(read(sys.argv[1]))\nprint(math.log(sum(heights) / len(heights)))\n"
    whet.write("main.py", f"{read}\n{used}")
    whet.write("heights.txt", "\n".join([*heights, ""]))
    clue, *_ = told(whet, "main.py", "heights.txt")
    assert clue["next_step"].startswith("Check heights.txt:26, then main.py:")


@pytest.mark.long
def test_other_parameters_of_a_test_are_its_neighbours(whet: Whet) -> None:
    pytest.importorskip("pytest")
    whet.write("cart.py", CART)
    whet.write("test_cart.py", TESTS)
    (clue,) = told(whet, "-m", "pytest", "-q", "test_cart.py")
    assert clue["path"].endswith("cart.py")
    assert clue["line"] == 8
    assert "the 3 tests with other parameters of `test_count` that passed" in clue["says"]


@pytest.mark.long
def test_a_test_is_turned_to_see_whether_the_failure_hangs_on_it(whet: Whet) -> None:
    whet.write("main.py", ORDERS.replace("160", "200"))
    (clue,) = told(whet, "main.py")
    assert "with that test false each time, the command passes" in clue["says"]


def test_nothing_is_told_where_the_failing_branch_is_all_that_differs(whet: Whet) -> None:
    whet.write(
        "main.py", "import sys\nif int(sys.argv[1]) > 3:\n    raise SystemExit('too many')\n"
    )
    assert told(whet, "main.py", "5") == []


@pytest.mark.long
@pytest.mark.parametrize(
    "acts",
    [
        "import shutil",
        pytest.param("import os\nremove = os.remove", marks=pytest.mark.long),
        pytest.param("from os import remove", marks=pytest.mark.long),
        "import unheard_of_client",
        pytest.param("from pathlib import Path\nwrite = Path.write_text", marks=pytest.mark.long),
        "def keep(text):\n    open('kept', 'a').write(text)",
        pytest.param("def run(text):\n    exec(text)", marks=pytest.mark.long),
    ],
)
def test_no_argument_is_varied_of_a_program_that_could_change_anything(
    whet: Whet, acts: str
) -> None:
    whet.write("unheard_of_client.py", "import socket\n")
    whet.write("main.py", f"{acts}\n{LEAP}")
    assert told(whet, "main.py", "150") == []
