"""A bad value is followed back to the line that made it, and no line is named that did not."""

import json
import re
from pathlib import Path

import pytest
from recorded_runs import clues, line_of, recorded

from whet.core.observations.clue import Sureness
from whet.host.trial.instrumented_evidence import read_steps

NONE_FROM_A_BRANCH = """\
def rate_of(country):
    if country == "de":
        return 19
    if country == "fr":
        return 20


def gross(order):
    rate = rate_of(order["country"])
    return order["net"] * (100 + rate) / 100


print([gross(each) for each in [{"net": 1, "country": "de"}, {"net": 2, "country": "at"}]])
"""
NONE_FROM_A_LOOKUP = """\
class Settings:
    def __init__(self, values):
        self.width = values.get("width")
        self.height = values.get("height")


def area(settings):
    return settings.width * settings.height


print(area(Settings({"width": 3, "depth": 4})))
"""
NAN_FROM_A_DIVISION = """\
def share(part, whole):
    try:
        return part / whole
    except ZeroDivisionError:
        return float("nan")


def shares(rows):
    return {name: share(part, whole) for name, part, whole in rows}


found = shares([("a", 1, 2), ("b", 0, 0), ("c", 2, 4)])
for name, value in found.items():
    print(name, round(value * 100))
"""
TEXT_FOR_A_NUMBER = """\
def prices():
    found = {}
    for line in ["tea 3", "jam 4", "oil ~5"]:
        name, price = line.split()
        found[name] = int(price) if price.isdigit() else price
    return found


def total(table, names):
    amount = 0
    for name in names:
        amount = amount + table[name]
    return amount


print(total(prices(), ["tea", "jam", "oil"]))
"""
TAKEN_OUT = """\
class Stock:
    def __init__(self):
        self.held = {"bolt": 3, "nut": 0, "cog": 5}

    def tidy(self):
        for name in [name for name, count in self.held.items() if not count]:
            del self.held[name]


stock = Stock()
stock.tidy()
print(stock.held["cog"] + stock.held["nut"])
"""
ATTRIBUTE_DELETED = """\
class Connection:
    def __init__(self):
        self.socket = [1]

    def close(self):
        del self.socket

    def send(self):
        return self.socket[0]


connection = Connection()
print(connection.send())
connection.close()
connection.send()
"""
USED_UP = """\
def valid(numbers):
    for number in numbers:
        if number > 0:
            yield number


def mean(numbers):
    total = count = 0
    for number in numbers:
        total += number
        count += 1
    return total / count


numbers = valid([3, -1, 4])
print(sorted(numbers))
print(mean(numbers))
"""
WORKING_FOLDER = """\
import os
import pathlib

pathlib.Path("words.txt").write_text("hello")
os.makedirs("parts", exist_ok=True)
os.chdir("parts")
print(open("words.txt").read())
"""
REMOVED_FILE = """\
import os
import pathlib

pathlib.Path("words.txt").write_text("hello")
os.remove("words.txt")
print(open("words.txt").read())
"""
REPLACED = """\
class ConfigError(Exception):
    pass


def number(text):
    return int(text)


def load(text):
    try:
        return [number(each) for each in text.split(",")]
    except ValueError:
        raise ConfigError("cannot read the numbers") from None


load("1,2,x3")
"""
ENDED = """\
import sys


def ratio(row):
    return row["hits"] / row["tries"]


def main(rows):
    try:
        return [ratio(row) for row in rows]
    except ZeroDivisionError as error:
        print("cannot compute:", error, file=sys.stderr)
        sys.exit(1)


main([{"hits": 1, "tries": 2}, {"hits": 0, "tries": 0}])
"""
KEY_OF_ANOTHER_TYPE = """\
import json

seats = json.loads(json.dumps({7: "ada", 9: "bob"}))
print(seats[7])
"""
SEEN = {
    "none from a branch": (NONE_FROM_A_BRANCH, "def rate_of"),
    "NaN from a division": (NAN_FROM_A_DIVISION, 'return float("nan")'),
    "text for a number": (TEXT_FOR_A_NUMBER, "if price.isdigit()"),
    "a key that was taken out": (TAKEN_OUT, "del self.held[name]"),
    "an attribute that was deleted": (ATTRIBUTE_DELETED, "del self.socket"),
    "a generator that was used up": (USED_UP, "print(sorted(numbers))"),
    "the working folder": (WORKING_FOLDER, "os.chdir"),
    "a file that was removed": (REMOVED_FILE, "os.remove"),
    "an error that was replaced": (REPLACED, "return int(text)"),
    "an error for which the program ended itself": (ENDED, 'return row["hits"]'),
    "a key of another type": (KEY_OF_ANOTHER_TYPE, "seats = json.loads"),
}


