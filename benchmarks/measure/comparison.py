"""How often `whet compare` is wrong about two equal programs, and how many runs a true difference takes.

    python -m benchmarks.measure.comparison [--simulated 1000] [--equal 60] [--different 10] [--peers]

Simulated: two equal arms on a machine with heavy tails, a drift and bursts that last; whet looks after
each pair. Real: a program of 50 ms against itself, and one of 200 ms against 3 % more work. The peers
get the same two programs with their defaults; each of their answers is judged by its own means.
"""

import argparse
import json
import math
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.table import print_table
from whet.measurement.comparison.contest import Sample
from whet.measurement.comparison.order import Order

WORKS = """
import sys
total = 0
for i in range(int(sys.argv[1])):
    total += i * i
print("done")
"""
MORE = 1.03
MOST_SIMULATED_PAIRS = 60
SECONDS, EQUAL_SECONDS = 0.2, 0.05


def simulated(count: int) -> Counter[str]:
    """Compare equal arms on simulated machines; return what was said."""
    said: Counter[str] = Counter()
    for seed in range(count):
        rng = random.Random(seed)
        order = Order(seed)
        burst, drift = 0.0, rng.gauss(0, 0.002)
        a: list[float] = []
        b: list[float] = []
        ruling = None
        for pair in range(MOST_SIMULATED_PAIRS):
            values: list[float] = []
            for _ in range(2):
                burst = 0.95 * burst + rng.gauss(0, 0.02)
                tail = abs(rng.gauss(0, 0.03)) / math.sqrt(rng.gammavariate(0.75, 1) + 1e-3)
                values.append(math.exp(drift * pair + burst + tail))
            if not order.is_a_first(pair):
                values.reverse()
            a.append(values[0])
            b.append(values[1])
            ruling = Sample(name="", a=tuple(a), b=tuple(b)).ruling(0.05, 0.01)
            if ruling is not None:
                break
        said["unsure" if ruling is None else ruling.value] += 1
    return said


