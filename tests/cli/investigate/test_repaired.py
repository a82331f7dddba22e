"""`whet investigate`: the small change of the program with which its failure goes."""

import json
import re
import sys

import pytest
from whet_command import Whet

SHARED = """
def add(item, basket=[]):
    basket.append(item)
    return basket


add("pear")
assert add("plum") == ["plum"], "somebody else's pear"
"""
ALIKE = """
def add(item, basket=[]):
    return [*basket, item]


add("pear")
assert add("plum") == ["pear"], "no pear"
"""


def cause(whet: Whet, text: str, *command: str, name: str = "main.py") -> dict[str, object] | None:
    whet.write(name, text)
    before = (whet.folder / name).read_bytes()
    whet("investigate", "--", sys.executable, *command)
    assert (whet.folder / name).read_bytes() == before
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    found: dict[str, object] | None = report["answer"]["cause"]
    return found


def test_what_ends_the_failure_of_a_script_is_its_cause(whet: Whet) -> None:
    found = cause(whet, SHARED, "main.py")
    assert found is not None
    assert (found["line"], found["sureness"]) == (2, "shown")
    said = re.fullmatch(
        r"trial (\d+) ran with that change and passed, and so did 2 more runs; trial (\d+) ran without it and failed",
        str(found["why"]),
    )
    assert said is not None
    changed, control = said.groups()
    shown = [json.loads(whet("show", "--json", each).stdout) for each in (changed, control)]
    assert [each["verdict"] for each in shown] == ["good", "bad"]


def test_no_changed_program_is_run_where_none_is_wanted(whet: Whet) -> None:
    whet.write("main.py", "open('runs', 'a').write(repr(add.__defaults__))\n".join(
        (SHARED.partition('add("pear")')[0], 'add("pear")' + SHARED.partition('add("pear")')[2])
    ))  # fmt: skip
    whet("investigate", "--no-changes", "--", sys.executable, "main.py")
    assert "Ellipsis" not in (whet.folder / "runs").read_text()
    report = whet.folder / "whet-report" / "report.json"
    assert json.loads(report.read_text())["answer"]["cause"] is None


@pytest.mark.long
def test_a_changed_program_runs_where_nothing_that_it_writes_stays(whet: Whet) -> None:
    text = "open('runs', 'a').write(repr(add.__defaults__))\n".join(
        (SHARED.partition('add("pear")')[0], 'add("pear")' + SHARED.partition('add("pear")')[2])
    )
    found = cause(whet, text, "main.py")
    assert found is not None
    assert found["sureness"] == "shown"
    assert "Ellipsis" not in (whet.folder / "runs").read_text()


@pytest.mark.long
def test_what_looks_alike_but_ends_no_failure_is_no_cause(whet: Whet) -> None:
    assert cause(whet, ALIKE, "main.py") is None


@pytest.mark.long
def test_what_ends_the_failure_of_a_test_is_its_cause(whet: Whet) -> None:
    text = SHARED.replace('add("pear")\n', 'def test_add():\n    add("pear")\n').replace(
        "\nassert", "\n    assert"
    )
    found = cause(whet, text, "-m", "pytest", "-q", "test_it.py", name="test_it.py")
    assert found is not None
    assert (found["line"], found["sureness"]) == (2, "shown")


GAUGE = """
class Gauge:
    span = None

    def calibrate(self, low, high):
        self.span = high - low

    def scale(self, raw):
        if self.span is None:
            return raw
        return raw / self.span


class Gauges:
    def __init__(self):
        self.held = {}

    def get(self, name):
        if name not in self.held:
            self.held[name] = Gauge()
        return self.held[name]


gauges = Gauges()
for line in ["a,0,2", "b,5,5", "b,3"]:
    name, *numbers = line.split(",")
    if numbers[1:]:
        gauges.get(name).calibrate(*map(int, numbers))
    else:
        print(gauges.get(name).scale(int(numbers[0])))
"""
SHARED_ROW = """
row = [0, 0]
grid = {name: row for name in ("north", "south")}
for name, place, count in [("north", 0, 2), ("south", 1, 5)]:
    counts = grid[name]
    counts[place] += count
assert grid["north"][1] == 0, grid
"""


def said(whet: Whet) -> str:
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    return json.dumps([report["clues"], report["answer"]])


