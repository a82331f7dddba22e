"""What was done to an object before it failed is named: never set, closed, resized, added to."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Sureness

PAST_INIT = """\
class Client:
    def __init__(self, token):
        self.token = token
        self.cache = {}

    @classmethod
    def from_environment(cls):
        client = cls.__new__(cls)
        client.token = "t"
        return client

    def state(self, parcel):
        return self.cache.get(parcel)


client = Client.from_environment()
print(client.state("A1"))
"""

NO_SUPER = """\
class Store:
    def __init__(self, name):
        self.name = name
        self.rows = []

    def add(self, row):
        self.rows.append(row)


class Sorted(Store):
    def __init__(self, name, key):
        self.name = name
        self.key = key


def fill(store):
    store.add(3)


fill(Sorted("numbers", abs))
"""

TOO_EARLY = """\
class View:
    def __init__(self, width):
        self.width = width
        self.refresh()
        self.items = []

    def refresh(self):
        return [item * self.width for item in self.items]


def main():
    return View(3)


main()
"""

PASSED_OVER = """\
class Model:
    def __init__(self, rate, warm):
        self.rate = rate
        if warm:
            self.weights = [0.0, 0.0]

    def predict(self, x):
        return self.weights[0] + x * self.weights[1]


def build(options):
    return Model(options["rate"], options.get("warm"))


print(build({"rate": 0.1}).predict(2.0))
"""

NOT_FITTED = """\
class Scaler:
    def __init__(self, least):
        self.least = least

    def fit(self, rows):
        self.most = max(rows)
        return self

    def scaled(self, row):
        return (row - self.least) / (self.most - self.least)


def report(rows):
    scaler = Scaler(0)
    return [scaler.scaled(row) for row in rows]


report([1, 2, 3])
"""


@pytest.mark.parametrize(
    ("program", "part", "says"),
    [
        pytest.param(PAST_INIT, "cls.__new__(cls)", "`Client.__init__`, which sets it", id="made past it"),
        pytest.param(NO_SUPER, "def __init__(self, name, key)", "did not call `Store.__init__`", id="not called"),
        pytest.param(TOO_EARLY, "self.refresh()", "sets it later", id="asked for too early"),
        pytest.param(PASSED_OVER, "if warm:", "`warm` was None", id="a test was false"),
    ],
)  # fmt: skip
def test_an_attribute_that_init_has_not_set_is_followed_to_what_kept_it(
    tmp_path: Path, program: str, part: str, says: str
) -> None:
    first, *_ = clues(tmp_path, program)
    assert first.line == line_of(program, part), first.whole
    assert says in first.says
    assert first.sureness is Sureness.SEEN


def test_that_another_method_was_not_run_is_told_and_not_called_the_cause(tmp_path: Path) -> None:
    first, *_ = clues(tmp_path, NOT_FITTED)
    assert (
        "`Scaler.fit`, which sets it at main.py:6 (`self.most = max(rows)`), did not run"
        in first.says
    )
    assert first.line == line_of(NOT_FITTED, "scaler = Scaler(0)")
    assert first.sureness is Sureness.POSSIBLE


def test_an_attribute_that_was_set_and_taken_out_is_not_said_never_to_have_been_set(
    tmp_path: Path,
) -> None:
    program = PAST_INIT.replace(
        "client = cls.__new__(cls)", 'client = cls("t")\n        vars(client).pop("cache")'
    )
    assert not any(
        "did not" in each.says or "was never" in each.says for each in clues(tmp_path, program)
    )


WHILE_ITERATED = """\
{imports}


class Store:
    def __init__(self, names):
        self.open = {made}
        self.seen = {{}}

    def expire(self, name):
        self.seen[name] = True
        {change}

    def all(self):
        return self.open{view}


def sweep(store):
    for name in store.all():
        if name != "a":
            store.expire(name)


sweep(Store(["a", "b", "c"]))
"""

WHILE_COMPREHENDED = """\
class Store:
    def __init__(self, names):
        self.open = dict.fromkeys(names)
        self.seen = {}

    def expire(self, name):
        self.seen[name] = True
        del self.open[name]
        return name