@pytest.mark.parametrize("name", SEEN)
def test_the_first_clue_names_the_line_that_made_the_bad_value(name: str, tmp_path: Path) -> None:
    program, part = SEEN[name]
    first = clues(tmp_path, program)[0]
    assert first.sureness is Sureness.SEEN
    assert f"main.py:{line_of(program, part)}" in first.whole


def test_a_key_that_is_missing_is_told_where_it_was_asked_for_and_is_not_called_the_cause(
    tmp_path: Path,
) -> None:
    first = clues(tmp_path, NONE_FROM_A_LOOKUP)[0]
    line = line_of(NONE_FROM_A_LOOKUP, 'values.get("height")')
    place = f"main.py:{line}"
    assert (first.sureness, place in first.whole) == (Sureness.POSSIBLE, True)


LOOKS_ALIKE = """\
import csv

prices = {}
with open("prices.csv", newline="") as lines:
    for row in csv.DictReader(lines):
        prices[row["part"]] = float(row["price"])
for part in ["HX-100", "HX-108"]:
    print(prices[part] * 2)
"""


@pytest.mark.parametrize("written", ["HX-1O8", "hx-108 ", "HX\u2013108", "HX_108", "\uff28X-108"])
def test_a_key_that_reads_alike_is_named_with_its_record(written: str, tmp_path: Path) -> None:
    rows = [f"HX-{number},{number}.5" for number in range(200, 260)]
    rows[30:30] = [f"{written},3.25"]
    table = "\n".join(["part,price", "HX-100,1.5", *rows, ""])
    first = clues(tmp_path, LOOKS_ALIKE, prices_csv=table)[0]
    assert first.sureness is Sureness.SEEN
    assert "prices.csv:33" in first.whole


def test_a_key_that_reads_otherwise_is_not_named(tmp_path: Path) -> None:
    table = "part,price\nHX-100,1.5\nHX-107,2.5\nHX-109,2.5\n"
    found = clues(tmp_path, LOOKS_ALIKE, prices_csv=table)
    assert not [each for each in found if "but it has" in each.whole]


NAN_IN_A_ROW = """\
import csv


def number(text):
    return float(text) if text else float("nan")


def table(name):
    found = []
    with open(name, newline="") as lines:
        for row in csv.DictReader(lines):
            found.append([number(row["length"]), number(row["width"])])
    return found


rows = table("parts.csv")
sums = [sum(column) for column in zip(*rows)]


def whole(numbers):
    return [int(each) for each in numbers]


print(whole(sums))
"""