@pytest.mark.long
def test_a_copy_that_only_loses_what_was_to_be_changed_is_no_clue(whet: Whet) -> None:
    assert cause(whet, GAUGE, "main.py") is None
    assert "deepcopy" not in said(whet)


@pytest.mark.long
def test_a_copy_with_which_the_check_is_made_and_passes_is_a_clue(whet: Whet) -> None:
    cause(whet, SHARED_ROW, "main.py")
    assert "shared" in said(whet)


ANEW = """
import multiprocessing

LIMIT = 1


def over(count):
    return count > LIMIT


if __name__ == "__main__":
    LIMIT = 5
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(over, [3, 7])
    assert found == [False, True], found
"""


@pytest.mark.long
def test_processes_that_start_without_what_the_program_has_set_are_the_cause(whet: Whet) -> None:
    found = cause(whet, ANEW, "main.py")
    assert found is not None
    assert (found["line"], found["sureness"]) == (13, "shown")
    assert "imports the modules anew, without what the program has set" in str(found["says"])
    assert "with an `initializer`" in str(found["next_step"])


KEPT = """
import resource


class Document:
    pages = []

    def add(self, page):
        self.pages.append(page)


resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
for number in range(60):
    document = Document()
    for _ in range(3):
        document.add(bytearray(b"x") * (5 << 20))
"""


@pytest.mark.long
def test_what_takes_the_memory_gives_way_to_the_line_that_keeps_it(whet: Whet) -> None:
    found = cause(whet, KEPT, "main.py")
    assert found is not None
    assert (found["line"], found["sureness"]) == (6, "shown")
    assert "share one, `[]`" in str(found["says"])


RETRIED = """
import itertools

seen, booked, numbers, calls = set(), [], itertools.count(), itertools.count()


def post(key, cents):
    if key not in seen:
        seen.add(key)
        booked.append(cents)
    if next(calls) == 1:
        raise TimeoutError


def send(cents):
    post(next(numbers), cents)


def pay(cents):
    for _ in range(2):
        try:
            return send(cents)
        except TimeoutError:
            pass


for each in [5, 7, 9]:
    pay(each)
assert booked == [5, 7, 9], "booked twice"
"""


@pytest.mark.long
def test_what_each_attempt_makes_anew_is_the_cause_of_what_is_done_twice(whet: Whet) -> None:
    found = cause(whet, RETRIED, "main.py")
    assert found is not None
    line = RETRIED[: RETRIED.index("post(next")].count("\n") + 1
    assert (found["line"], found["sureness"]) == (line, "shown")
    says = "`next(numbers)` gives another value when `send` is called again after TimeoutError"
    assert says in str(found["says"])


@pytest.mark.long
def test_attempts_that_differ_without_harm_are_no_cause(whet: Whet) -> None:
    twice = RETRIED.replace("post(next(numbers), cents)", "post((cents, 0 * next(numbers)), cents)")
    twice = twice.replace('"booked twice"', '"lost"').replace("[5, 7, 9],", "[5, 7, 9, 9],")
    found = cause(whet, twice, "main.py")
    assert found is None or "called again" not in str(found["says"])


LOCKED = """
import asyncio

counts = {"a": 0}


async def add():
    async with asyncio.Lock():
        before = counts["a"]
        await asyncio.sleep(0)
        counts["a"] = before + 1


async def main():
    await asyncio.gather(add(), add())


asyncio.run(main())
assert counts["a"] == 2, "an update is lost"
"""


@pytest.mark.long
def test_a_lock_for_each_call_is_the_cause_of_a_lost_update(whet: Whet) -> None:
    found = cause(whet, LOCKED, "main.py")
    assert found is not None
    assert (found["line"], found["sureness"]) == (8, "shown")
    assert "several calls of `add` have each made a lock of their own" in str(found["says"])


ROSTER = """
from datetime import datetime
from zoneinfo import ZoneInfo


def hours(begin, end):
    return (end - begin).total_seconds() / 3600


there = ZoneInfo("Europe/Berlin")
planned = hours(datetime(2024, 3, 30, 22, tzinfo=there), datetime(2024, 3, 31, 6, tzinfo=there))
assert planned == 7, "an hour too long"
"""


