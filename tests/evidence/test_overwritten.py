"""Values that are lost as the same line puts others in their place: told where they matter, and only there."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Clue

STOCK = """\
ROWS = [("A-100", 5), ("B-200", 7), ("A-100", 9)]


def read(rows):
    stock = {}
    for sku, count in rows:
        stock[sku] = count
    return stock


def reserve(stock, sku, wanted):
    if stock[sku] < wanted:
        raise RuntimeError(f"only {stock[sku]} of {sku} left")


reserve(read(ROWS), "A-100", 12)
"""
PEOPLE = """\
PEOPLE = [("Ann Lee", 1), ("Bo Chen", 2), ("ANN LEE ", 3)]


def normal(name):
    return name.strip().casefold()


def seats(people):
    by_name = {normal(name): seat for name, seat in people}
    plan = [None] * len(people)
    for seat in by_name.values():
        plan[seat - 1] = f"seat {seat}"
    return plan


print([each.upper() for each in seats(PEOPLE)])
"""
CELLS = """\
class Grid:
    def __init__(self):
        self.cells = {}

    def put(self, x, y, name):
        key = (round(x), round(y))
        self.cells[key] = name


grid = Grid()
for place in ((0.2, 0.1, "well"), (4.0, 4.0, "tree"), (-0.3, 0.4, "house")):
    grid.put(*place)
assert len(grid.cells) == 3, grid.cells
"""
ROUTES = """\
ROUTES = {}


def route(function):
    ROUTES[function.__name__] = function
    return function


@route
def close(order):
    return order["id"]


orders = close


@route
def show(user):
    return user["login"]


@route
def close(user):
    return user["login"]


print(ROUTES["close"]({"id": 7}))
"""
EXPORT = """\
import os
import re
import tempfile

PARTS = [("Intro", "a"), ("Set up!", "b"), ("Set up?", "c")]


def export(folder):
    for title, text in PARTS:
        name = re.sub("[^a-z]+", "-", title.lower()).strip("-")
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


with tempfile.TemporaryDirectory() as folder:
    export(folder)
    texts = [open(os.path.join(folder, name)).read() for name in os.listdir(folder)]
assert len(texts) == len(PARTS), texts
"""

LATEST = """\
EVENTS = [("d1", 20.5), ("d2", 19.0), ("d1", 21.5), ("d3", 22.0)]
LIMITS = {"d1": 30, "d2": 30, "d3": 2.5}


def latest(events):
    state = {}
    for device, value in events:
        state[device] = value
    return state


for device, value in sorted(latest(EVENTS).items()):
    if value > LIMITS[device]:
        raise RuntimeError(f"{device} is too hot")
"""
COUNTS = """\
counts = {}
for word in ("The", "the", "fox"):
    counts[word.lower()] = counts.get(word.lower(), 0) + 1
assert counts["fox"] == 2, counts
"""
SLOTS = """\
active = {}
for name, size in (("Job-1", 3), ("job-2", 4), ("job-1", 5)):
    active[name.lower()] = size
    if size == 3:
        del active[name.lower()]
assert sum(active.values()) == 12, active
"""
ASKED = """\
best = {}
for name, score in (("Ann", 3), ("bo", 4), ("ann", 5)):
    if name.lower() not in best or best[name.lower()] < score:
        best[name.lower()] = score
assert sum(best.values()) == 12, best
"""
ALIKE = """\
seen = {}
for name in ("Ann", "bo", "ann"):
    seen[name.lower()] = True
assert len(seen) == 3, seen
"""
STATUS = """\
import os
import tempfile

with tempfile.TemporaryDirectory() as folder:
    for done in range(3):
        with open(os.path.join(folder, "status"), "w") as file:
            file.write(str(done))
    assert os.listdir(folder) == ["state"]
"""
READ = """\
import os
import tempfile

with tempfile.TemporaryDirectory() as folder:
    for name in ("a", "b", "a"):
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(name)
        assert open(path).read() == name
    assert len(os.listdir(folder)) == 3
"""


def lost(found: list[Clue]) -> list[str]:
    """Return what is told of lost values, in clues and on the way of a value."""
    told = [each.says for each in found] + [step.in_words for each in found for step in each.trail]
    return [each for each in told if "in place of" in each or "written before" in each]


@pytest.mark.parametrize(
    ("program", "part", "says"),
    [
        (STOCK, "stock[sku] = count", "put 9 under the key `'A-100'`, in place of 5"),
        (PEOPLE, "by_name = {", "`'ann lee'`, made of 'ANN LEE ' as of 'Ann Lee' before"),
        (CELLS, "self.cells[key] = name", "'house' under the key `(0, 0)`"),
        (ROUTES, "ROUTES[function", "put close (main.py:22) under the key `'close'`"),
        (EXPORT, '"w") as file', "opened `set-up` for writing"),
    ],
    ids=["raw", "folded", "rounded", "registered", "file"],
)
def test_a_line_that_lost_a_value_is_told(
    tmp_path: Path, program: str, part: str, says: str
) -> None:
    found = clues(tmp_path, program)

    (told,) = lost(found)
    assert says in told
    lines = [each.line for each in found]
    assert line_of(program, part) in (lines if program is STOCK else lines[:1])


@pytest.mark.parametrize(
    "program",
    [LATEST, COUNTS, SLOTS, ASKED, ALIKE, STATUS, READ],
    ids=["latest", "counts", "slots", "asked", "alike", "status", "read"],
)
def test_where_nothing_is_lost_or_the_failure_is_not_about_it_nothing_is_told(
    tmp_path: Path, program: str
) -> None:
    assert lost(clues(tmp_path, program)) == []
