"""What a bad value was made of is told, each part with where it came from, and nothing else."""

import re
from pathlib import Path

import pytest
from recorded_runs import clues

CUT = """\
import json


def code(text, width):
    return text.strip()[-width:].upper()


with open("settings.json") as file:
    settings = json.load(file)
found = code("de-a711", settings["code_width"])
print({"A711": 2}[found])
"""
WINDOW = """\
def smoothed(values, size):
    return sum(values[:size]) * 2


size = 3
found = smoothed([4, 5, 6, 7], size)
assert found == 18, found
"""
WHOLE = """\
def marked(text, width):
    return text[1:] + "!" if width else text


found = marked("de-4711", 7)
assert found == "4711!", found
"""
RATES = """\
import json


def rate(job):
    span = job["end"] - job["start"]
    return job["items"] / span


def report(jobs):
    for job in jobs:
        print(job, rate(job))


report(json.load(open("jobs.json")))
"""
JOBS = """[
 {
  "start": 1290,
  "end": 1371,
  "items": 284
 },
 {
  "start": 1387,
  "end": 1387,
  "items": 320
 }
]
"""
SETTINGS = '{\n  "name": "codes",\n  "code_width": 5\n}\n'


@pytest.mark.parametrize(("program", "name"), [(CUT, "`width`"), (WINDOW, "`size`")])
def test_the_bound_of_a_slice_is_a_part_of_what_was_cut(
    tmp_path: Path, program: str, name: str
) -> None:
    found = clues(tmp_path, program, settings_json=SETTINGS)

    assert name in [step.says for each in found for step in each.trail]


def test_of_two_keys_with_one_value_the_record_of_the_one_that_was_read_is_told(
    tmp_path: Path,
) -> None:
    found = clues(tmp_path, RATES, jobs_json=JOBS)

    ends = {step.says: step.place for each in found for step in each.trail}
    assert ends['record of `job["end"]`'] == "jobs.json:9"
    assert ends['record of `job["start"]`'] == "jobs.json:8"
    (first, *_) = [each for each in found if each.record]
    assert first.record == (
        'the records at jobs.json:9 (`"end": 1387,`) and jobs.json:8 (`"start": 1387,`)'
    )


def test_a_written_bound_is_not_told(tmp_path: Path) -> None:
    found = clues(tmp_path, WHOLE)

    assert not any(step.says == "`1`" for each in found for step in each.trail)


def test_an_open_file_is_no_part_of_a_value(tmp_path: Path) -> None:
    found = clues(tmp_path, CUT, settings_json=SETTINGS)

    assert found
    assert not any(step.says == "`file`" for each in found for step in each.trail)


BOUNDS = """\
import json


def limit(value, low, high):
    return min(max(value, low), high)


with open("settings.json") as file:
    settings = json.load(file)
for name in ["humidity", "pressure"]:
    low, high = settings["limits"][name]
    found = limit(1013, low, high)
assert found == 1013, found
"""
LIMITS = """\
{
  "limits": {
    "humidity": [0, 100],
    "pressure": [0, 100]
  }
}
"""
OF_ONE = LIMITS.replace('"humidity": [0, 100]', '"humidity": [0, 5000]')


@pytest.mark.parametrize("settings", [LIMITS, OF_ONE, LIMITS.replace("[0, 100]", "[ -0.5 , 100 ]")])
def test_a_list_of_the_settings_is_named_with_its_line(tmp_path: Path, settings: str) -> None:
    found = clues(tmp_path, BOUNDS, settings_json=settings)

    assert any(", for the record at settings.json:4 (" in each.says for each in found)
    assert not any("settings.json:3" in each.says for each in found)


SPAN = """\
class Sensor:
    def calibrate(self, low, high):
        self.span = high - low


sensor = Sensor()
with open("sensors.log") as file:
    for line in file:
        name, low, high = line.split(",")
        sensor.calibrate(float(low), float(high))
        print(1 / sensor.span)
"""


@pytest.mark.parametrize(
    ("line", "says"),
    [("second,98.4,98.4", "`high`, like `low`,"), ("second,98.4, 98.40", "`high`, like `low`,")],
)
def test_operands_that_are_the_same_number_are_named_together(
    tmp_path: Path, line: str, says: str
) -> None:
    found = clues(tmp_path, SPAN, sensors_log=f"first,1.5,97.5\n{line}\n")

    assert says in [step.says for each in found for step in each.trail]