store = Store("abc")
print([store.expire(name) for name in store.open])
"""


@pytest.mark.parametrize(
    ("imports", "made", "change", "view"),
    [
        pytest.param("", "dict.fromkeys(names)", "self.open.pop(name)", ".keys()", id="dict"),
        pytest.param("", "set(names)", "self.open.add(name + 'x')", "", id="set"),
        pytest.param("from collections import deque", "deque(names)", "self.open.append(name)", "", id="deque"),
        pytest.param(
            "from collections import defaultdict", "defaultdict(list, {n: [] for n in names})",
            "self.open[name + 'x']", "", id="defaultdict",
        ),
    ],
)  # fmt: skip
def test_the_line_that_changes_what_a_loop_goes_through_is_named(
    tmp_path: Path, imports: str, made: str, change: str, view: str
) -> None:
    program = WHILE_ITERATED.format(imports=imports, made=made, change=change, view=view)
    first, *_ = clues(tmp_path, program)
    assert first.line == line_of(program, change), first.whole
    assert first.sureness is Sureness.SEEN


def test_the_line_that_changes_what_a_comprehension_goes_through_is_named(tmp_path: Path) -> None:
    first, *_ = clues(tmp_path, WHILE_COMPREHENDED)
    assert first.line == line_of(WHILE_COMPREHENDED, "del self.open[name]"), first.whole


CLOSED = {
    "a file that a `with` has closed": ("""\
def rows(path):
    with open(path) as lines:
        return (line.split() for line in lines)


def total(path):
    return sum(int(row[0]) for row in rows(path))


print(total("main.py"))
""", "with open(path) as lines:"),
    "a reader of a file": ("""\
import csv


def table(path):
    lines = open(path)
    rows = csv.reader(lines)
    header = next(rows)
    lines.close()
    return header, rows


header, rows = table("main.py")
for row in rows:
    print(row)
""", "lines.close()"),
    "a file kept by an object": ("""\
class Log:
    def __init__(self, path):
        self.out = open(path, "w")

    def write(self, text):
        self.out.write(text)

    def rotate(self):
        self.out.close()


log = Log("log.txt")
log.write("a")
log.rotate()
log.write("b")
""", "self.out.close()"),
    "a pool": ("""\
from concurrent.futures import ThreadPoolExecutor


class Jobs:
    def __init__(self):
        self.pool = ThreadPoolExecutor(1)

    def put(self, number):
        return self.pool.submit(abs, number)

    def flush(self):
        self.pool.shutdown()


jobs = Jobs()
jobs.put(-1)
jobs.flush()
jobs.put(-2)
""", "self.pool.shutdown()"),
    "a database": ("""\
import sqlite3


def opened():
    connection = sqlite3.connect(":memory:")
    with connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    connection.close()
    return connection


print(opened().execute("SELECT * FROM t"))
""", "connection.close()"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CLOSED)
def test_the_line_that_closes_what_is_used_afterwards_is_named(tmp_path: Path, kind: str) -> None:
    program, part = CLOSED[kind]
    first, *_ = clues(tmp_path, program)
    assert first.line == line_of(program, part), first.whole
    assert "had closed" in first.says
    assert first.sureness is Sureness.SEEN


def test_a_file_that_is_still_open_is_not_said_to_be_closed(tmp_path: Path) -> None:
    program = """\
other = open("other.txt", "w")
other.close()


def use(handle):
    raise ValueError("the shop is closed")


with open("main.py") as lines:
    use(lines)
"""
    assert not any("had closed" in each.says for each in clues(tmp_path, program))


LOCKED = """\
import sqlite3


class Log:
    def __init__(self):
        self.connection = sqlite3.connect("shop.sqlite", timeout=0.05)

    def note(self, what):
        self.connection.execute("INSERT INTO log VALUES (?)", (what,))
{commit}

def take(number):
    connection = sqlite3.connect("shop.sqlite", timeout=0.05)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO log VALUES (?)", (number,))
    {after}


with sqlite3.connect("shop.sqlite") as made:
    made.execute("CREATE TABLE IF NOT EXISTS log (what TEXT)")
log = Log()
log.note("begin")
take(1)
take(2)
"""


def test_the_transaction_that_keeps_a_database_locked_is_named(tmp_path: Path) -> None:
    program = LOCKED.format(commit="", after="connection.commit()")
    first, *_ = clues(tmp_path, program)
    assert first.line == line_of(program, "self.connection.execute("), first.whole
    assert first.sureness is Sureness.SEEN


GATHERED = """\
import asyncio


