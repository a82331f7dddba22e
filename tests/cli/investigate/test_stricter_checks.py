"""A commit that makes a check stricter only finds what older versions do as well."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

LOOSE, STRICT = "if count < -100:", "if count < 0:"
RAISES = '                raise ValueError(f"{name}: stock {count}")\n'
STORE = f"""\
class Store:
    def __init__(self, stock):
        self.stock = dict(stock)
        self.reserved = []

    def check(self):
        for name, count in self.stock.items():
            {LOOSE}
{RAISES}
    def reserve(self, name, count):
        self.stock[name] -= count
        self.reserved.append((name, count))

    def ship(self):
        for name, count in self.reserved:
            self.stock[name] -= count
        self.reserved.clear()
        self.check()
"""
TWICE = "            self.stock[name] -= count\n        self.reserved"
ONCE = "            print(name, count)\n        self.reserved"
MAIN = """\


store = Store({"bolt": 40, "washer": 10})
store.reserve("bolt", 5)
store.reserve("washer", 6)
store.ship()
print(store.stock)
"""
CHECKS = {
    "a stricter condition": (STORE, STORE.replace(LOOSE, STRICT)),
    "a condition reached by elif": (
        STORE.replace(LOOSE, f"if count > 99:\n                pass\n            el{LOOSE}"),
        STORE.replace(LOOSE, f"if count > 99:\n                pass\n            el{STRICT}"),
    ),
    "a check that is new": (
        STORE.replace(f"            {LOOSE}\n{RAISES}", "            print(name, count)\n"),
        STORE.replace(LOOSE, f"print(name, count)\n            {STRICT}"),
    ),
    "a stricter type": (
        STORE.replace(LOOSE, "if not isinstance(count, (int, str)):"),
        STORE.replace(LOOSE, "if not isinstance(count, (bool, str)):"),
    ),
    "an assert in a helper": (
        STORE.replace(f"{LOOSE}\n{RAISES}", "is_right(count)\n")
        + "\n\ndef is_right(count):\n    assert count > -100, count\n",
        STORE.replace(f"{LOOSE}\n{RAISES}", "is_right(count)\n")
        + "\n\ndef is_right(count):\n    assert count >= 0, count\n",
    ),
    "a check that is left early": (
        STORE.replace(f"{LOOSE}\n    ", "if count > -100:\n                continue\n"),
        STORE.replace(f"{LOOSE}\n    ", "if count >= 0:\n                continue\n"),
    ),
}


def begun(whet: Whet, *texts: str) -> list[str]:
    """Make a commit of the program with each text of the store."""
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write(".gitignore", "whet-report\n__pycache__\n")
    return [whet.commit(f"c{n}", main_py=f"{text}{MAIN}# {n}\n") for n, text in enumerate(texts)]


def move(whet: Whet, store: str) -> None:
    """Move the store to a module of its own."""
    whet.commit("move", store_py=store, main_py=f"from store import *\n{MAIN}")


def investigated(whet: Whet, *words: str) -> dict[str, Any]:
    said = whet("investigate", "--no-changes", "--no-releases", "--", *words)
    assert said.code == 0, said.stderr
    told: dict[str, Any] = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    return told


@pytest.mark.long
@pytest.mark.parametrize("is_moved", [False, True], ids=["stays", "moved"])
@pytest.mark.parametrize("kind", CHECKS)
def test_a_stricter_check_that_each_version_fails_is_no_cause(
    kind: str, whet: Whet, *, is_moved: bool
) -> None:
    loose, strict = CHECKS[kind]
    *_, stricter = begun(whet, loose, loose, strict)
    if is_moved:
        move(whet, strict)

    told = investigated(whet, sys.executable, "main.py")

    answer = told["answer"]
    assert answer["cause"] is None
    assert answer["heading"] == "where it began to fail"
    assert told["history"]["first_bad"] == stricter[:10]
    whys = " ".join(each["why"] for each in told["clues"])
    says = " ".join(each["says"] for each in told["clues"])
    assert "so the bad value may be older" in whys
    assert kind == "a check that is left early" or "every older version fails as well" in says


# One can't be put into older versions, and each version fails the other.
@pytest.mark.long
@pytest.mark.parametrize(
    "kind", sorted(CHECKS.keys() - {"a check that is left early", "a stricter type"})
)
def test_the_older_commit_that_the_stricter_check_finds_is_the_cause(kind: str, whet: Whet) -> None:
    loose, strict = CHECKS[kind]
    right = loose.replace(TWICE, ONCE)
    commits = begun(whet, right, right, loose, loose, strict)
    move(whet, strict)

    told = investigated(whet, sys.executable, "main.py")

    assert told["history"]["first_bad"] == commits[2][:10]
    assert told["answer"]["cause"]["sureness"] == "shown"


@pytest.mark.long
@pytest.mark.parametrize(
    "kind", sorted(CHECKS.keys() - {"a stricter type"})
)  # each version fails it
def test_a_commit_that_breaks_it_under_an_old_check_is_the_cause(kind: str, whet: Whet) -> None:
    strict = CHECKS[kind][1]
    right = strict.replace(TWICE, ONCE)
    commits = begun(whet, right, right, strict)
    move(whet, strict)

    told = investigated(whet, sys.executable, "main.py")

    assert told["history"]["first_bad"] == commits[2][:10]
    assert told["answer"]["cause"]["sureness"] == "shown"
    assert told["answer"]["heading"] != "where it began to fail"


@pytest.mark.long
def test_a_commit_that_makes_the_check_stricter_and_breaks_it_is_the_cause(whet: Whet) -> None:
    loose, strict = CHECKS["a stricter condition"]
    right = loose.replace(TWICE, ONCE)
    commits = begun(whet, right, right, strict)
    move(whet, strict)

    told = investigated(whet, sys.executable, "main.py")

    assert told["history"]["first_bad"] == commits[2][:10]
    assert told["answer"]["cause"]["sureness"] == "shown"


@pytest.mark.long
def test_a_check_that_was_moved_and_reworded_since_is_no_cause(whet: Whet) -> None:
    loose, strict = CHECKS["a stricter condition"]
    *_, stricter = begun(whet, loose, loose, strict)
    reworded = (
        strict.replace("for name, count in self.stock", "for item, left in self.stock")
        .replace("if count < 0", "if left < 0")
        .replace("{name}: stock {count}", "{item}: stock {left}")
    )
    move(whet, reworded)

    told = investigated(whet, sys.executable, "main.py")

    assert told["answer"]["cause"] is None
    assert told["history"]["first_bad"] == stricter[:10]
    says = " ".join(each["says"] for each in told["clues"])
    assert "every older version fails as well" in says


def test_an_edit_that_makes_a_check_stricter_is_no_cause(whet: Whet) -> None:
    loose, strict = CHECKS["a stricter condition"]
    begun(whet, loose, loose)
    whet.write("main.py", f"{strict}{MAIN}# 1\n")

    told = investigated(whet, sys.executable, "main.py")

    assert told["answer"]["cause"] is None
    assert told["answer"]["heading"] == "where it began to fail"


@pytest.mark.long
def test_an_edit_that_breaks_it_under_an_old_check_is_the_cause(whet: Whet) -> None:
    strict = CHECKS["a stricter condition"][1]
    right = strict.replace(TWICE, ONCE)
    begun(whet, right, right)
    whet.write("main.py", f"{strict}{MAIN}# 1\n")

    told = investigated(whet, sys.executable, "main.py")

    assert told["answer"]["cause"]["sureness"] == "shown"


@pytest.mark.long
def test_a_bound_of_a_test_that_became_stricter_is_no_cause(whet: Whet) -> None:
    test = "import shop\n\ndef test_time():\n    assert shop.parts(3) < {most}\n"
    shop = "def parts(count):\n    return count * 2\n"
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write(".gitignore", "whet-report\n__pycache__\n.pytest_cache\n")
    whet.commit("shop", shop_py=shop, test_shop_py=test.format(most=100))
    whet.commit("more", more_py="", test_shop_py=test.format(most=100))
    whet.commit("stricter", shop_py=shop + "# two each\n", test_shop_py=test.format(most=6))

    told = investigated(whet, sys.executable, "-m", "pytest", "-q")

    assert told["answer"]["cause"] is None
