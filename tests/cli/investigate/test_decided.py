"""`whet investigate`: a small change is the cause only where it stands out and the check is still made."""

import json
import sys
from pathlib import Path

import pytest
from whet_command import Whet

BATTERY = """\
CAPACITY = 48.0
PLAN = [("fridge", 0.9, 24), ("lamp", 0.06, 5), ("pump", 1.4, 1.5), ("radio", 0.02, 10)]


class Battery:
    def __init__(self, capacity, efficiency):
        self.capacity = capacity
        self.efficiency = efficiency
        self.used = 0.0

    def draw(self, power, hours):
        self.used += power * hours / self.efficiency

    def left(self):
        return round(self.capacity - self.used, 2)


def simulate(plan, capacity):
    battery = Battery(0.9, capacity)
    for name, power, hours in plan:
        battery.draw(power, hours)
    return battery


left = simulate(PLAN, CAPACITY).left()
assert left == 21.11, f"the manual says 21.11 are left, computed {left}"
"""
NO_CHECK = """\
def costs(days, price):
    found = []
    for day in range(1, days + 1):
        net = day * price - 0.07 / 3
        found.append(round(net + net * 0.19, 2))
    return found


for each in costs(1, 10.5):
    assert each == 99.95, each
"""
COUNTED = """\
def open_ones(rows, limit):
    found = []
    for name, days in rows:
        late = days * 2 - limit
        if late >= 0:
            found.append(name)
    return found


rows = [("a", 3), ("b", 9), ("c", 4), ("d", 11), ("e", 12)]
count = len(open_ones(rows, 8))
assert count == 3, count
"""


def report(whet: Whet) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = json.loads(
        Path(whet.folder, "whet-report/report.json").read_text()
    )
    return found


def changes(whet: Whet, sureness: str) -> list[str]:
    """Return what is said of changes with which the command passes."""
    told = [each for each in report(whet)["clues"] if "the command passes" in each["says"]]
    return [each["says"] for each in told if each["sureness"] == sureness]


def test_the_only_likely_change_that_gives_the_wanted_value_is_the_cause(whet: Whet) -> None:
    whet.write("main.py", BATTERY)
    done = whet("investigate", "--", sys.executable, "main.py")

    (said,) = changes(whet, "shown")
    assert "`Battery(capacity, 0.9)` instead of `Battery(0.9, capacity)` at main.py:19" in said
    first = report(whet)["clues"][0]
    assert "the check that failed was made and passed" in first["why"]
    assert "other changes on the way of the value didn't let it pass" in first["why"]
    assert first["next_step"].endswith("If not, the check at main.py:26 wants a wrong value")
    assert "Cause not found" not in done.stdout
    verdicts = [
        json.loads(whet("show", "--json", str(each)).stdout)["verdict"] for each in first["trials"]
    ]
    assert verdicts == ["good", "bad", "good"]


def test_a_change_with_which_the_check_is_not_made_is_not_the_cause(whet: Whet) -> None:
    whet.write("main.py", NO_CHECK)
    whet("investigate", "--", sys.executable, "main.py")
    # With it the loop isn't entered: it isn't possible either.
    assert not any("`range(1, days)` instead" in each for each in changes(whet, "possible"))
    assert not changes(whet, "shown")


@pytest.mark.long
def test_a_change_that_gives_a_small_count_may_do_so_by_chance(whet: Whet) -> None:
    whet.write("main.py", COUNTED)
    whet("investigate", "--", sys.executable, "main.py")
    assert any("late > 0" in each for each in changes(whet, "possible"))
    assert not changes(whet, "shown")


@pytest.mark.long
def test_a_change_that_breaks_another_test_is_not_the_cause(whet: Whet) -> None:
    """What one test wants may fit a change that the other tests refute."""
    whet.write(
        "fares.py",
        "BASE = 4.25\n\n\n"
        "def fare(distance):\n    extra = 0.0\n    if distance > 10:\n"
        "        extra = (distance - 8) * 0.55\n    return round(BASE + extra, 2)\n",
    )
    whet.write(
        "test_fares.py",
        "from fares import fare\n\n\n"
        "def test_ten():\n    assert fare(10) == 5.35\n\n\n"
        "def test_ten_and_a_bit():\n    assert round(fare(10.0) + 1.15, 2) == 5.4\n",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    whet("investigate", "--budget", "2m", "--", *command)
    assert any("distance >= 10" in each for each in changes(whet, "possible"))
    assert not changes(whet, "shown")


@pytest.mark.long
def test_two_texts_that_are_to_be_alike_are_told_as_one_cause(whet: Whet) -> None:
    whet.write(
        "shop.py",
        "EVENTS = []\n\n\n"
        "def bought(user, amount):\n"
        "    EVENTS.append({'kind': 'purchase', 'user': user, 'amount': amount})\n",
    )
    whet.write(
        "main.py",
        "import shop\n\nBOUGHT = 'purchased'\n\n\n"
        "def sales(events, tax):\n    total = 0.5\n    for event in events:\n"
        "        if event['kind'] == BOUGHT:\n            net = event['amount'] - 0.25\n"
        "            total += net + net * tax / 100\n    return round(total, 2)\n\n\n"
        "shop.bought('ada', 59)\nshop.bought('cy', 140)\n"
        "found = sales(shop.EVENTS, 7)\nassert found == 212.89, found\n",
    )
    whet("investigate", "--", sys.executable, "main.py")
    (said,) = changes(whet, "shown")
    assert said.startswith("`'purchased'` at main.py:3 is written `'purchase'` at shop.py:5")
