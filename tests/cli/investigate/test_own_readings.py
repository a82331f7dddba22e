"""A program that measures itself, and fails by that in its own words, is told what costs it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

# What takes out of the container compares, counts or looks up the wrong thing: the change is shown.
LISTENERS = """
import sys
import tracemalloc


class Hub:
    def __init__(self):
        self.listeners = []

    def join(self, listener):
        self.listeners.append(listener)

    def leave(self, listener):
        self.listeners = [each for each in self.listeners if each is not listener]


class Window:
    def __init__(self, hub):
        self.pixels = bytes(20_000)
        self.hub = hub
        hub.join(self.draw)

    def draw(self):
        return len(self.pixels)

    def close(self):
        self.hub.leave(self.draw)


def main():
    tracemalloc.start()
    hub, used = Hub(), []
    for _ in range(6):
        for _ in range(40):
            Window(hub).close()
        used.append(tracemalloc.get_traced_memory()[0])
    if used[-1] - used[1] > 500_000:
        print("grew by", used[-1] - used[1], file=sys.stderr)
        return 1
    return 0


sys.exit(main())
"""
CACHE = """
import resource


class Cache:
    def __init__(self, most):
        self.most = most
        self.pages = {}

    def put(self, number, page):
        self.pages[f"page {number}"] = page
        self.pages.pop(number - self.most, None)


def fill(cache, since):
    for number in range(since, since + 300):
        cache.put(number, bytearray(40_000))


def used():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


cache = Cache(20)
fill(cache, 0)
first = used()
fill(cache, 300)
fill(cache, 600)
assert used() - first < 4_000, "needs more and more"
"""
TRACKED = """
import gc
import sys


class Job:
    def __init__(self, number):
        self.number = number
        self.parts = [[number] for _ in range(20)]


class Runner:
    def __init__(self):
        self.done = {}

    def run(self, number):
        job = Job(number)
        self.done[number] = job
        return len(job.parts)


runner = Runner()
counts = []
for batch in range(5):
    for number in range(100):
        runner.run(batch * 100 + number)
    gc.collect()
    counts.append(len(gc.get_objects()))
if counts[-1] > counts[1] + 1000:
    sys.exit(f"{counts[-1] - counts[1]} objects more")
"""
OF_CLASS = """
import gc
import sys


class Line:
    live = {}

    def __init__(self, name):
        self.name = name
        self.buffer = bytearray(10_000)
        Line.live[name] = self


for batch in range(5):
    for number in range(50):
        Line(f"{batch}-{number}")
    gc.collect()
    count = sum(isinstance(each, Line) for each in gc.get_objects())
    first = count if batch == 1 else 0 if batch == 0 else first
sys.exit(f"{count} lines" if count > first + 20 else 0)
"""
GUARDED = (
    OF_CLASS.replace(
        "\n\nfor batch",
        """

def sweep():
    for name, line in list(Line.live.items()):
        if name in Line.live and line.name != name:
            del Line.live[name]


for batch""",
    )
).replace("    gc.collect()", "    sweep()\n    gc.collect()")
STATM = """
import sys

LOG = []


def pages():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1])


def handle(number):
    LOG.append("x" * 50_000 + str(number))
    return number


before = pages()
for number in range(400):
    handle(number)
after = pages()
if after - before > 1000:
    print("leaks", after - before, "pages")
    sys.exit(2)