async def level(name, delay):
    await asyncio.sleep(delay)
    if name == "mill":
        return f"{delay} m"
    return delay


async def levels(names):
    answers = await asyncio.gather(*(level(name, 0.01) for name in names))
    return dict(zip(names, answers))


found = asyncio.run(levels(["bridge", "lock", "mill"]))
print(max(found, key=found.get))
total = 0
for name in found:
    total += found[name]
"""


def test_what_a_task_gave_back_is_followed_into_it_through_zip(tmp_path: Path) -> None:
    program = GATHERED.replace("print(max(found, key=found.get))\n", "")
    first, *_ = clues(tmp_path, program)
    assert first.line == line_of(program, 'return f"{delay} m"'), first.whole


ZEROS = """\
import json
from dataclasses import dataclass


@dataclass
class Run:
    name: str
    seconds: float


class Total:
    def __init__(self):
        self.rows = 0
        self.seconds = 0.0

    def add(self, run):
        self.rows += 10
        self.seconds += run.seconds

    @property
    def rate(self):
        return self.rows / self.seconds


def runs(path):
    with open(path) as lines:
        entries = json.load(lines)
    return [Run(name=each["name"], seconds=each.get("duration", 0.0)) for each in entries]


def rate(name):
    total = Total()
    for run in runs("runs.json"):
        if run.name == name:
            total.add(run)
    return total.rate


print(rate("fit"))
print(rate("score"))
"""
RUNS = """\
[{"name": "fit", "duration": 2.5},
 {"name": "score", "elapsed": 4.5},
 {"name": "score", "elapsed": 7.5}]
"""


def test_a_sum_that_stayed_zero_is_followed_to_the_zeros_that_were_added(tmp_path: Path) -> None:
    first, *_ = clues(tmp_path, ZEROS, runs_json=RUNS)
    assert first.line == line_of(ZEROS, 'each.get("duration", 0.0)'), first.whole
    assert "There is no such key" in first.says
    assert "runs.json:3" in first.whole


PROPERTY = """\
class Order:
    def __init__(self, lines):
        self.lines = lines

    @property
    def customer(self):
        for line in self.lines:
            if line.startswith("customer "):
                return line.split()[1]


def greeting(order):
    name = order.customer
    return "Dear " + name


greeting(Order(["customer ada"]))
greeting(Order(["total 3"]))
"""


def test_a_value_is_followed_into_the_property_that_gave_it(tmp_path: Path) -> None:
    first, *_ = clues(tmp_path, PROPERTY)
    assert "`customer` at main.py:6 ended after line 7 without returning a value" in first.says


COMPUTED = """\
def loads(counts):
    found = [0]
    for on, off in counts:
        load = found[-1]
        found.append(load + on - off)
    return found


assert min(loads([(4, 0), (5, 5), (0, 9)])) >= 0
"""


def test_a_number_is_not_said_to_come_from_an_operand_that_is_equal_by_chance(
    tmp_path: Path,
) -> None:
    # The load before the last is 4 = 4 + 5 - 5, and no entry of a record.
    assert not any("`(5, 5)`" in each.whole for each in clues(tmp_path, COMPUTED))


SWALLOWED = """\
class Transaction:
    def __init__(self, stock):
        self.stock = stock

    def __enter__(self):
        self.before = dict(self.stock)
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.stock.update(self.before)
        return {given}


def ship(stock, item, count):
    with Transaction(stock):
        if stock[item] < count:
            raise ValueError(item)
        stock[item] -= count
    return True


stock = {{"bolt": 3}}
shipped = 0
for count in (2, 5):
    try:
        if ship(stock, "bolt", count):
            shipped += count
    except ValueError:
        pass
assert shipped + stock["bolt"] == 3{after}
"""


def test_an_error_that_a_context_manager_swallowed_is_told(tmp_path: Path) -> None:
    program = SWALLOWED.format(given="True", after="")
    (told,) = (each for each in clues(tmp_path, program) if "swallowed" in each.says)
    assert "`Transaction.__exit__` swallowed ValueError('bolt'), raised at main.py:18" in told.says
    assert told.line == 12
    assert told.sureness is Sureness.POSSIBLE


@pytest.mark.parametrize("given", ["False", "None", "[]"])
def test_an_error_that_goes_on_is_not_said_to_be_swallowed(tmp_path: Path, given: str) -> None:
    program = SWALLOWED.format(given=given, after=" + 1")
    assert not any("swallowed" in each.says for each in clues(tmp_path, program))


MASKED = """\
def store(token, live):
    if token in live:
        raise ValueError("twice")
    live.add(token)


