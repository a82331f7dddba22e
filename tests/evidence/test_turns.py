"""Threads that come between the lines of a function, and those that are kept out of it."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import whet.agent
from whet.core.budget import OutOfTimeError
from whet.core.failure import Failure, FailureKind, FailureSignature
from whet.core.observations.clue import Placing
from whet.core.oracle import AnyFailure
from whet.core.outcome import Outcome
from whet.core.text.record import JsonObject
from whet.core.verdict import Verdict
from whet.evidence.clues.closer_look import shared_functions_in
from whet.workbench.investigate.closer.races import Races

SITE = Path(whet.agent.__file__).parent / "site"
PROGRAM = """\
import threading
from concurrent.futures import ThreadPoolExecutor


class Rows:
    def __init__(self):
        self.lock, self.rows = threading.Lock(), {}

    def read(self, key):
        with self.lock:
            return self.rows.get(key, 0)

    def write(self, key, value):
        with self.lock:
            self.rows[key] = value


def add(rows, key):
    known = rows.read(key)
    more = known + 1
    rows.write(key, more)


rows = Rows()
both = threading.Barrier(2)
with ThreadPoolExecutor(2, initializer=both.wait) as pool:
    list(pool.map(lambda n: add(rows, n % 10), range(200)))
assert sum(rows.rows.values()) == 200, rows.rows
"""
"""Each row is read and written under the lock, but not both under one."""


def run(folder: Path, asked: str, program: str = PROGRAM) -> tuple[int, list[JsonObject]]:
    """Return how the program ends while it is looked at, and what was told."""
    import json

    (folder / "main.py").write_text(program)
    told = folder / "told"
    told.mkdir(exist_ok=True)
    variables = {
        "PYTHONPATH": str(SITE), "WHET_AGENT": str(told), "WHET_LOCALS": "1", "WHET_CLOSER": asked,
        "WHET_PYCACHE": str(folder / "cache"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, **variables},
    )  # fmt: skip
    lines = [each for file in told.glob("*.closer") for each in file.read_text().splitlines()]
    return done.returncode, [json.loads(each.strip("\0")) for each in lines if each.strip("\0")]


def first_line(name: str) -> int:
    lines = PROGRAM.splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.lstrip().startswith(f"def {name}("))


def test_a_function_that_reads_and_later_writes_loses_an_update_to_those_that_come_between(
    tmp_path: Path,
) -> None:
    place = f"{tmp_path / 'main.py'}:{first_line('add')}"
    assert run(tmp_path, f"between:{place}")[0] == 1
    assert run(tmp_path, f"alone:{place}")[0] == 0


def test_a_function_that_holds_one_lock_from_the_read_to_the_write_loses_none(
    tmp_path: Path,
) -> None:
    guarded = PROGRAM.replace("    known = rows", "    with rows.lock:\n        known = rows")
    guarded = guarded.replace("    more =", "        more =").replace(
        "    rows.write", "        rows.write"
    )
    program = guarded.replace("threading.Lock()", "threading.RLock()")
    place = f"{tmp_path / 'main.py'}:{first_line('add')}"
    assert run(tmp_path, f"between:{place}", program)[0] == 0


def test_the_functions_that_several_threads_call_are_told_the_outermost_first(
    tmp_path: Path,
) -> None:
    _, told = run(tmp_path, "")
    functions = [each.function for each in shared_functions_in(told)]
    assert functions[0] == "add"
    assert {"Rows.read", "Rows.write"} == set(functions[1:])


FAILED = Outcome(
    exit_code=1,
    failure=Failure(signature=FailureSignature(kind=FailureKind.EXCEPTION), summary="lost"),
)
WITHIN_WORK = PROGRAM.replace(
    "rows = Rows()\n",
    "def work(rows, key):\n    add(rows, key)\n    return key\n\n\nrows = Rows()\n",
).replace("lambda n: add(", "lambda n: work(")


@pytest.mark.parametrize(
    ("has_time", "named"), [("always", "`add`"), ("for one function", "`work`")]
)
def test_the_innermost_function_that_decides_is_named(
    tmp_path: Path, has_time: str, named: str
) -> None:
    """Threads that are kept apart in what they are started with are kept apart in all that it calls."""
    _, told = run(tmp_path, "", WITHIN_WORK)
    lines = [each.function for each in shared_functions_in(told)]
    numbers = {each.number: each.function for each in shared_functions_in(told)}
    assert lines[:2] == ["work", "add"]
    looked: list[int] = []

    def tried(asked: str, _most: int, _until: Verdict | None) -> list[Outcome]:
        looked.append(len(looked) + 1)
        name = numbers[int(asked.rpartition(":")[2])]
        if name != "work" and has_time != "always":
            raise OutOfTimeError
        is_lost = asked.startswith("between") and name in {"work", "add"}
        return [FAILED if is_lost else Outcome()]

    baseline: Any = SimpleNamespace(oracle=AnyFailure(), repeats=1)
    (clue,) = Races(baseline, tried, looked).clues(told, Placing(str(tmp_path)))

    assert f"several threads are in {named} at once" in clue.says
    assert clue.trials == ((4, 5, 6) if named == "`add`" else (1, 2, 3))
