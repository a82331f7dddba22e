"""`whet investigate`: a result that the program drops, though it was the point or told of trouble."""

import json
import sys
from pathlib import Path

import pytest
from whet_command import Whet

from whet.core.text.record import JsonObject, as_record, integer, records, text

pytestmark = pytest.mark.slow


def answer(whet: Whet, files: dict[str, str], *command: str) -> dict[str, object]:
    """Return the answer of an investigation that leaves the files as they were."""
    for name, source in files.items():
        path = whet.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    whet("investigate", "--", sys.executable, *command)
    assert {name: Path(whet.folder, name).read_text() for name in files} == files
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    found: dict[str, object] = {"clues": report["clues"], **report["answer"]}
    return found


def cause_of(found: dict[str, object]) -> tuple[str, int, str]:
    """Return the file, the line and the sureness of the cause."""
    cause = as_record(found["cause"], "cause")
    return Path(text(cause, "path")).name, integer(cause, "line"), text(cause, "sureness")


def first_clue(found: dict[str, object]) -> JsonObject:
    return records(found, "clues")[0]


CLEAN = (
    "def cleaned(rows):\n    for row in rows:\n        row['n'].replace(',', '')\n    return rows\n"
)
SUM = """\
from clean import cleaned
rows = cleaned([{"n": "12"}, {"n": "1,200"}])
total = sum(int(row["n"].partition(",")[0]) for row in rows)
assert total == 1212, total
"""


def test_a_new_value_that_nothing_uses_is_the_cause_if_it_passes_with_it(whet: Whet) -> None:
    found = answer(whet, {"clean.py": CLEAN, "main.py": SUM}, "main.py")
    assert cause_of(found) == ("clean.py", 3, "shown")


POOL = """\
from concurrent.futures import ThreadPoolExecutor
def size(name, done):
    width, height = name.split("x")
    done[name] = int(width) * int(height)
def run(names):
    done = {}
    with ThreadPoolExecutor(2) as pool:
        for name in names:
            pool.submit(size, name, done)
    return done
"""
SIZES = "from pool import run\ndone = run(['3x4', '5'])\nassert len(done) == 2, done\n"


@pytest.mark.long
def test_the_error_of_a_result_that_nothing_asks_for_is_the_cause_if_it_had_what_failed(
    whet: Whet,
) -> None:
    found = answer(whet, {"pool.py": POOL, "main.py": SIZES}, "main.py")
    assert cause_of(found) == ("pool.py", 9, "seen")
    assert "pool.py:3" in json.dumps(found)


THREAD = """\
import threading
def tally(name, text, totals):
    totals[name] = sum(map(int, text.split()))
totals = {}
threads = [threading.Thread(target=tally, args=(*each, totals)) for each in (("a", "1"), ("b", "x"))]
for each in threads:
    each.start()
for each in threads:
    each.join()
assert sorted(totals) == ["a", "b"], totals
"""


@pytest.mark.long
def test_the_error_that_ended_a_thread_is_the_cause_if_it_had_what_failed(whet: Whet) -> None:
    assert cause_of(answer(whet, {"main.py": THREAD}, "main.py")) == ("main.py", 3, "seen")


STORE = """\
from collections import namedtuple
Stored = namedtuple("Stored", "count rejected")
def store(table, rows):
    bad = [row for row in rows if not row[0].isupper()]
    table.update(row for row in rows if row not in bad)
    return Stored(len(rows) - len(bad), bad)
def sync(feeds):
    table = {}
    for rows in feeds:
        store(table, rows)
    return table
"""
STOCK = "from store import sync\nstock = sync([[('A', 3)], [('b', 4)]])\nassert len(stock) == 2, stock\n"


@pytest.mark.long
def test_a_record_of_what_went_wrong_that_nothing_looks_at_leads_the_clues(whet: Whet) -> None:
    found = answer(whet, {"store.py": STORE, "main.py": STOCK}, "main.py")
    first = first_clue(found)
    assert (first["line"], first["sureness"]) == (10, "possible")
    assert "`rejected` has 1 item, ('b', 4)" in str(first["says"])


INNOCENT = """\
import os, queue, subprocess
def mean(values):
    box, seen, rows = queue.Queue(), set(), [list(values)]
    for value in values:
        box.put(value)
        seen.add(value)
    box.get()
    rows.append([0])
    rows.pop()
    subprocess.run(["grep", "-q", "no such word", "main.py"])
    os.system("test -e nowhere")
    str(values).strip("[]")
    return (sum(seen) - len(values)) / len(values)
"""
MEAN = "from mean import mean\nvalue = mean([1, 2, 3, 4, 6])\nassert value == 3.2 + 1, value\n"


@pytest.mark.long
def test_results_that_are_dropped_on_purpose_are_not_the_cause(whet: Whet) -> None:
    found = answer(whet, {"mean.py": INNOCENT, "main.py": MEAN}, "main.py")
    # On a busy machine there is too little time to show it.
    assert found["cause"] is None or cause_of(found) == ("mean.py", 13, "shown")
    assert first_clue(found)["line"] == 13


BESIDE = """\
from concurrent.futures import ThreadPoolExecutor
def send(totals):
    raise ConnectionError(f"nobody listens to {len(totals)} totals")
def totals(rows):
    found = {}
    for name, count in rows:
        found[name] = found.get(name, 0) - count
    with ThreadPoolExecutor(1) as pool:
        pool.submit(send, found)
    return found
"""
COUNTS = "from totals import totals\nfound = totals([('a', 17), ('b', 4), ('a', 6)])\nassert found['a'] == 23, found\n"


@pytest.mark.long
def test_an_error_that_kept_nothing_from_being_changed_is_not_the_cause(whet: Whet) -> None:
    found = answer(whet, {"totals.py": BESIDE, "main.py": COUNTS}, "main.py")
    # On a busy machine there is too little time to show it.
    assert found["cause"] is None or cause_of(found) == ("totals.py", 7, "shown")


JOURNAL = """\
class Part:
    def __init__(self, journal, path):
        self.journal, self.file = journal, open(path, "w")
class Journal:
    def __init__(self, folder):
        self.folder, self.number = folder, 0
        self.roll()
    def roll(self):
        self.number += 1
        self.part = Part(self, self.folder / str(self.number))
"""
TEST = """\
import gc
from journal import Journal
def test_roll(tmp_path):
    journal = Journal(tmp_path)
    for _ in range(3):
        journal.roll()
        gc.collect()
    assert journal.number == 4
    journal.part.file.close()
"""


@pytest.mark.long
def test_the_line_that_lets_go_of_an_open_file_is_the_cause_where_warnings_are_errors(
    whet: Whet,
) -> None:
    files = {
        "pytest.ini": "[pytest]\nfilterwarnings = error\npythonpath = .\n",
        "journal.py": JOURNAL.replace("self.journal, self.file = journal, ", "self.file = "),
        "test_journal.py": TEST,
    }
    found = answer(whet, files, "-m", "pytest", "-q", "test_journal.py")
    assert cause_of(found) == ("journal.py", 10, "seen")