live = set()
store("abcdef0123456789", live)
store("abcdef0123456789", live)
"""


def test_what_is_masked_is_not_said_to_be_empty(tmp_path: Path) -> None:
    assert not any("empty" in each.whole for each in clues(tmp_path, MASKED))


DIVIDED = """\
import numpy as np


def normalise(values):
    span = values.max() - values.min()
    return (values - values.min()) / span


def total(gain):
    values = normalise(np.array([1.0, 2.0]) * gain)
    return int(values.sum())


with np.errstate(invalid="ignore"):
    print(total(1.0))
    print(total(0.0))
"""


def test_nan_of_a_division_by_zero_is_not_called_the_cause(tmp_path: Path) -> None:
    first, *_ = clues(tmp_path, DIVIDED)
    assert first.line == line_of(DIVIDED, "/ span")
    assert first.sureness is Sureness.POSSIBLE


CHECKED = """\
import sys


def plan(stops, reach):
    ahead = [stop for stop in stops if stop <= reach]
    if not ahead:
        raise LookupError(f"no stop within {reach}")
    return ahead


try:
    plan([10, 20], 5)
except LookupError as error:
    sys.exit(f"cannot go: {error}")
"""


def test_what_the_program_itself_finds_wrong_is_not_called_the_cause(tmp_path: Path) -> None:
    assert all(each.sureness is Sureness.POSSIBLE for each in clues(tmp_path, CHECKED))


LITERAL = """\
import numpy as np


def returns(prices):
    return prices[1:] / prices[:-1] - 1.0


growth = float(np.prod(1 + returns(np.array([4.0, 3.0, 2.0]))) - 1)
assert growth > 0
"""


def test_no_end_of_a_slice_is_said_to_be_where_a_negative_number_came_from(tmp_path: Path) -> None:
    assert not any("(`-1`)" in each.whole for each in clues(tmp_path, LITERAL))


KEYED = """\
def labels(pages):
    found = {}
    for number, term in pages:
        found.setdefault(term.strip(".").upper(), []).append(number)
    return {label: sorted(numbers) for label, numbers in found.items()}


sections = {"A": [], "B": []}
for label in labels([(1, "alpha"), (2, "beta"), (3, ".gamma")]):
    sections[label[0]].append(label)
"""


def test_a_key_that_a_loop_goes_through_is_followed_to_where_it_was_made(tmp_path: Path) -> None:
    found = clues(tmp_path, KEYED)
    (told,) = (each for each in found if "`label" in each.says)
    assert told.line == line_of(KEYED, "found.setdefault("), told.whole


SUMMED = """\
class Span:
    def __init__(self, start, end, inner=()):
        self.start, self.end, self.inner = start, end, inner

    @property
    def duration(self):
        return self.end - self.start

    @property
    def own(self):
        return self.duration - sum(span.duration for span in self.inner)


outer = Span(0, 9, [Span(0, 5), Span(1, 8)])
assert outer.own >= 0
"""


def test_a_sum_over_properties_is_not_said_to_be_one_of_them(tmp_path: Path) -> None:
    for each in clues(tmp_path, SUMMED):
        assert not any(step.says.startswith("`sum(") and step.value == "7" for step in each.trail)


ROUNDS = """\
def check(rows):
    for name, hours in rows:
        total = sum(hours)
        if total < 10:
            raise ValueError(name)


check([("ada", [6, 6]), ("ben", [2, 3])])
"""


def test_a_test_of_the_round_before_is_no_reason_for_a_value_of_this_one(tmp_path: Path) -> None:
    first, *_ = clues(tmp_path, ROUNDS)
    assert first.line == line_of(ROUNDS, "total = sum(hours)")
    assert "because" not in first.says


PROBED = """\
import os

os.makedirs("out", exist_ok=True)
with open("out/probe", "w") as file:
    pass
os.remove("out/probe")
print(os.path.getsize("out/index.html"))
"""


def test_a_file_that_another_line_opened_is_not_the_one_that_is_missing(tmp_path: Path) -> None:
    assert not [each for each in clues(tmp_path, PROBED) if "removed" in each.says]
