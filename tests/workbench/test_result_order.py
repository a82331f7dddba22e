"""A failure that hangs on which result arrives first is named with the line that collects results."""

import os
import sys
from pathlib import Path

import pytest
from flaky_baselines import flaky_baseline

from whet.core.observations.clue import Clue, Sureness
from whet.workbench.toggle.result_order import result_order
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

FUTURES = """
import os, time
from concurrent.futures import ThreadPoolExecutor, as_completed

def work(number):
    time.sleep(os.urandom(1)[0] / 5000)
    return number

with ThreadPoolExecutor(4) as pool:
    futures = [pool.submit(work, number) for number in range(4)]
    results = [future.result() for future in as_completed(futures)]
if os.environ.get("FIRST") or results != [0, 1, 2, 3]:
    raise ValueError(f"in disorder")
"""
POOL = FUTURES.replace(
    FUTURES[FUTURES.index("with Thr") : FUTURES.index("if os.env")],
    """from multiprocessing.pool import ThreadPool
with ThreadPool(4) as pool:
    results = list(pool.imap_unordered(work, range(4)))
""",
)
TASKS = """
import asyncio, os

async def work(number):
    await asyncio.sleep(os.urandom(1)[0] / 5000)
    return number

async def main():
    return [await each for each in asyncio.as_completed([work(number) for number in range(4)])]

if asyncio.run(main()) != [0, 1, 2, 3] or os.environ.get("FIRST"):
    raise ValueError("in disorder")
"""
CHANCE = """
import os
from concurrent.futures import ThreadPoolExecutor, as_completed
with open("runs", "a") as file:
    file.write("x")
with ThreadPoolExecutor(4) as pool:
    list(as_completed([pool.submit(abs, number) for number in range(4)]))
if os.environ.get("FIRST") or os.path.getsize("runs") % 2:
    raise ValueError("by chance")
"""
NONE = """
import os
with open("runs", "a") as file:
    file.write("x")
if os.environ.get("FIRST") or os.path.getsize("runs") % 2:
    raise ValueError("by chance")
"""


def clue_of(folder: Path, program: str) -> Clue | None:
    """Return what is found of a program that is said to fail in nine runs of ten."""
    (folder / "main.py").write_text(program)
    with open_workbench({**os.environ, "WHET_DIR": str(folder / "w")}) as bench:
        command = (sys.executable, "main.py")
        request = TrialRequest(command=command, environment={"FIRST": "1"})
        session = Session(bench=bench, verb="investigate", request=request)
        baseline = flaky_baseline(session, bench.build_trial(request), failures=9)
        trial = bench.build_trial(TrialRequest(command=command))
        return result_order(session, trial, baseline)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "line"),
    [
        pytest.param(FUTURES, "in as_completed(futures)", id="futures"),
        pytest.param(POOL, "imap_unordered", id="a pool"),
        pytest.param(TASKS, "asyncio.as_completed", id="tasks"),
    ],
)
def test_the_line_that_collects_results_as_they_arrive_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, line: str
) -> None:
    monkeypatch.chdir(tmp_path)

    clue = clue_of(tmp_path, program)

    assert clue is not None
    number = next(at for at, text in enumerate(program.splitlines(), 1) if line in text)
    assert (Path(clue.path).name, clue.line) == ("main.py", number)
    assert clue.sureness is Sureness.SHOWN
    assert clue.says.startswith(f"main.py:{number} collects results as they arrive")
    assert "in the opposite order it fails every time (4 of 4)" in clue.says


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "runs"),
    [pytest.param(CHANCE, 1, id="by chance"), pytest.param(NONE, 1, id="without results")],
)
def test_what_fails_by_chance_is_not_laid_to_the_order_of_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, runs: int
) -> None:
    monkeypatch.chdir(tmp_path)

    assert clue_of(tmp_path, program) is None
    # One run made the baseline.
    assert len((tmp_path / "runs").read_text()) <= 1 + 2 * runs
