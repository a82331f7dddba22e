"""Numbers that are made of many others: the one that stands out is named, and none that doesn't."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_runs import clues, line_of

from whet.evidence.provenance.trace.oddness import odd_in

INVOICES = """\
import csv


def cents_of(text):
    whole, _, cents = text.partition(",")
    return int(whole.replace("'", "")) * 100 + int(cents or 0)


def load(path):
    rows, control = [], 0
    with open(path, newline="", encoding="utf-8") as file:
        for number, customer, text in csv.reader(file, delimiter=";"):
            if number == "SUM":
                control = cents_of(text)
            else:
                rows.append((number, customer, cents_of(text)))
    return rows, control


def by_customer(rows):
    sums = {}
    for _, customer, cents in rows:
        sums[customer] = sums.get(customer, 0) + cents
    return sums


rows, control = load("bills.csv")
total = sum(by_customer(rows).values())
assert total == control, f"{total} is not {control}"
"""
_BILLS = [(f"R{n}", "ABC"[n % 3], 1200 + n * n * 7919 % 90000) for n in range(100, 124)]
_LINES = [f"{number};{name};{cents // 100},{cents % 100:02}" for number, name, cents in _BILLS]
_ODD_BILL = f"R113;{_BILLS[13][1]};768,1"
_SUM = sum(cents for number, _, cents in _BILLS if number != "R113") + 76810
BILLS = "\n".join(
    [*_LINES[:13], _ODD_BILL, *_LINES[14:], f"SUM;;{_SUM // 100},{_SUM % 100:02}", ""]
)

STOCK = """\
import json


class Store:
    def __init__(self):
        self.pieces = 0
        self.seen = []

    def take(self, line):
        code, name, pieces = line.split("|")
        if not code.isdigit():
            return
        self.pieces += int(pieces)
        self.seen.append(name)


store = Store()
with open("shelf.txt", encoding="utf-8") as lines:
    for line in lines:
        store.take(line.rstrip())
wanted = 12345
if store.pieces != wanted:
    raise ValueError(f"{store.pieces} pieces instead of {wanted}")
"""
_PIECES = [(f"{5000 + n}", f"part-{n}", 200 + n * 37 % 91) for n in range(40)]
_PIECES[21] = ("50 21", "part-21", 12345 - sum(p for n, (_, _, p) in enumerate(_PIECES) if n != 21))
SHELF = "".join(f"{code}|{name}|{pieces}\n" for code, name, pieces in _PIECES)

VOTES = """\
import collections
import json

with open("wanted.json", encoding="utf-8") as file:
    wanted = json.load(file)
counted = collections.Counter()
with open("votes.csv", encoding="utf-8") as lines:
    for line in lines:
        station, votes = line.split(",")
        counted[station] += int(votes)
assert dict(counted) == wanted
"""
_VOTES = [(f"{'NESW'[n % 4]}{n % 3}", 31 + n * 17 % 23) for n in range(48)]
_WANTED = {name: sum(v for n, v in _VOTES if n == name) for name, _ in _VOTES}
_VOTES[29] = (_VOTES[29][0], -_VOTES[29][1])
VOTES_CSV = "".join(f"{name},{votes}\n" for name, votes in _VOTES)

LEVELS = """\
from dataclasses import dataclass


@dataclass
class Gauge:
    minute: int
    level: float