def iterations() -> int:
    """Return how many rounds of the loop take 200 ms of CPU time here."""
    script = _script()
    times: list[float] = []
    for _ in range(7):
        before = os.times()
        subprocess.run([sys.executable, script, "1000000"], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        times.append(
            after.children_user
            - before.children_user
            + after.children_system
            - before.children_system
        )
    return round(1_000_000 * SECONDS / statistics.median(times))


def _script() -> str:
    path = Path(tempfile.gettempdir(), "whet-compared-works.py")
    path.write_text(WORKS)
    return str(path)


def whet_says(a: int, b: int, *options: str) -> dict[str, object]:
    """Return what whet says of two amounts of work."""
    script = _script()
    words = [shlex.join([sys.executable, script, str(amount)]) for amount in (a, b)]
    done = subprocess.run(
        [sys.executable, "-m", "whet", "compare", "--json", *options, *words],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def real(name: str, a: int, b: int, times: int, *options: str) -> None:
    """Compare two amounts of work so often, and print what was said."""
    rows: list[tuple[str, ...]] = []
    rulings: Counter[str] = Counter()
    pairs: list[int] = []
    seconds: list[float] = []
    began = time.monotonic()
    for _ in range(times):
        answer = whet_says(a, b, *options)
        rulings[f"{answer['ruling'] or 'unsure'} by {answer['decided_by']}"] += 1
        pairs.append(int(str(answer["pairs"])))
        seconds.append(float(str(answer["wall_seconds"])))
        print(f"  {answer['answer']}  (load {answer['load']})", file=sys.stderr, flush=True)
    rows += [(said, f"{count} of {times}") for said, count in rulings.most_common()]
    ordered = sorted(pairs)
    rows.append(
        (
            "runs of each: median, 9th of 10",
            f"{statistics.median(pairs):g}, {ordered[int(0.9 * (times - 1))]}",
        )
    )
    rows.append(("seconds: median", f"{statistics.median(seconds):.0f}"))
    load = os.getloadavg()
    rows.append(("load at the end", f"{load[0]:.1f} on {os.cpu_count()} processors"))
    rows.append(("all took", f"{time.monotonic() - began:.0f} s"))
    print_table(name, ("what", "result"), rows)


# ---- the peers ----


def hyperfine_says(a: int, b: int) -> tuple[bool, int, float]:
    """Return whether its intervals of the means don't overlap in the true direction, runs and seconds."""
    script, report = _script(), Path(tempfile.gettempdir(), "whet-hyperfine.json")
    words = [shlex.join([sys.executable, script, str(amount)]) for amount in (a, b)]
    began = time.monotonic()
    subprocess.run(
        ["hyperfine", "-N", "--export-json", str(report), *words],
        check=True, capture_output=True,
    )  # fmt: skip
    took = time.monotonic() - began
    ends: list[tuple[float, float]] = []
    runs = 0
    for result in json.loads(report.read_text())["results"]:
        count = len(result["times"])
        runs = max(runs, count)
        reach = 1.96 * result["stddev"] / math.sqrt(count)
        ends.append((result["mean"] - reach, result["mean"] + reach))
    return ends[0][1] < ends[1][0], runs, took


def pyperf_says(python: str, a: int, b: int) -> tuple[bool, int, float]:
    """Return whether `compare_to` calls the second one slower and significant, runs and seconds."""
    script, folder = _script(), Path(tempfile.mkdtemp())
    began = time.monotonic()
    reports = [str(folder / f"{name}.json") for name in "ab"]
    for amount, report in zip((a, b), reports, strict=True):
        subprocess.run(
            [python, "-m", "pyperf", "command", "-o", report, "--", sys.executable, script, str(amount)],
            check=True, capture_output=True,
        )  # fmt: skip
    said = subprocess.run(
        [python, "-m", "pyperf", "compare_to", *reports],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    took = time.monotonic() - began
    runs = sum(
        len(run.get("values", ())) + len(run.get("warmups", ()))
        for run in json.loads(Path(reports[0]).read_text())["benchmarks"][0]["runs"]
    )
    shutil.rmtree(folder)
    return "slower" in said and "Not significant" not in said, runs, took


def peers(a: int, b: int, times: int, pyperf: str) -> None:
    """Print how often the peers find the difference with their defaults."""
    rows: list[tuple[str, ...]] = []
    if shutil.which("hyperfine"):
        answers = [hyperfine_says(a, b) for _ in range(times)]
        rows.append(_row("hyperfine -N", answers))
    if pyperf:
        answers = [pyperf_says(pyperf, a, b) for _ in range(times)]
        rows.append(_row("pyperf command, compare_to", answers))
    load = f"{os.getloadavg()[0]:.1f}"
    columns = ("tool", "found", "runs of each", "seconds")
    print_table(f"The peers' defaults on 3 % (load {load} at the end)", columns, rows)


def _row(name: str, answers: list[tuple[bool, int, float]]) -> tuple[str, ...]:
    found = sum(is_found for is_found, _, _ in answers)
    runs = statistics.median(each for _, each, _ in answers)
    seconds = statistics.median(each for _, _, each in answers)
    return name, f"{found} of {len(answers)}", f"{runs:g}", f"{seconds:.0f}"


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulated", type=int, default=1000, help="equal arms, simulated")
    parser.add_argument("--equal", type=int, default=60, help="equal programs, run")
    parser.add_argument("--different", type=int, default=10, help="programs that differ by 3 %%")
    parser.add_argument("--peers", type=int, default=0, help="the same for hyperfine and pyperf")
    parser.add_argument("--pyperf", default="", help="a Python that has pyperf")
    given = parser.parse_args()
    if given.simulated:
        began = time.monotonic()
        said = simulated(given.simulated)
        rows = [(name, f"{times} of {given.simulated}") for name, times in said.most_common()]
        rows.append(("took", f"{time.monotonic() - began:.0f} s"))
        print_table("Equal arms on simulated machines, 95 %", ("said", "how often"), rows)
    amount = iterations() if given.equal or given.different or given.peers else 0
    if given.equal:
        short = round(amount * EQUAL_SECONDS / SECONDS)  # 60 of them take minutes, not hours
        name = f"A program of {1000 * EQUAL_SECONDS:.0f} ms against itself"
        real(name, short, short, given.equal, "--runs", "20")
    more = round(amount * MORE)
    if given.different:
        longer = ("--runs", "400", "--budget", "20min")
        real("3 % more work", amount, more, given.different, *longer)
    if given.peers:
        peers(amount, more, given.peers, given.pyperf)


if __name__ == "__main__":
    main()