def test_nan_in_the_middle_of_many_rows_is_followed_to_its_record(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    program = NAN_IN_A_ROW.replace("import csv", "import csv\n\nimport numpy as np").replace(
        "[sum(column) for column in zip(*rows)]", "np.array(rows).sum(axis=0)"
    )
    lines = [f"p{number},{number + 0.25},{number + 0.5}" for number in range(100)]
    lines[61] = "p61,61.25,"
    table = "\n".join(["name,length,width", *lines, ""])
    said = clues(tmp_path, program, parts_csv=table)[0].whole
    line = line_of(program, 'float("nan")')
    assert f"main.py:{line}" in said
    assert "parts.csv:63" in said
    assert len(re.findall(r"parts\.csv:\d+", said)) == 1


SET_ELSEWHERE = """\
import settings


def begin():
    settings.COUNTRY = "de"


def gross(net):
    return net * (100 + settings.RATES[settings.COUNTRY]) / 100


begin()
found = gross(50)
assert found == 60.0, found
"""


def test_what_another_module_holds_is_followed_to_who_has_set_it(tmp_path: Path) -> None:
    settings = 'COUNTRY = "fr"\nRATES = {"fr": 20, "de": 19}\n'
    said = clues(tmp_path, SET_ELSEWHERE, settings_py=settings)[0].whole
    assert f"main.py:{line_of(SET_ELSEWHERE, 'settings.COUNTRY = ')}" in said
    assert "settings.py:2" in said


def test_what_nobody_has_set_is_followed_to_its_module(tmp_path: Path) -> None:
    program = SET_ELSEWHERE.replace('settings.COUNTRY = "de"', "pass")
    settings = 'COUNTRY = "de"\nRATES = {"fr": 20, "de": 19}\n'
    said = clues(tmp_path, program, settings_py=settings)[0].whole
    assert "settings.py:1" in said


ONE_OF_MANY = """\
rows = [{"number": n, "price": n * 10} for n in range(5)]
wanted = 90
assert sum(row["price"] for row in rows) == wanted
"""


def test_what_the_last_round_of_a_sum_gave_is_not_called_the_sum(tmp_path: Path) -> None:
    assert not [each for each in clues(tmp_path, ONE_OF_MANY) if "is 40" in each.whole]


LONG_LOOP = """\
def readings(count):
    for number in range(count):
        yield {"number": number, "level": number / 7}


def total(rows):
    amount = 0
    for row in rows:
        amount += row["level"]
    return amount


rows = [row for row in readings(30_000)]
rows.append({"number": -1, "level": None})
print(total(rows))
"""


def test_the_end_of_a_long_loop_is_looked_at(tmp_path: Path) -> None:
    first = clues(tmp_path, LONG_LOOP)[0]
    assert first.sureness is Sureness.SEEN
    assert f"main.py:{line_of(LONG_LOOP, 'rows.append')}" in first.whole


CHANGED_UNSEEN = """\
def last(count):
    value = 1
    for number in range(count):
        value = number if number < count - 10 else None
    return value + 1


last(5_000)
"""


def test_a_round_that_nobody_has_looked_at_is_not_guessed(tmp_path: Path) -> None:
    assert not any("value = 1" in each.whole for each in clues(tmp_path, CHANGED_UNSEEN))
    assert all(each.sureness is Sureness.POSSIBLE for each in clues(tmp_path, CHANGED_UNSEEN))


RECORDS = """\
import csv


def read(path):
    with open(path, newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [{"name": row["name"], "km": float(row["km"]) if row["km"] else None} for row in rows]


print(sum(each["km"] for each in read("trips.csv")))
"""
TRIPS = "name,km\nada,3.5\nbob,\ncleo,4\n"


def test_the_record_that_a_bad_value_was_read_from_is_named(tmp_path: Path) -> None:
    first = clues(tmp_path, RECORDS, trips_csv=TRIPS.replace("bob,", "robert of the hill,"))[0]
    assert first.sureness is Sureness.SEEN
    assert f"main.py:{line_of(RECORDS, 'float(row')}" in first.whole


DROPPED = """\
import contextlib


def read(lines):
    found = {}
    for line in lines:
        with contextlib.suppress(ValueError):
            name, price = line.split(";")
            found[name] = float(price)
    return found


def main():
    prices = read(open("prices.txt"))
    print(prices["tea"] + prices["jam"])


main()
"""


def test_an_error_that_nobody_heard_of_is_named_where_what_it_dropped_is_missing(
    tmp_path: Path,
) -> None:
    first = clues(tmp_path, DROPPED, prices_txt="tea;3.5\njam;2,5\n")[0]
    assert first.sureness is Sureness.SEEN
    assert f"main.py:{line_of(DROPPED, 'float(price)')}" in first.whole
    assert "could not convert string to float" in first.whole


NEVER_THERE = """\
def read(lines):
    found = {}
    for line in lines:
        name, price = line.split(";")
        found[name] = float(price)
    return found


prices = read(["tea;3.5", "jam;2.5"])
prices.pop("jam")
print(prices["milk"])
"""


def test_nothing_is_called_seen_where_a_key_was_never_there(tmp_path: Path) -> None:
    assert all(each.sureness is Sureness.POSSIBLE for each in clues(tmp_path, NEVER_THERE))


HOSTILE = """\
class Kind(type):
    def __hash__(cls):
        raise SystemExit("hash")

    def __eq__(cls, other):
        raise SystemExit("eq")


class Value(metaclass=Kind):
    __slots__ = ("inner", "__dict__")

    def __getattribute__(self, name):
        raise SystemExit("getattribute")

    def __repr__(self):
        raise SystemExit("repr")

    def __iter__(self):
        raise SystemExit("iter")

    def __len__(self):
        raise SystemExit("len")


class Box(dict):
    def items(self):
        raise SystemExit("items")

    def __iter__(self):
        raise SystemExit("iter")


def main():
    value = Value()
    box = Box(a=value)
    password = "hunter2-hunter2"
    rows = [value, box, {"password": password}]
    del rows[0]
    return len(rows) / (len(rows) - 2)


main()
"""


def test_no_code_of_the_program_runs_to_look_at_its_values_and_secrets_stay(
    tmp_path: Path,
) -> None:
    (tmp_path / "main.py").write_text(HOSTILE)
    recording, told = recorded(tmp_path, said="ZeroDivisionError")
    (steps,) = read_steps(told)
    assert "hunter2" not in json.dumps(json.loads(steps.data)["rows"])
    assert any(value.type == "__main__.Value" for value in recording.values)


THREADS = """\
import asyncio
import threading


def double(values, found):
    for value in values:
        found.append(value * 2)


async def later(value):
    await asyncio.sleep(0)
    return value


async def main():
    found = []
    thread = threading.Thread(target=double, args=([1, 2], found))
    thread.start()
    thread.join()
    rows = await asyncio.gather(*(later(each) for each in [*found, None]))
    return sum(rows)


asyncio.run(main())
"""


def test_threads_tasks_and_generators_run_as_before(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(THREADS)
    recording, _ = recorded(tmp_path, said="NoneType")
    names = {call.code.short for call in recording.calls}
    assert {"double", "later", "main"} <= names


PAGES = """\
class Service:
    def __init__(self):
        self.rows = [100 + number for number in range(45)]

    def page_count(self):
        return len(self.rows) // 10

    def page(self, number):
        return self.rows[number * 10 : number * 10 + 10]


def fetched(service):
    found = {}
    for number in range(service.page_count()):
        for row in service.page(number):
            found[row] = row
    return list(found.values())


service = Service()
copied = fetched(service)
total = sum(copied)
assert total == sum(service.rows), total
"""


def test_the_way_of_a_value_is_told_a_place_in_each_step_the_nearest_to_the_failure_first(
    tmp_path: Path,
) -> None:
    (first, *_) = clues(tmp_path, PAGES)
    told = [(step.place, step.source) for step in first.trail]
    way = ["return list", "found[row] = row", "return len(self.rows)", "found = {}"]
    places = [f"main.py:{line_of(PAGES, part)}" for part in way]
    found = [place for place, _ in told if place in places]

    assert found == places
    assert all(re.fullmatch(r"main\.py:\d+", place) and source for place, source in told)
    assert not any("main.py:" in step.says for step in first.trail)
    (rounds,) = [step.says for step in first.trail if "gave 4" in step.says]
    assert "went round 4 times" in rounds
    assert first.says.count("main.py:") == 2


LEFT_BY_BREAK = """\
def collect(readings):
    count = 0
    while True:
        reading = readings.pop(0)
        if not reading:
            break
        count += 1
    return count, len(readings)


found, left = collect([4, 7, 0, 3, None])
assert found == 4, found
"""
LEFT_BEFORE = LEFT_BY_BREAK.replace("break", "return count", 1).replace(
    "while True", "for _ in '123'"
)


@pytest.mark.parametrize("program", [LEFT_BY_BREAK, LEFT_BEFORE])
def test_a_test_that_ends_a_loop_is_told_as_it_came_out(tmp_path: Path, program: str) -> None:
    whole = " ".join(each.whole for each in clues(tmp_path, program))
    assert "was false: `reading` was 0" not in whole


def test_the_test_that_ended_a_loop_is_told_as_true(tmp_path: Path) -> None:
    (first, *_) = clues(tmp_path, LEFT_BY_BREAK)
    assert (
        "Its loop ended, because `not reading` at main.py:5 was true: `reading` was 0"
        in first.whole
    )


FROM_A_SPREADSHEET = """\
import csv
from dataclasses import dataclass


@dataclass
class Member:
    number: int
    name: str


def member(row):
    return Member(row.get("number"), row["name"])


with open("members.csv", encoding="utf-8") as file:
    members = [member(row) for row in csv.DictReader(file)]
print(f"{members[0].number:05d}")
"""


def test_a_key_with_a_byte_order_mark_is_told_apart(tmp_path: Path) -> None:
    told = clues(tmp_path, FROM_A_SPREADSHEET, members_csv="\ufeffnumber,name\n17,Ada\n")
    assert "asked `row` for 'number', but it has '\\ufeffnumber'" in told[0].says
    assert all(each.sureness is Sureness.POSSIBLE for each in told)


LOWERED = """\
PRICES = {"AB-12": 30, "CD-40": 12}


def codes(text):
    for line in text.splitlines():
        yield line.strip().lower()


def total(text):
    return sum(PRICES[code] for code in codes(text))


print(total("CD-40\\nAB-12\\n"))
"""


def test_of_two_forms_of_a_key_that_both_come_from_elsewhere_neither_is_the_cause(
    tmp_path: Path,
) -> None:
    (told,) = [each for each in clues(tmp_path, LOWERED) if "but it has" in each.says]
    assert "asked `PRICES` for 'cd-40' (from main.py:6" in told.says
    assert "but it has 'CD-40', which comes from main.py:1" in told.says
    assert (told.sureness, told.line) == (Sureness.POSSIBLE, 6)


NOT_COMMITTED = """\
import sqlite3
from contextlib import closing
from pathlib import Path

Path("shop.sqlite").unlink(missing_ok=True)


def record(names):
    with closing(sqlite3.connect("shop.sqlite")) as db:
        db.execute("CREATE TABLE log (name TEXT, size INTEGER)")
        db.executemany("INSERT INTO log VALUES (?, 1)", names)
        {commit}
        return db.execute("SELECT count(*) FROM log").fetchone()[0]


def total(names):
    with closing(sqlite3.connect("shop.sqlite")) as db:
        return db.execute("SELECT sum(size) FROM log WHERE name = ?", names).fetchone()[0]


record([("a",), ("b",)])
print(1 + total({asked!r}))
"""


def test_what_was_written_and_not_committed_is_told_where_nothing_is_found(tmp_path: Path) -> None:
    lost = NOT_COMMITTED.format(commit="pass", asked=("a",))
    told = clues(tmp_path, lost)
    assert line_of(lost, "db.executemany(") in [each.line for each in told]
    assert all(each.sureness is Sureness.POSSIBLE for each in told)


def test_nothing_is_said_to_be_lost_that_was_committed(tmp_path: Path) -> None:
    told = clues(tmp_path, NOT_COMMITTED.format(commit="db.commit()", asked=("c",)))
    assert not any("commit" in each.says for each in told)
    assert all(each.sureness is Sureness.POSSIBLE for each in told)


CALLS_ON_LINES = """\
class Job:
    def __init__(self, name, minutes):
        self.minutes = minutes


jobs = [
    Job("deploy", 10),
    Job("test", 20),
    Job("build", 1),
]
total = 0
for job in jobs[::-1]:
    total += job.minutes
assert total == 32, total
"""


@pytest.mark.parametrize(
    "program", [CALLS_ON_LINES, re.sub(r"\n    (?=Job)|\n(?=\])", "", CALLS_ON_LINES)]
)
def test_of_several_calls_of_a_line_the_one_is_told_that_gave_the_value(
    tmp_path: Path, program: str
) -> None:
    (first, *_) = clues(tmp_path, program)
    (minutes,) = [each for each in first.trail if "job.minutes" in each.says]
    assert minutes.source == "10"


REPEATED = """\
def doubled(settings):
    return settings["size"] * 2


size = doubled({"size": "10"})
left = int(size) - 3
assert left == 17, left
"""


def test_a_text_that_was_repeated_comes_from_where_that_was_done(tmp_path: Path) -> None:
    (first, *_) = clues(tmp_path, REPEATED)
    assert first.trail[0].place == f"main.py:{line_of(REPEATED, ' * 2')}"


SUMMED = """\
def monthly(rows):
    found = {}
    for month, amount in rows:
        found[month] = found.get(month, 0.0) + amount
    return found


for booked, rows in [(3.5, [("may", 3.5)]), (4.5, [("may", 2.0), ("may", 25.0)])]:
    total = sum(monthly(rows).values())
    difference = total - booked
    assert difference == 0, difference
"""


def test_the_only_entry_of_a_sum_is_followed_to_what_added_it(tmp_path: Path) -> None:
    (first, *_) = clues(tmp_path, SUMMED)
    assert first.says.startswith("`difference` is 22.5 ")
    assert "of type" not in first.says
    assert f"main.py:{line_of(SUMMED, '+ amount')}" in [each.place for each in first.trail]


BY_CHANCE = """\
def discount(order):
    return 0


def price(order):
    gross = order["count"] * order["unit"]
    return round(gross * (1 - discount(order)), 2)


got = price({"count": 2, "unit": 50.0})
assert got == 90.0, got
"""


def test_a_number_that_is_equal_to_an_operand_by_chance_was_made_by_the_calculation(
    tmp_path: Path,
) -> None:
    (first, *_) = clues(tmp_path, BY_CHANCE)
    assert f"main.py:{line_of(BY_CHANCE, '1 - discount')}" in first.says
    assert "discount(order)" in first.whole


TRIED_AGAIN = """\
import asyncio


async def page(number):
    if number == 1:
        raise ConnectionError(number)
    return [number]


async def retried(number, times=2):
    for attempt in range(times):
        try:
            return await page(number)
        except ConnectionError:
            if attempt == times:
                raise


async def main():
    found = await asyncio.gather(*[retried(number) for number in range(3)], return_exceptions=True)
    pages = [page for page in found if not isinstance(page, Exception)]
    for each in pages:
        print(len(each))


asyncio.run(main())
"""


def test_the_task_that_gave_nothing_is_told_with_the_test_that_did_not_leave_it(
    tmp_path: Path,
) -> None:
    (first, *_) = clues(tmp_path, TRIED_AGAIN)
    assert "`retried` at main.py:10 ended after line 11 without returning a value" in first.says
    assert "because `attempt == times` at main.py:15 was false: `attempt` was 1" in first.says


HALF_DONE = """\
stock, sold = {"tea": 1, "mug": 5}, []


def sell(name, count):
    try:
        sold.append(name)
        if stock[name] < count:
            raise LookupError(name)
        stock[name] -= count
    except LookupError:
        return False
    return True


done = [sell("mug", 2), sell("tea", 3)]
assert len(sold) == sum(done), (sold, done)
"""


def test_what_was_done_before_a_caught_error_is_told_after_all_else(tmp_path: Path) -> None:
    told = clues(tmp_path, HALF_DONE)
    assert told[-1].says == (
        "main.py:10 caught LookupError('tea'), which came up after main.py:6 (`sold.append(name)`)"
        " was done"
    )


COUNTED = """\
def ports(services, fixed):
    found = {}
    for offset, name in enumerate(services):
        found[name] = fixed.get(name) or 9500 + offset
    return found


found = ports(["web", "api", "jobs"], {"jobs": 0})
assert found["jobs"] == 0, found
"""


def test_a_counted_number_does_not_come_from_what_has_it_as_a_place(tmp_path: Path) -> None:
    (offset,) = [e for e in clues(tmp_path, COUNTED)[0].trail if e.says == "`offset`"]
    assert offset.place == "main.py:3"


LEFT_OUT = """\
class Extremes:
    def __init__(self):
        self.high = 0.0

    def add(self, degrees):
        if degrees > self.high:
            self.high = degrees


days = {("osl", "may"): Extremes(), ("rom", "may"): Extremes()}
days["osl", "may"].add(-2.5)
days["rom", "may"].add(21.5)
own = {day: each.high for (name, day), each in days.items() if name == "osl"}
degrees = max(own.values())
assert degrees < 0, degrees
"""


def test_a_round_that_a_comprehension_left_out_is_not_where_a_value_came_from(
    tmp_path: Path,
) -> None:
    (first, *_) = clues(tmp_path, LEFT_OUT)
    assert "It was set at main.py:3 (`0.0`)" in first.says


OTHERS_YIELD = """\
class Guest:
    def __init__(self, number):
        self.number = number


def guests(count):
    for number in range(count):
        yield Guest(number)


def tables(seats):
    seen = [each.number for each in guests(6)]
    return len(seen) // seats - seats


left = {seats: tables(seats) for seats in (2, 4, 5)}
least = left[4]
assert least > 0, least
"""


def test_a_number_does_not_come_from_an_object_that_another_generator_has_yielded(
    tmp_path: Path,
) -> None:
    (first, *_) = clues(tmp_path, OTHERS_YIELD)
    assert [each.place for each in first.trail if each.says.startswith("`seats`")] == ["main.py:16"]


COUNTS_OBJECTS = """\
class Seat:
    def __init__(self, row):
        self.row = row


def share(taken, room):
    return taken / room


seats = [Seat(row) for row in (5, 3, 2)]
full = share(9, len(seats))
assert full <= 1, full
"""


def test_a_count_does_not_come_from_what_has_that_number_in_it(tmp_path: Path) -> None:
    (first, *_) = clues(tmp_path, COUNTS_OBJECTS)
    room = [each.source for each in first.trail if each.says == "`room`"]
    assert "Seat(row)" not in room


@pytest.mark.parametrize(
    ("body", "given"),
    [
        (" return n * 2", "n * 2"),
        ("\n    if n > 1: return n * 2\n    return 0", "n * 2"),
        ("\n    for each in [n]: return each * 2", "each * 2"),
        (" return None", "None"),
    ],
)
def test_a_return_on_the_line_of_what_it_is_in_is_seen(
    tmp_path: Path, body: str, given: str
) -> None:
    found = clues(tmp_path, f"def f(n):{body}\nmade = f(21)\nassert made == 7, made\n")
    whole = "\n".join(each.whole for each in found)
    assert given in whole
    assert "without returning" not in whole


@pytest.mark.parametrize("body", ["if n > 99: return 1", "n += 1", "return"])
def test_a_call_that_returns_no_value_is_said_to(tmp_path: Path, body: str) -> None:
    found = clues(tmp_path, f"def f(n):\n    {body}\nmade = f(21)\nassert made == 7, made\n")
    assert any("ended after line 2 without returning a value" in each.whole for each in found)