@pytest.mark.long
def test_a_difference_over_a_change_of_the_clocks_is_its_cause(whet: Whet) -> None:
    found = cause(whet, ROSTER, "main.py")
    assert found is not None
    assert (found["line"], found["sureness"]) == (7, "shown")
    assert "`end - begin` goes by the clock" in str(found["says"])


@pytest.mark.long
def test_a_test_of_several_lines_is_made_as_often_with_the_change_as_without(whet: Whet) -> None:
    program, _, _ = ROSTER.partition("planned =")
    test = (
        "def test_shifts():\n    found = {}\n    for name, day in (('ada', 29), ('kim', 30)):\n"
        "        begin = datetime(2024, 3, day, 22, tzinfo=there)\n"
        "        found[name] = hours(begin, datetime(2024, 3, day + 1, 6, tzinfo=there))\n"
        "    assert found == {\n        'ada': float('8'),\n        'kim': float('7'),\n    }\n"
    )
    found = cause(whet, program + test, "-m", "pytest", "-q", "test_it.py", name="test_it.py")
    assert found is not None
    assert (found["line"], found["sureness"]) == (7, "shown")


IN_ORDER = """
import threading
import time


class Job:
    def __init__(self, size, results):
        self.size, self.results = size, results
        self.lock = threading.Lock()
        self.is_cancelled = False

    def run(self):
        with self.lock:
            if not self.is_cancelled:
                time.sleep(self.size / 1000)
                self.results.append(self.size)


results = []
jobs = [Job(size, results) for size in (150, 60, 20)]
threads = [threading.Thread(target=each.run) for each in jobs]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert results == [150, 60, 20], "not in the order of the jobs"
"""


@pytest.mark.long
def test_locks_that_would_only_keep_threads_in_order_are_no_cause(whet: Whet) -> None:
    assert cause(whet, IN_ORDER, "main.py") is None


STOCK = """
import threading
import time


class Stock:
    def __init__(self):
        self.pieces, self.lock = 5, threading.Lock()

    def left(self):
        with self.lock:
            return self.pieces

    def take(self, number):
        with self.lock:
            self.pieces -= number


class Order:
    def __init__(self):
        self.state = "new"
        self.lock = threading.Lock()

    def reserve(self, stock):
        with self.lock:
            if stock.left() >= 2:
                time.sleep(0.05)
                stock.take(2)
                self.state = "reserved"

    def cancel(self):
        with self.lock:
            self.state = "cancelled"


stock = Stock()
orders = [Order() for _ in range(4)]
threads = [threading.Thread(target=each.reserve, args=(stock,)) for each in orders]
threads += [threading.Thread(target=orders[-1].cancel)]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert stock.pieces >= 0, "taken too often"
"""


@pytest.mark.long
def test_a_lock_that_several_threads_took_is_no_cause(whet: Whet) -> None:
    found = cause(whet, STOCK, "main.py")
    assert found is None or "at once" in str(found["says"])


PARKED = """
import math
from datetime import datetime
from zoneinfo import ZoneInfo

HERE = ZoneInfo("Europe/Berlin")
NIGHT = 23
TICKETS = [
    (datetime(2024, 3, 29, 10, tzinfo=HERE), datetime(2024, 3, 29, 14, tzinfo=HERE), 8.0),
    (datetime(2024, 3, 30, 23, tzinfo=HERE), datetime(2024, 3, 31, 6, tzinfo=HERE), 12.0),
]


def fee(begin, end):
    hours = math.ceil((end - begin).total_seconds() / 3600)
    if begin.hour > NIGHT:
        hours -= 1  # it is free
    return hours * 2.0


for begin, end, billed in TICKETS:
    assert fee(begin, end) == billed, "another fee"
"""


@pytest.mark.long
def test_a_difference_over_a_change_of_the_clocks_is_no_cause_beside_a_likely_change(
    whet: Whet,
) -> None:
    assert cause(whet, PARKED, "main.py") is None
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    says = next(each for each in report["clues"] if "goes by the clock" in each["says"])
    assert "with `begin.hour >= NIGHT` instead of `begin.hour > NIGHT`" in json.dumps(says["trail"])
    assert says["next_step"].startswith("check main.py:")
    assert "; if it is the cause, fix it, for example by" in says["next_step"]
