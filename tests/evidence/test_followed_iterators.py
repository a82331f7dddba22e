"""A value that an iterator, a pool or a queue of a library hands over is followed into what made it."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Sureness

POOL = """\
from multiprocessing.pool import ThreadPool

PRICES = {"tea": "3.20", "jam": "4.10", "oil": "n/a", "rye": "2.75"}


def fetch(name):
    raw = PRICES[name]
    try:
        return float(raw)
    except ValueError:
        return raw


def basket(names):
    with ThreadPool(2) as pool:
        prices = pool.map(fetch, names)
    total = 0
    for price in prices:
        total += price
    return total


print(basket(["tea", "jam", "oil", "rye"]))
"""
NESTED_GENERATORS = """\
from itertools import chain, islice


def readings(station, rows):
    for row in rows:
        yield station, parse(row)


def parse(row):
    hour, _, level = row.partition("=")
    if level.strip():
        return int(hour), float(level)
    return int(hour), None


NORTH = ["6=1.2", "7=1.4", "8=1.1"]
SOUTH = ["6=0.7", "7=", "8=0.9"]

highest = {}
for number, (station, (hour, level)) in enumerate(
    islice(chain(readings("north", NORTH), readings("south", SOUTH)), 10)
):
    if level > highest.get(station, 0):
        highest[station] = level
print(highest)
"""
QUEUE = """\
import queue
import threading

JOBS = [("a", 3), ("b", 0), ("c", 5)]


def produce(out):
    for name, size in JOBS:
        out.put(make_job(name, size))
    out.put(None)


def make_job(name, size):
    return {"name": name, "parts": list(range(size)) or None}


def consume(inbox):
    done = {}
    while True:
        job = inbox.get()
        if job is None:
            return done
        done[job["name"]] = len(job["parts"])


box = queue.Queue()
threading.Thread(target=produce, args=(box,)).start()
print(consume(box))
"""
FUTURES = """\
from concurrent.futures import ThreadPoolExecutor


def size_of(entry):
    name, length = entry
    if length < 0:
        return None
    return length * 2


ENTRIES = [("a", 2), ("b", 5), ("c", -1), ("d", 7)]
with ThreadPoolExecutor(2) as pool:
    futures = [pool.submit(size_of, each) for each in ENTRIES]
    sizes = [each.result() for each in futures]
print(max(size + 1 for size in sizes))
"""
PARTIAL_AND_GROUPS = """\
import itertools
from functools import partial


def read_lines(path):
    with open(path) as handle:
        for line in handle:
            line = line.strip()
            if line and not line.startswith("#"):
                yield line


def parse(line, sep):
    day, shop, amount = line.split(sep)
    return day, shop, to_number(amount)


def to_number(text):
    if "," in text:
        return text.replace(",", ".")
    return float(text)


def by_day(orders):
    yield from itertools.groupby(orders, key=lambda order: order[0])


def totals(path):
    orders = map(partial(parse, sep=";"), read_lines(path))
    for day, group in by_day(orders):
        total = 0.0
        for _, _, amount in group:
            total += amount
        yield day, total


for day, total in totals("orders.txt"):
    print(day, round(total, 2))
"""
OTHER_PROCESS = """\
from multiprocessing import Pool


def grade(points):
    return "pass" if points > 50 else points


if __name__ == "__main__":
    with Pool(2) as pool:
        marks = pool.map(grade, [10, 20, 70])
    print(sum(marks))
"""
SHORT_WINDOW = """\
import numpy as np


class Windows:
    # Windows of a signal, each one normalised.

    def __init__(self, signal, size):
        self.signal, self.size, self.at = signal, size, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at + self.size > len(self.signal) + 2:
            raise StopIteration
        part = self.signal[self.at : self.at + self.size]
        self.at += self.size
        return part - part.mean()


def filtered(windows, kernel):
    for window in windows:
        yield window @ kernel


signal = np.linspace(0, 1, 22)
kernel = np.hanning(8)
print([round(float(each), 3) for each in filtered(Windows(signal, 8), kernel)])
"""
OTHER_SHAPE = """\
from functools import partial

import numpy as np


def embed(table, bias, word):
    vector = table.get(word)
    if vector is None:
        return np.zeros(len(table))
    return vector + bias


TABLE = {"red": np.ones(4), "green": np.full(4, 2.0), "blue": np.full(4, 3.0)}
words = ["red", "blue", "teal", "green"]
rows = list(map(partial(embed, TABLE, 0.5), words))
weights = np.arange(12.0).reshape(4, 3)
for word, row in zip(words, rows):
    print(word, row @ weights)
"""
BOTH_CHANGE = """\
import numpy as np