def test_a_record_that_the_value_was_made_for_is_looked_at_first(tmp_path: Path) -> None:
    steps = [each.next_step for each in clues(tmp_path, BOUNDS, settings_json=LIMITS)]

    assert len(steps) == 1
    assert re.fullmatch(r"Check the record at \S*settings\.json:4, then \S*main\.py:9 .*", steps[0])


HELD = """\
import math


def days(rows):
    groups = {}
    for hour, size in rows:
        groups.setdefault(hour // 24, []).append(size)
    return groups


def means(rows):
    return {day: sum(own) / len(own) for day, own in days(rows).items()}


def root(size):
    return math.log(size / 6.1)


rows = []
for hour in range(72):
    rows.append((hour, -9999.0 if hour == 30 else 40.0))
table = means(rows)
for size in table.values():
    root(size)
"""


def test_what_a_list_lies_in_is_not_told_as_the_list(tmp_path: Path) -> None:
    steps = [step for each in clues(tmp_path, HELD) for step in each.trail]
    assert not [step for step in steps if step.says == "`own`"], [step.in_words for step in steps]
    assert [step.place for step in steps if step.says == "what holds `own`"] == ["main.py:5"]


ORDER = """
import csv


def parsed(words):
    order = {}
    for word in words:
        key, _, value = word.partition("=")
        order[key] = int(value) if value.isdigit() else value
    return order


def stock(path):
    with open(path) as file:
        return {row["sku"]: row for row in csv.DictReader(file)}


def ship(order, held):
    left = len(held) - order["qty"]
    if left < 0:
        raise ValueError(f"not enough: {left}")
    return left


ORDERS
"""
EARLY = 'order = parsed(["sku=A-17", "qty=0112"])\nship(order, stock("b.csv"))'
LATE = """held = stock("b.csv")
ship(parsed([f"sku=A-17", "qty=" + held["A-17"]["qty"]]), held)"""


@pytest.mark.slow
@pytest.mark.parametrize(("orders", "times"), [(EARLY, 0), (LATE, 1)])
def test_a_file_that_was_opened_after_the_value_was_made_is_not_its_origin(
    tmp_path: Path, orders: str, times: int
) -> None:
    (tmp_path / "b.csv").write_text("sku,qty\nA-17,112\nB-20,9\n")

    found = clues(tmp_path, ORDER.replace("ORDERS", orders))

    told = [each for clue in found for each in (clue.says, clue.record, *map(str, clue.trail))]
    assert any("b.csv:2" in each for each in told) == bool(times), told


MADE_ELSEWHERE = """
import json


class Workers:
    def __init__(self, names):
        self.names = names


def batches(workers, paths):
    return [float(len(name) + paths % 2) for name in workers.names]


def spread(found):
    return max(found) - min(found)


with open("settings.json") as file:
    settings = json.load(file)
found = batches(Workers(["one", "two", "six"]), settings["paths"])
error = spread(found)
print(1 / error)
"""


@pytest.mark.slow
def test_a_record_of_one_ingredient_is_not_said_to_be_where_the_value_comes_from(
    tmp_path: Path,
) -> None:
    found = clues(tmp_path, MADE_ELSEWHERE, settings_json='{\n  "paths": 20000,\n  "depth": 3\n}\n')

    assert any("settings.json:2" in step.place for each in found for step in each.trail)
    assert [each.record for each in found if each.record] == []


COUNTED = """\
def later(rows, share):
    start = <<start>>
    return rows[start:]


with open("loads.csv") as file:
    head, *rows = file.read().splitlines()
found = len(later(rows, 0.75))
assert found == 300, found
"""
HOURS = "from 1201\n" + "".join(f"{hour},{hour % 7}.5\n" for hour in range(1600) if hour != 1201)


@pytest.mark.parametrize(
    ("start", "records"),
    [
        ("int(len(rows) * share)", set[str]()),
        ("len(rows) - 399", set[str]()),
        ("int(head.split()[1])", {"loads.csv:1"}),
    ],
)
def test_a_number_that_was_counted_is_in_no_record(
    tmp_path: Path, start: str, records: set[str]
) -> None:
    found = clues(tmp_path, COUNTED.replace("<<start>>", start), loads_csv=HOURS)

    steps = [step for each in found for step in each.trail]
    assert any("start" in step.says for step in steps)
    assert {step.place for step in steps if step.says == "record of `start`"} == records
