"""Forked processes that draw the same random numbers: shown by numbers of their own, and by a control."""

import json
import sys
from pathlib import Path

import pytest
from whet_command import Whet

pytest.importorskip("numpy")

WORKERS = """\
import multiprocessing as mp
import statistics

import numpy as np

RNG


def work(number, results):
    DRAW
    results.put(float(draws.mean()))


if __name__ == "__main__":
    np.random.seed(3)
    context = mp.get_context("fork")
    results = context.Queue()
    workers = [context.Process(target=work, args=(n, results)) for n in range(3)]
    for worker in workers:
        worker.start()
    means = [results.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    CHECK
"""
GLOBAL = WORKERS.replace("RNG\n\n\n", "\n").replace(
    "DRAW", "draws = np.random.standard_normal(100)"
)
OWN = WORKERS.replace("RNG", "GENERATOR = np.random.default_rng(5)").replace(
    "DRAW", "draws = GENERATOR.standard_normal(100)"
)
SPREAD = "print(1 / statistics.stdev(means))"


def told(whet: Whet, program: str) -> tuple[dict[str, object] | None, list[dict[str, object]]]:
    whet.write("main.py", program)
    said = whet("investigate", "--budget", "3m", "--no-changes", "--", sys.executable, "main.py")
    assert said.code in {0, 75}, said.stderr
    report = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    return report["answer"]["cause"], report["clues"]


@pytest.mark.long
@pytest.mark.parametrize("program", [GLOBAL, OWN], ids=["the global generator", "one of its own"])
def test_the_line_that_forks_processes_with_the_same_state_is_the_cause(
    whet: Whet, program: str
) -> None:
    program = program.replace("CHECK", SPREAD)
    cause, _ = told(whet, program)

    assert cause is not None
    assert "processes are forked with the same random state" in str(cause["says"])
    assert "with other numbers that are still the same in each, 3 of 3 runs fail" in str(
        cause["says"]
    )
    assert cause["line"] == program.splitlines().index("        worker.start()") + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "check"),
    [
        (
            "draws = np.random.default_rng([3, number]).normal(size=9)",
            "assert len(means) == 4, means",
        ),
        ("draws = np.random.standard_normal(9)", "assert round(means[0], 6) != FOUND, means[0]"),
    ],
    ids=["each process has its own seed", "those numbers fail"],
)
def test_what_other_numbers_alone_would_change_is_not_called_the_cause(
    whet: Whet, draw: str, check: str
) -> None:
    import numpy as np

    found = round(float(np.random.RandomState(3).standard_normal(9).mean()), 6)
    program = WORKERS.replace("RNG\n\n\n", "\n").replace("DRAW", draw).replace("CHECK", check)

    cause, clues = told(whet, program.replace("FOUND", repr(found)))

    assert "same random state" not in str(cause)
    assert not any(
        "same random state" in str(each["says"]) and each["sureness"] == "shown" for each in clues
    )