"""

# What takes the time.
KEYS = """
import sys
import time


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash(self.x // 1000)


def distinct(count):
    seen = set()
    for number in range(count):
        seen.add(Point(number % 50, number))
    return len(seen)


begin = time.monotonic()
distinct(1400)
took = time.monotonic() - begin
if took > 0.1:
    print(f"took too long: {took:.2f} s")
    sys.exit(1)
"""
SEARCH = """
import sys
import time


def known(names, name):
    for each in names:
        if each == name:
            return True
    return False


def distinct(count):
    names = []
    for number in range(count):
        if not known(names, str(number)):
            names.append(str(number))
    return names


begin = time.process_time()
distinct(4500)
spent = time.process_time() - begin
print("spent", spent)
sys.exit(spent > 0.1)
"""
TEST = """
from datetime import datetime, timedelta


def fib(number):
    return number if number < 2 else fib(number - 1) + fib(number - 2)


def test_fib_is_quick():
    begin = datetime.now()
    assert fib(28) == 317811
    assert datetime.now() - begin < timedelta(milliseconds=10)
"""
USED = """
import resource


class Watch:
    def __enter__(self):
        self.begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        return self

    def __exit__(self, *_):
        self.took = resource.getrusage(resource.RUSAGE_SELF).ru_utime - self.begin


def total(rows):
    result = 0
    for at in range(len(rows)):
        result += sum(rows[:at])
    return result


with Watch() as watch:
    total(list(range(6000)))
if watch.took > 0.05:
    raise RuntimeError("over budget")
"""

# They look alike, but the cost is not what fails.
STAMPED = """
import sys
import time

begin = time.perf_counter()
orders = [(time.time(), number) for number in range(5)]
late = [number for at, number in orders if number > 3]
print(f"{len(late)} late at {orders[0][0]:.0f}, after {time.perf_counter() - begin:.3f} s")
sys.exit(len(late) != 2)
"""
LOGGED = """
import sys
import tracemalloc

tracemalloc.start()
rows = [bytes(10_000) for _ in range(300)]
used = tracemalloc.get_traced_memory()[0]
total = sum(len(each) for each in rows) + 1
print("used", used)
if total != 3_000_000:
    print("total is wrong:", total, file=sys.stderr)
    sys.exit(1)
"""
EXPIRED = """
import sys
import time


class Token:
    def __init__(self, minutes):
        self.expires = time.time() + minutes / 60


def work(count):
    return sum(each * each for each in range(count))


token = Token(10)
work(3_000_000)
if time.time() > token.expires:
    sys.exit("token has expired")
"""
QUICK = """
import sys
import time

begin = time.monotonic()
count = sum(1 for _ in range(1000))
took = time.monotonic() - begin
if took < 0.05:
    print("came back too soon")
    sys.exit(1)
"""


def investigated(whet: Whet, program: str, *words: str) -> dict[str, Any]:
    whet.write("main.py", program)
    whet("investigate", "--budget", "80s", "--", *(words or (sys.executable, "main.py")))
    told: dict[str, Any] = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    return told


def says_of(told: dict[str, Any]) -> list[str]:
    return [each["says"] for each in told["clues"]]


def test_a_list_that_keeps_what_was_to_be_taken_out_is_told_with_that_line(whet: Whet) -> None:
    first, second = investigated(whet, LISTENERS)["clues"][:2]

    assert (first["line"], first["sureness"]) == (14, "shown")
    assert "with `each != listener` instead of `each is not listener`" in first["says"]
    assert second["says"].startswith("`hub.listeners` (list, ")
    assert "it is filled at main.py:11 (`self.listeners.append(listener)`)" in second["says"]


@pytest.mark.long
def test_a_cache_that_takes_out_nothing_is_told_with_what_fills_it(whet: Whet) -> None:
    (clue,) = investigated(whet, CACHE)["clues"]

    assert clue["says"].startswith("`cache.pages` (dict, 900 items, made at main.py:8)")
    assert 'it is filled at main.py:11 (`self.pages[f"page {number}"] = page`)' in clue["says"]


@pytest.mark.long
def test_what_keeps_more_objects_is_told_where_they_are_counted(whet: Whet) -> None:
    (clue,) = investigated(whet, TRACKED)["clues"]

    assert clue["says"].startswith("`runner.done` (dict, ")
    assert "it is filled at main.py:18" in clue["says"]
    assert (clue["heading"], clue["sureness"]) == ("what takes the memory", "seen")


@pytest.mark.long
def test_what_a_class_keeps_is_told_where_its_objects_are_counted(whet: Whet) -> None:
    (clue,) = investigated(whet, OF_CLASS)["clues"]

    assert clue["says"].startswith("`Line.live` (dict, 200 items")
    assert clue["line"] == 12


def test_a_condition_that_is_loosened_is_not_shown_to_be_the_cause(whet: Whet) -> None:
    clues = investigated(whet, GUARDED)["clues"]

    assert any(
        "too little is taken out of `Line.live` at main.py:17" in each["says"] for each in clues
    )
    assert "shown" not in [each["sureness"] for each in clues]


@pytest.mark.long
def test_what_grows_between_two_readings_of_the_kernel_is_told(whet: Whet) -> None:
    (clue,) = investigated(whet, STATM)["clues"]

    assert clue["says"].startswith("`LOG` (list, 400 items, made at main.py:4)")
    assert clue["line"] == 13


@pytest.mark.long
def test_keys_with_few_hash_values_are_told_and_hashed_by_what_they_compare(whet: Whet) -> None:
    clue = investigated(whet, KEYS)["clues"][0]

    assert (clue["line"], clue["sureness"]) == (14, "shown")
    assert "`Point.__hash__` at main.py:13 gives 1 value for " in clue["says"]
    assert "with `hash(((self.x, self.y),))` instead of `hash(self.x // 1000)`" in clue["says"]


@pytest.mark.long
def test_the_function_that_takes_the_time_is_told(whet: Whet) -> None:
    told = investigated(whet, SEARCH)

    assert any("`known`" in each for each in says_of(told)), says_of(told)
    assert told["answer"]["heading"] == "what takes the time"


@pytest.mark.long
def test_the_function_that_takes_the_time_of_a_test_is_told(whet: Whet) -> None:
    whet.write("test_fib.py", TEST)
    says = says_of(investigated(whet, "", sys.executable, "-m", "pytest", "-q"))

    assert any("`fib`" in each for each in says), says


@pytest.mark.long
def test_what_takes_the_time_is_told_where_a_helper_reads_the_clock(whet: Whet) -> None:
    says = says_of(investigated(whet, USED))

    assert any("main.py:17 in `total`" in each for each in says), says


@pytest.mark.long
@pytest.mark.parametrize("program", [STAMPED, LOGGED, QUICK])
def test_a_number_beside_a_reading_is_no_cost(whet: Whet, program: str) -> None:
    told = investigated(whet, program)

    assert not any(each.get("heading", "").startswith("what takes") for each in told["clues"])
    assert not any(
        "shown" in each["sureness"] and "taken out" in each["says"] for each in told["clues"]
    )
    steps = [each["result"] for each in told["steps"]]
    assert any(each.startswith("it fails also where it reads hardly any ") for each in steps), steps


@pytest.mark.long
def test_that_a_value_is_out_of_date_is_looked_at_beside_what_took_the_time(whet: Whet) -> None:
    told = investigated(whet, EXPIRED)

    assert any(each["title"] == "Look closer" for each in told["steps"]), told["steps"]
    assert told["answer"]["cause"] is None or "samples" not in told["answer"]["cause"]["says"]
