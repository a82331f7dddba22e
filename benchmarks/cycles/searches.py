"""Warm trials of a search against cold ones: trials per second, and how long a shrink takes.

Both sides run in one run, in turns, with one worker. `--python` names a Python that has pandas and
pyarrow; what it has not is left out.

    python -m benchmarks.cycles.searches [--rounds N] [--only trials|shrink] [--python PYTHON]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cycles.costs import has
from benchmarks.shrink.cases import Case, cases
from benchmarks.shrink.peers import install_oracles
from benchmarks.table import print_table
from whet.core.outcome import Outcome
from whet.core.trial import PayloadBinding, Trial
from whet.core.verdict import Verdict
from whet.evidence.signature.classify import classify
from whet.execution.cold import ColdExecutor
from whet.execution.warm_search import WarmSearch
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.trial.capture import keep_in_place

COLD_TRIALS, WARM_TRIALS = 3, 60  # of a round

SHRUNK = ("pipeline.yaml", "orders.csv", "names.html")
"""Those cases of the shrink benchmark that one worker does in minutes."""

SCRIPTS = {
    "standard library": """\
import asyncio, decimal, email.message, http.client, logging.config, sys, unittest, xml.dom.minidom
import csv
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
print(sum(float(row["price"]) for row in rows))
""",
    "pandas": """\
import sys
import pandas as pd
table = pd.read_csv(sys.argv[1])
print(table.groupby("name")["price"].mean())
""",
    "pyarrow": """\
import sys
import pyarrow.csv
table = pyarrow.csv.read_csv(sys.argv[1])
print(table.num_rows)
""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How fast the trials of one script were.

    Attributes:
        cold_seconds: of one trial, the median.
        warm_seconds: of one trial, the median; the same as cold if none came warm.
        remark: what share came warm, and why others did not.
    """

    cold_seconds: float
    warm_seconds: float
    remark: str


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("trials", "shrink"))
    parser.add_argument("--script", choices=tuple(SCRIPTS), action="append")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    if options.only != "shrink":
        print_trials(options.python, options.rounds, options.script or tuple(SCRIPTS))
    if options.only != "trials":
        print_shrinks()


def print_trials(python: str, rounds: int, names: Sequence[str]) -> None:
    """Print trials per second."""
    rows: list[list[str]] = []
    for name in names:
        if name in {"pandas", "pyarrow"} and not has(Path(python), name):
            rows.append([name, "", "", "", f"`{python}` has no {name}"])
            continue
        speed = speed_of(SCRIPTS[name], python, rounds)
        ratio = speed.cold_seconds / speed.warm_seconds
        rows.append(
            [
                name,
                f"{1 / speed.cold_seconds:.1f}",
                f"{1 / speed.warm_seconds:.1f}",
                f"{ratio:.1f}",
                speed.remark,
            ]
        )
    print_table(
        "Trials per second, one worker", ("script", "cold", "warm", "ratio", "warm trials"), rows
    )


def speed_of(script: str, python: str, rounds: int) -> Speed:
    """Run a script on one small file after the other, cold and warm in turns."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "main.py").write_text(script)
        cleanup_journal, payloads = CleanupJournal(place / "made"), dict[str, bytes]()
        search = WarmSearch(cleanup_journal, position=0, judge=_verdict)

        def executor(perform: WarmSearch | None) -> ColdExecutor:
            return ColdExecutor(
                classify=classify,
                payload_of=payloads.__getitem__,
                keep=keep_in_place,
                cleanup_journal=cleanup_journal,
                scratch=place / "scratch",
                environment=dict(os.environ),
                pycache=place / "pycache",
                perform=perform,
            )

        def seconds(runner: ColdExecutor, times: int) -> list[float]:
            taken: list[float] = []
            for _ in range(times):
                digest = f"{len(payloads)}"
                rows = "".join(f"a{number},{number}.5\n" for number in range(len(payloads) % 50))
                payloads[digest] = f"name,price\n{rows}".encode()
                binding = PayloadBinding(argument=2, text="data", name="data.csv", digest=digest)
                trial = Trial(command=(python, "main.py", "data"), cwd=folder, payloads=(binding,))
                start = time.perf_counter()
                runner.submit(trial).result()
                taken.append(time.perf_counter() - start)
            return taken

        colds: list[float] = []
        warms: list[float] = []
        with executor(None) as cold, executor(search) as warm:
            seconds(cold, 1)  # byte code and the file cache
            seconds(warm, 4)  # the copy is taken, and what comes from it is checked
            for _ in range(rounds):
                colds += seconds(cold, COLD_TRIALS)
                warms += seconds(warm, WARM_TRIALS)
        cleanup_journal.discard_all()
    share = search.warm_runs / (len(warms) + 4)
    why = f": {'; '.join(search.reasons)}" if search.reasons else ""
    return Speed(
        cold_seconds=statistics.median(colds),
        warm_seconds=statistics.median(warms),
        remark=f"{share:.0%}{why}",
    )


def _verdict(outcome: Outcome) -> Verdict:
    return Verdict.GOOD if outcome.failure is None else Verdict.BAD


def print_shrinks() -> None:
    """Print how long `whet shrink` takes on the cases of the shrink benchmark."""
    if why_not := install_oracles():
        print(f"\nskipped: shrinks: {why_not}")
        return
    rows: list[list[str]] = []
    for case in cases():
        if case.name not in SHRUNK:
            continue
        cold, cold_seconds = _shrunk(case, "--cold")
        warm, warm_seconds = _shrunk(case)
        assert cold["after_bytes"] == warm["after_bytes"], case.name
        rows.append(
            [
                case.name,
                f"{cold_seconds:.1f}",
                f"{warm_seconds:.1f}",
                f"{cold_seconds / warm_seconds:.1f}",
                f"{warm['warm']} of {warm['trials']}",
            ]
        )
    print_table(
        "`whet shrink`, one worker", ("file", "cold s", "warm s", "ratio", "warm trials"), rows
    )


def _shrunk(case: Case, *words: str) -> tuple[dict[str, object], float]:
    with tempfile.TemporaryDirectory() as folder:
        case.make(Path(folder, case.name))
        command = [sys.executable, "-m", "whet", "shrink", case.name, "--jobs", "1", "--json"]
        command += [*words, "--", *case.program]
        start = time.perf_counter()
        done = subprocess.run(
            [*command, case.name], cwd=folder, check=True, capture_output=True, text=True
        )
        seconds = time.perf_counter() - start
    answer: dict[str, list[dict[str, object]]] = json.loads(done.stdout.splitlines()[-1])
    return answer["payloads"][0], seconds


if __name__ == "__main__":
    main()
