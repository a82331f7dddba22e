"""How many leaks whet leak tells from programs without one, beside tracemalloc and memray.

    python -m benchmarks.measure.leaks [--torch PYTHON] [--memray PYTHON] [--unseen] [--only NAME]

whet gets the program as it is. The other two get more: they call the repeated function themselves, 20
times to warm up and 60 times to measure, after a garbage collection each, and count what is left.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table import print_table

SPECIMENS = Path(__file__).parents[2] / "specimens" / "leaks"
CALLS = {
    "cache": "serve(source)",
    "closure": "server.handle('request {} '.format(n) * 100)",
    "cycle_with_del": "link(n)",
    "descriptors": "read(n)",
    "extension": "encode(5000)",
    "frame_views": "load(n)",
    "handlers": "run(n)",
    "list_kept": "step(n)",
    "mappings": "block(n)",
    "thread_local": "job(n)",
    "threads": "job(n)",
    "torch_graph": "train_step()",
}
NEEDS_TORCH = {"torch_graph", "frame_views"}
SECONDS = 300
LEAST = 64 * 60
TRACEMALLOC = """
import gc, runpy, sys, tracemalloc
space = runpy.run_path({path!r}, run_name="program")
sys.stdout = open("/dev/null", "w")
tracemalloc.start(5)
for n in range(100_000, 100_020): eval({call!r}, space, {{"n": n}})
gc.collect()
before = tracemalloc.take_snapshot()
for n in range(200_000, 200_060): eval({call!r}, space, {{"n": n}})
gc.collect()
after = tracemalloc.take_snapshot()
grown = sum(each.size_diff for each in after.compare_to(before, "lineno") if {name!r} in str(each.traceback))
print(grown, file=sys.__stdout__)
"""
MEMRAY = """
import gc, runpy, sys, tempfile, os, memray
space = runpy.run_path({path!r}, run_name="program")
sys.stdout = open("/dev/null", "w")
for n in range(100_000, 100_020): eval({call!r}, space, {{"n": n}})
gc.collect()
file = os.path.join(tempfile.mkdtemp(), "record.bin")
with memray.Tracker(file, trace_python_allocators=True):
    for n in range(200_000, 200_060): eval({call!r}, space, {{"n": n}})
    gc.collect()
records = memray.FileReader(file).get_leaked_allocation_records(merge_threads=True)
print(sum(each.size for each in records if {name!r} in str(each.stack_trace())), file=sys.__stdout__)
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of which it is known whether it leaks."""

    path: Path
    leaks: bool
    python: str

    @property
    def name(self) -> str:
        """Its folder and its name."""
        return f"{self.path.parent.name}/{self.path.stem}"


def main() -> None:
    """Judge all programs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", default="", help="a Python with torch and pandas")
    parser.add_argument("--memray", default="", help="a Python with memray [this one]")
    parser.add_argument("--unseen", action="store_true", help="the set that whet wasn't built with")
    parser.add_argument("--only", default="", help="only programs whose name has this in it")
    asked = parser.parse_args()
    programs = [
        each for each in _programs(asked.torch, unseen=asked.unseen) if asked.only in each.name
    ]
    rows: list[list[str]] = []
    right = {"whet": 0, "tracemalloc": 0, "memray": 0}
    for program in programs:
        row = [program.name, "leak" if program.leaks else "none"]
        began = time.perf_counter()
        answers = {"whet": _by_whet(program), "tracemalloc": None, "memray": None}
        seconds = time.perf_counter() - began
        if not asked.unseen:
            answers["tracemalloc"] = _by_calls(program, TRACEMALLOC, program.python)
            python = asked.memray or sys.executable
            if program.path.stem not in NEEDS_TORCH or asked.memray:
                answers["memray"] = _by_calls(program, MEMRAY, python)
        for tool, answer in answers.items():
            right[tool] += answer is program.leaks
            word = {True: "leak", False: "none", None: "-"}[answer]
            row.append(word if answer in {program.leaks, None} else f"{word} (wrong)")
        print(f"{program.name}: {' '.join(row[2:])}  {seconds:.0f} s", flush=True)
        rows.append([*row, f"{seconds:.0f} s"])
    print_table("whether a program leaks", ["program", "truth", *right, "whet took"], rows)
    load = os.getloadavg()[0]
    print(
        f"right of {len(rows)}: {', '.join(f'{t} {n}' for t, n in right.items())}; load {load:.1f}"
    )


def _programs(torch: str, *, unseen: bool) -> list[Program]:
    if unseen:
        paths = sorted((SPECIMENS / "unseen").glob("*.py"))
        return [Program(each, each.stem.startswith("grows"), sys.executable) for each in paths]
    found: list[Program] = []
    for folder, leaks in (("growing", True), ("steady", False)):
        for path in sorted((SPECIMENS / folder).glob("*.py")):
            needs = path.stem in NEEDS_TORCH
            if torch or not needs:
                found.append(Program(path, leaks, torch if needs else sys.executable))
    return found


def _by_whet(program: Program) -> bool | None:
    words = ["leak", "--json", "--", program.python, str(program.path)]
    with tempfile.TemporaryDirectory() as state:
        done = subprocess.run(
            [sys.executable, "-m", "whet", *words], capture_output=True, text=True, check=False,
            timeout=SECONDS, env={**os.environ, "XDG_STATE_HOME": state},
        )  # fmt: skip
    if done.returncode:
        return None
    verdict = json.loads(done.stdout)["verdict"]
    return {"leak": True, "none": False, "small": False}.get(verdict)


def _by_calls(program: Program, script: str, python: str) -> bool | None:
    call = CALLS[program.path.stem]
    text = script.format(path=str(program.path), call=call, name=program.path.name)
    done = subprocess.run(
        [python, "-c", text], capture_output=True, text=True, check=False, timeout=SECONDS
    )
    if done.returncode:
        print(done.stderr[-300:], file=sys.stderr)
        return None
    return int(done.stdout.split()[-1]) >= LEAST


if __name__ == "__main__":
    main()
