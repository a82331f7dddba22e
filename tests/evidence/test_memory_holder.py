"""What holds the memory when it runs out is named with the line that fills it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_runs import SITE, line_of

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.evidence.clues.closer_look import told_in
from whet.evidence.clues.memory_holder import memory_clues
from whet.host.trial.instrumented_evidence import read_closer

LIMIT = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (400 << 20,) * 2)\n"


def clues(folder: Path, program: str) -> list[Clue]:
    (folder / "main.py").write_text(program)
    told = folder / ".told"
    told.mkdir()
    variables = {
        "PYTHONPATH": str(SITE),
        "WHET_AGENT": str(told),
        "WHET_PYCACHE": str(folder / ".cache"),
        "WHET_CLOSER": "memory",
    }
    done = subprocess.run(
        [sys.executable, "main.py"], cwd=folder, env={**os.environ, **variables}, capture_output=True,
        text=True, check=False, timeout=60,
    )  # fmt: skip
    assert "MemoryError" in done.stderr
    reports = told_in([read_closer(told)])
    return list(memory_clues(reports, Placing(str(folder)), lambda path: Path(path).read_text()))


VIEWS = f"""
{LIMIT}
class Heads:
    def __init__(self):
        self.kept = []

    def add(self, data):
        head = memoryview(data)[:8]
        self.kept.append(head)

def read(number):
    return bytes([number % 256]) * (3 << 20)

def main():
    heads = Heads()
    for number in range(1000):
        heads.add(read(number))

main()
"""


def test_views_that_keep_their_buffers_alive_are_told_as_such(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, VIEWS)
    assert clue.sureness is Sureness.SEEN
    assert clue.heading == "what takes the memory"  # why it grows isn't known
    assert clue.line == line_of(VIEWS, "self.kept.append(head)")
    made = line_of(VIEWS, "self.kept = []")
    assert "`heads.kept` (list, " in clue.says
    assert f"items, made at main.py:{made}) keeps" in clue.says
    taken = line_of(VIEWS, "head = memoryview")
    assert f"an item is a view of 8 B into 3.1 MB, taken at main.py:{taken}" in clue.says


REGISTRY = f"""
{LIMIT}
SEEN = {{}}

def digest(number):
    text = str(number) * 1000
    SEEN[number] = text
    return len(text)

print(sum(digest(number) for number in range(10_000_000)))
"""

CACHED = f"""
import functools
{LIMIT}

@functools.lru_cache(maxsize=None)
def row(number):
    return bytearray(1 << 20)

def main():
    return sum(len(row(number)) for number in range(100_000))

main()
"""

CLOSED = f"""
{LIMIT}
def make():
    history = []
    def step(number):
        history.append([number] * 100_000)
        return len(history)
    return step

def main():
    step = make()
    while True:
        step(1.5)

main()
"""

JOINED = f"""
{LIMIT}
def line(number):
    return b'x' * 10_000

def main():
    text = bytearray()
    for number in range(10_000_000):
        text += line(number)

main()
"""


@pytest.mark.parametrize(
    ("program", "line", "says"),
    [
        pytest.param(REGISTRY, "SEEN[number] = text", "`SEEN` (dict, ", id="a registry of the module"),
        pytest.param(CACHED, "@functools", "`row` (a function's cache, ", id="a cache without a bound"),
        pytest.param(CLOSED, "history.append", "history` (list, ", id="a variable of a closure"),
        pytest.param(JOINED, "text += line", "`text` (bytearray", id="one object that grows"),
    ],
)  # fmt: skip
def test_what_keeps_most_and_still_grows_is_named(
    tmp_path: Path, program: str, line: str, says: str
) -> None:
    (clue,) = clues(tmp_path, program)
    assert says in clue.says
    assert clue.line == line_of(program, line)


def test_of_one_object_that_grows_only_what_it_has_filled_counts(tmp_path: Path) -> None:
    assert clues(tmp_path, JOINED)
    reports = told_in([read_closer(tmp_path / ".told")])
    sizes = [each["kept"] for each in reports if each.get("type") == "bytearray"]
    assert sizes
    assert all(isinstance(size, int) and size % 10_000 == 0 for size in sizes), sizes


LOADED = f"""
{LIMIT}
def load():
    return [bytes(1 << 20) for _ in range(220)]

def work(number):
    part = bytes([number]) * (5 << 20)
    return part

def main():
    table = load()
    a, b = [], []
    for number in range(200):
        (a if number % 2 else b).append(work(number))

main()
"""

ASKED = f"""
{LIMIT}
def row(number):
    return bytes(1 << 20)

def main():
    rows = []
    for number in range(150):
        rows.append(row(number))
    return bytearray(10 << 30)

main()
"""

SPREAD = f"""
{LIMIT}
def row(number):
    return bytes(1 << 20)

def main():
    a, b, c = [], [], []
    for number in range(1000):
        for each in (a, b, c):
            each.append(row(number))

main()
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(LOADED, id="a table that grows no more"),
        pytest.param(ASKED, id="a request that is too large by itself"),
        pytest.param(SPREAD, id="several that keep about the same"),
    ],
)
def test_nothing_is_told_if_no_holder_is_to_blame(tmp_path: Path, program: str) -> None:
    assert clues(tmp_path, program) == []


def test_where_a_dict_was_made_is_told_beside_the_lines_that_set_its_items(tmp_path: Path) -> None:
    (clue,) = clues(tmp_path, REGISTRY)
    assert f"items, made at main.py:{line_of(REGISTRY, 'SEEN = {}')}) keeps" in clue.says


ASKED_BACK = f"""
{LIMIT}
import sys

def tell(what):
    sys.stderr.write(f"the program was asked for {{what}}\\n")

class Part:
    def __init__(self, data):
        self.data = data

    def __sizeof__(self):
        tell("a size")
        return 1

class Store:
    def __init__(self):
        self.parts = []

    def __getattr__(self, name):
        tell(name)
        raise AttributeError(name)

    def __sizeof__(self):
        tell("a size")
        return 1

class Names(dict):
    def __getattribute__(self, name):
        tell(name)
        return super().__getattribute__(name)

    def items(self):
        tell("items")
        return []

def main():
    store, names = Store(), Names()
    for number in range(1000):
        store.parts.append(Part(bytes([number % 256]) * (3 << 20)))
        names[number] = store.parts[-1]

main()
"""


def test_none_of_the_programs_code_is_run_for_it(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(ASKED_BACK)
    told = tmp_path / ".told"
    told.mkdir()
    variables = {"PYTHONPATH": str(SITE), "WHET_AGENT": str(told), "WHET_CLOSER": "memory",
                 "WHET_PYCACHE": str(tmp_path / ".cache")}  # fmt: skip
    command = [sys.executable, "main.py"]
    plain, looked_at = (
        subprocess.run(command, cwd=tmp_path, env={**os.environ, **more}, capture_output=True,
                       text=True, check=False, timeout=60).stderr
        for more in ({}, variables)
    )  # fmt: skip

    assert "MemoryError" in plain
    assert "was asked" not in plain
    assert "was asked" not in looked_at
    assert told_in([read_closer(told)]), "nothing was looked at"