PAIRS = [((2, 3), (3, 2)), ((4, 2), (2, 5)), ((3, 3), (4, 4))]


def product(one, other):
    left = np.ones(one)
    right = np.ones(other)
    return left @ right


for one, other in PAIRS:
    print(product(one, other).sum())
"""


@pytest.mark.parametrize(
    ("program", "made"),
    [
        (POOL, '"n/a"'),
        (NESTED_GENERATORS, "return int(hour), None"),
        (QUEUE, "or None}"),
        (FUTURES, "return None"),
    ],
)
def test_what_a_library_hands_over_is_followed_to_the_line_that_made_it(
    tmp_path: Path, program: str, made: str
) -> None:
    clue, *_ = clues(tmp_path, program)
    assert clue.line == line_of(program, made), clue.says
    assert clue.sureness is Sureness.SEEN


def test_it_is_followed_through_partial_functions_and_groups_to_the_record(tmp_path: Path) -> None:
    orders = "2024-01-01;A;12.5\n2024-01-02;A;9.0\n2024-01-02;C;1,75\n2024-01-03;B;2.0\n"
    clue, *_ = clues(tmp_path, PARTIAL_AND_GROUPS, orders_txt=orders)
    assert clue.line == line_of(PARTIAL_AND_GROUPS, "text.replace"), clue.says
    assert "orders.txt:3" in clue.record


def test_what_another_process_made_only_comes_out_of_the_call_and_is_no_cause(
    tmp_path: Path,
) -> None:
    found = clues(tmp_path, OTHER_PROCESS)
    assert "It came out of main.py:10 (`pool.map" in found[0].says
    assert {each.sureness for each in found} == {Sureness.POSSIBLE}


@pytest.mark.parametrize(
    ("program", "made", "before"),
    [
        (SHORT_WINDOW, "self.signal[self.at", "(it was an array of shape 8 each time before;"),
        (OTHER_SHAPE, "np.zeros", "(it was an array of shape 4 each time before;"),
    ],
)
def test_of_two_shapes_that_do_not_fit_the_new_one_is_the_bad_one(
    tmp_path: Path, program: str, made: str, before: str
) -> None:
    pytest.importorskip("numpy")
    clue, *others = clues(tmp_path, program)
    assert clue.line == line_of(program, made), clue.says
    assert before in clue.says
    assert clue.sureness is Sureness.SEEN
    assert not others


def test_where_both_shapes_are_new_neither_is_called_the_bad_one(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    found = clues(tmp_path, BOTH_CHANGE)
    assert {each.sureness for each in found} == {Sureness.POSSIBLE}


CHANGED_IN_PLACE = """\
import numpy as np


def update(weights, step):
    np.subtract(weights, 0.1 * step, out=weights)


weights = np.zeros(3)
for scale in [1.0, 2.0, np.inf, 1.0]:
    update(weights, np.arange(3) * scale)
assert not np.isnan(weights).any(), weights
"""


def test_what_was_changed_in_place_is_not_made_wrong_where_it_was_made(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    found = clues(tmp_path, CHANGED_IN_PLACE)
    made = line_of(CHANGED_IN_PLACE, "weights = np.zeros")
    assert not [e for e in found if e.line == made and e.sureness is not Sureness.POSSIBLE], found


PUT_IN_TURN = """\
import queue

SIZES = {"small": 1, "large": 9}
box = queue.Queue()
for name in ["small", "large", "medium", "small"]:
    size = SIZES[name] if name != "medium" else None
    box.put(size)
    kept = size or 4

best = 0
while not box.empty():
    size = box.get()
    best = max(best, size)
print(best)
"""


def test_what_a_queue_gives_is_what_was_put_into_it_in_its_turn(tmp_path: Path) -> None:
    clue, *_ = clues(tmp_path, PUT_IN_TURN)
    assert clue.line == line_of(PUT_IN_TURN, "else None"), clue.says
    last = PUT_IN_TURN.replace("queue.Queue()", "queue.LifoQueue()")
    lines = {each.line for each in clues(tmp_path, last) if each.sureness is Sureness.SEEN}
    assert lines <= {clue.line}


PREDICATE = """\
def convert(row):
    return None if row == "-" else float(row)


def plausible(value):
    if value is not None and value > 100:
        return None
    return True


mean = 0
for value in filter(plausible, map(convert, ["1.5", "400", "-", "3.5"])):
    mean += value / 4
print(mean)
"""


def test_what_a_predicate_returned_is_not_taken_for_the_item(tmp_path: Path) -> None:
    clue, *_ = clues(tmp_path, PREDICATE)
    assert clue.line == line_of(PREDICATE, 'return None if row == "-"'), clue.says
