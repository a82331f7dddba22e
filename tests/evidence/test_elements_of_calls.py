"""Of what `sum`, `max`, `sorted` and the like go through, the bad element is named and followed back."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Sureness

PRICE = """\
def price_of(text):
    if text[0].isdigit():
        return float(text)


"""
SHARE = """\
def share(part, whole):
    return part / whole if whole else float("nan")


"""
RECORDS = """\
def record(name, age):
    return {"name": name, "age": age if age else None}


people = [record("ann", 3), record("bob", 0), record("eve", 4)]
"""
OBJECTS = """\
class Item:
    def __init__(self, name, price):
        self.name = name
        self.price = price


def parse(line):
    name, _, price = line.partition(" ")
    return Item(name, int(price) if price else None)


items = [parse(each) for each in ["tea 3", "jam", "oil 5"]]
"""
TEXT = """\
def price_of(text):
    return float(text) if text[0].isdigit() else text


prices = [price_of(each) for each in ["3", "4", "~5", "6"]]
"""
BAD = {
    "sum": PRICE + 'print(sum([price_of(each) for each in ["3", "~5", "6"]]))\n',
    "sum of a generator": PRICE + 'print(sum(price_of(each) for each in ["3", "~5", "6"]))\n',
    "fsum": PRICE + "from math import fsum\n\nprices = [price_of(each) for each in ('3', '~5')]\n"
    "print(fsum(prices))\n",
    "min": PRICE + 'print(min(map(price_of, ["3", "~5", "6"])))\n',
    "sorted": PRICE + 'print(sorted({each: price_of(each) for each in ["3", "~5", "6"]}.values()))\n',
}  # fmt: skip
MADE = {
    "NaN in a sum": (SHARE + "shares = [share(1, 2), share(0, 0)]\nprint(int(sum(shares)))\n", "NaN"),
    "key by a function": (
        RECORDS + 'def age_of(one):\n    return one["age"]\n\n\nprint(max(people, key=age_of))\n',
        "`age_of(…)` is None",
    ),
    "key by a lambda": (
        RECORDS + 'print(sorted(people, key=lambda one: one["age"]))\n',
        '`(lambda one: one["age"])(…)` is None',
    ),
    "attribute": (OBJECTS + "print(sum(item.price for item in items))\n", "`item.price` is None"),
    "text in a sum": (TEXT + "print(sum(prices))\n", "`prices[2]` is of type str"),
}  # fmt: skip


@pytest.mark.parametrize("way", BAD)
def test_a_bad_element_is_followed_back_to_the_function_that_gave_none(
    tmp_path: Path, way: str
) -> None:
    first = clues(tmp_path, BAD[way])[0]
    assert (first.line, first.sureness) == (line_of(PRICE, "    if "), Sureness.SEEN)
    assert "`text` was '~5'" in first.says


@pytest.mark.parametrize("way", MADE)
def test_a_bad_element_is_followed_back_to_the_line_that_made_it(tmp_path: Path, way: str) -> None:
    program, says = MADE[way]
    first = clues(tmp_path, program)[0]
    assert first.sureness is Sureness.SEEN
    assert says in first.says
    assert f"main.py:{line_of(program, ' else ')}" in first.whole


def test_a_value_of_a_constructor_is_not_taken_for_that_of_another_call(tmp_path: Path) -> None:
    first = clues(tmp_path, OBJECTS + "print(sum(item.price for item in items))\n")[0]
    assert first.line == line_of(OBJECTS, "int(price)")


def test_of_many_types_none_is_called_the_odd_one(tmp_path: Path) -> None:
    program = 'def made():\n    return [1, 2.5, "a", b"b", 3]\n\n\nprint(sum(made()))\n'
    found = clues(tmp_path, program)
    assert {each.sureness for each in found} <= {Sureness.POSSIBLE}


def test_the_heading_of_a_table_is_not_the_record_of_an_empty_cell(tmp_path: Path) -> None:
    program = (
        'import csv\n\nwith open("trips.csv") as file:\n    rows = [{**each, "km": each["km"] or None}'
        ' for each in csv.DictReader(file)]\nprint(sum(float(row["km"]) for row in rows))\n'
    )
    found = clues(tmp_path, program, trips_csv="name,km\na,3\nb,\nc,4\n")
    assert not [each for each in found if "trips.csv:1" in each.whole]