def load(path):
    gauges = []
    with open(path, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            minute, level = line.split()
            gauges.append(Gauge(int(minute), float(level)))
    return gauges


class Profile:
    def __init__(self):
        self.hours = [0.0] * 6

    def add(self, gauge):
        self.hours[gauge.minute // 60] += gauge.level * 0.25


profile = Profile()
for gauge in load("levels.txt"):
    profile.add(gauge)
smooth = [(a + b) / 2 for a, b in zip(profile.hours, profile.hours[1:])]
highest, lowest = max(smooth), min(smooth)
if highest > 3 * lowest:
    raise ValueError(f"from {lowest} to {highest}")
"""
_LEVELS = [(minute, 3.5 + minute * 7 % 11 / 10) for minute in range(0, 360, 6)]
_LEVELS[25] = (150, 412.0)
LEVELS_TXT = "minute level\n" + "".join(f"{minute} {level}\n" for minute, level in _LEVELS)

ALIKE = """\
SCALE = 0.01


def load(path):
    with open(path, encoding="utf-8") as lines:
        return [int(line.split()[1]) for line in lines]


readings = load("power.txt")
total = 0.0
for each in readings:
    total += each * SCALE
if total < 400:
    raise ValueError(f"only {total}")
"""
POWER = "".join(f"2026-03-{n:02} {150 + n * 13 % 29}\n" for n in range(1, 29))

ORDERS = """\
import json

with open("orders.jsonl", encoding="utf-8") as lines:
    orders = [json.loads(line) for line in lines]
paid = sum(each["price"] for each in orders)
with open("bank.json", encoding="utf-8") as file:
    bank = json.load(file)["paid"]
assert abs(paid - bank) < 0.005
"""
_ORDERS = [f'{{"id": "o{n}", "price": {19 + n * 7919 % 977 / 10}}}\n' for n in range(30)]
_PAID = sum(19 + n * 7919 % 977 / 10 for n in range(30) if n != 17)
ORDERS_JSONL, BANK = "".join(_ORDERS), f'{{"paid": {round(_PAID, 2)}}}\n'


MEANS = """\
import json


def metres(words):
    return float(words[2]) / (100 if words[3] == "cm" else 1)


def daily(rows):
    days = {}
    for row in rows:
        days.setdefault(row[0], []).append(metres(row))
    return {day: round(sum(levels) / len(levels), 3) for day, levels in days.items()}


with open("tide.txt", encoding="utf-8") as lines:
    means = daily([line.split() for line in lines])
with open("means.json", encoding="utf-8") as file:
    wanted = json.load(file)
assert means == wanted
"""
_TIDE = [(f"d{n // 6}", f"g{n % 6}", f"{110 + n * 37 % 190}", "cm") for n in range(36)]
_BY_DAY = [sum(int(_TIDE[at][2]) for at in range(n, n + 6)) / 600 for n in range(0, 36, 6)]
_TIDE[21] = (*_TIDE[21][:3], "CM")
TIDE = "".join(" ".join(each) + "\n" for each in _TIDE)
MEANS_JSON = json.dumps({f"d{n}": round(mean, 3) for n, mean in enumerate(_BY_DAY)})


@pytest.mark.parametrize(
    ("program", "files", "record", "words"),
    [
        (INVOICES, {"bills_csv": BILLS}, "bills.csv:14", "24 numbers"),
        (STOCK, {"shelf_txt": SHELF}, "shelf.txt:22", "39 numbers"),
        (VOTES, {"votes_csv": VOTES_CSV, "wanted_json": json.dumps(_WANTED)},
         "votes.csv:30", "the other way round"),
        (LEVELS, {"levels_txt": LEVELS_TXT}, "levels.txt:27", "is 412"),
        (MEANS, {"tide_txt": TIDE, "means_json": MEANS_JSON}, "tide.txt:22", "differ under 'd3'"),
        (ORDERS, {"orders_jsonl": ORDERS_JSONL, "bank_json": BANK}, "orders.jsonl:18", "without its"),
    ],
    ids=["misread", "passed over", "sign", "largest", "mean", "too many"],
)  # fmt: skip
def test_the_record_that_makes_a_total_wrong_is_named(
    tmp_path: Path, program: str, files: dict[str, str], record: str, words: str
) -> None:
    first = clues(tmp_path, program, **files)[0]
    assert record in first.record, first
    assert words in first.says


def test_where_none_of_many_numbers_stands_out_no_record_is_named(tmp_path: Path) -> None:
    found = clues(tmp_path, ALIKE, power_txt=POWER)
    assert "28 numbers, of which none stands out" in found[0].whole
    assert found[0].line == line_of(ALIKE, "total += ")
    assert not any(each.record for each in found)
    assert "power.txt" not in "\n".join(each.whole for each in found)


ROOTS = """\
import math


def means(rows):
    days = {}
    for hour, size in rows:
        days.setdefault(hour // 24, []).append(size)
    return {day: sum(own) / len(own) for day, own in days.items()}


def root(size):
    return math.sqrt(size)


rows = [[float(each) for each in line.split()] for line in open("tide.txt")]
print([root(size) for size in means(rows).values()])
"""


def test_of_a_number_that_an_operation_cannot_take_the_part_that_stands_out_is_told(
    tmp_path: Path,
) -> None:
    sizes = [f"{hour} {40 + hour % 7}.5\n" for hour in range(72)]
    sizes[30] = "30 -9999\n"
    first = clues(tmp_path, ROOTS, tide_txt="".join(sizes))[0]
    assert "it is -9999, where all others lie between 40.5 and 46.5" in first.says


STATED = """\
rows = [int(line) for line in open("rows.txt")]
total = sum(rows)
assert total == 36 + 10, total
"""


def test_numbers_that_a_check_states_itself_are_made_of_nothing(tmp_path: Path) -> None:
    found = clues(tmp_path, STATED, rows_txt="".join(f"{each}\n" for each in range(9)))
    assert found
    assert not any("`36 + 10` is" in each.says for each in found), found


AGAIN = """\
class Rates:
    def __init__(self):
        self.asked = 0
        self.known = {}

    def fetch(self, currency):
        self.asked += 1
        return len(currency)

    def rate(self, currency):
        if len(self.known) == 2:
            self.known.popitem()
        if currency not in self.known:
            self.known[currency] = self.fetch(currency)
        return self.known[currency]


rates = Rates()
for each in ("EUR", "CHF", "CHF", "USD"):
    rates.rate(each)
assert rates.asked == 3, rates.asked
"""


def test_a_call_that_was_made_once_more_is_named_with_its_caller(tmp_path: Path) -> None:
    first, *_ = clues(tmp_path, AGAIN)
    assert "`fetch` ran twice with `currency` 'CHF', and once with each of the others" in first.says
    assert first.line == line_of(AGAIN, "self.known[currency] = self.fetch")


@pytest.mark.parametrize("beginning", ["defaultdict(int)", "Counter()", "{}"])
def test_an_empty_container_is_the_origin_of_nothing_in_it(tmp_path: Path, beginning: str) -> None:
    program = (
        f"from collections import Counter, defaultdict\nsizes = {beginning}\n"
        "for name in ('a', 'b', 'cd'):\n    sizes[name] = len(name)\nassert len(sizes) == 2, sizes\n"
    )
    first, *_ = clues(tmp_path, program)
    assert first.line == 4
    assert "filled it" in first.says
    assert beginning not in first.says


@given(st.lists(st.floats(1, 100), min_size=6, max_size=60), st.data())
def test_what_stands_out_is_outside_of_all_others(
    numbers: list[float], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(numbers)))
    numbers.insert(place, data.draw(st.one_of(st.floats(-1e4, 1e4), st.just(1e6))))
    odd = odd_in(numbers)
    if odd is not None:
        others = [each for at, each in enumerate(numbers) if at != odd.place]
        assert (odd.least, odd.most) == (min(others), max(others))
        assert not odd.least <= numbers[odd.place] <= odd.most
    if numbers[place] == 1e6:
        assert odd is not None
        assert odd.place == place


OVERWRITTEN = """\
UNITS = [("north", 120), ("north", 200), ("north", 40), ("south", 144), ("south", 240), ("south", 48)]


def merge(rows):
    merged = {}
    for region, units in rows:
        merged[region] = merged.get("all", 0) + units
    return merged


total = sum(merge(UNITS).values())
assert total == 792, total
"""


def test_what_takes_the_place_of_another_number_is_not_added_to_it(tmp_path: Path) -> None:
    told = json.dumps([str(each) for each in clues(tmp_path, OVERWRITTEN)])
    assert "put together of 6 numbers" not in told
    assert told
