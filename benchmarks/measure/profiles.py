"""What a CPU profile costs, and whether it names the hottest line.

    python -m benchmarks.measure.profiles [--pairs N]

The cost: five programs, each run alone and with py-spy as `whet profile` starts it, in turns. Processor
time is the program's own, from the first line to its last, as the kernel counts it for its process;
wall time is that of the same lines. The command is all of `whet profile --once` beside all of `whet run`:
the start of py-spy and its report are in it.
The hottest line: the same programs with a deterministic count. A trace function notes the processor
time between two line events; each line also pays for its own event, which is measured and taken off.
perf can't name lines of Python 3.11; with Python 3.12 or later (`--perf PYTHON`) its hottest function,
by the interpreter's perf trampoline, is compared too; where that Python was built without frame
pointers, perf skips functions of Python's below native code, or sees none, so that its column
decides nothing.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.table import print_table

WHET = (sys.executable, "-m", "whet")
MOST_OVERHEAD = 1.05
_CPU = 1
"""The column of the ratio that is bounded."""
PROGRAMS: Mapping[str, str] = {
    "numbers": """\
def collatz(number):
    steps = 0
    while number != 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    return steps
def main():
    return max(collatz(number) for number in range(1, 22000))
""",
    "text": """\
import re
def words(text):
    return re.findall(r"(?:[a-z]+-)*[a-z]+", text)
def main():
    text = "one two-three four five-six-seven eight " * 400
    count = 0
    for _ in range(90):
        count += len(words(text))
    return count
""",
    "json": """\
import json
def dumped(rows):
    return json.dumps(rows, indent=1)
def main():
    rows = [{"name": str(n), "value": n, "tags": ["a", "b"]} for n in range(3000)]
    size = 0
    for _ in range(30):
        size += len(dumped(rows))
    return size
""",
    "sorting": """\
import random
def order(values):
    return sorted(values, key=lambda value: (value % 97, value))
def main():
    source = random.Random(1)
    values = [source.random() * 1e6 for _ in range(60000)]
    last = None
    for _ in range(22):
        last = order(values)
    return last[0]
""",
    "recursion": """\
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)
def main():
    return fib(29)
""",
}
_TIMED = """
import os, time
_begun = time.process_time(), time.perf_counter()
main()
_took = time.process_time() - _begun[0], time.perf_counter() - _begun[1]
with open(os.environ["TIME_FILE"], "w") as _file:
    print(*_took, file=_file)
"""
_TRACED = """
import collections, json, os, sys, time
_clock, _own = time.process_time_ns, __file__
_spent, _counts = collections.Counter(), collections.Counter()
_last = [0, 0]
def _look(frame, event, argument):
    if frame.f_code.co_filename != _own:
        return None
    now = _clock()
    if _last[0]:
        _spent[_last[0]] += now - _last[1]
        _counts[_last[0]] += 1
    _last[0] = frame.f_lineno if event != "return" or frame.f_back is None else frame.f_back.f_lineno
    _last[1] = _clock()
    return _look
sys.settrace(_look)
main()
sys.settrace(None)
def _empty():
    _a = 1
    _a = 1
    _a = 1
_before = dict(_spent), dict(_counts)
_spent.clear(); _counts.clear(); _last[0] = 0
sys.settrace(_look)
for _ in range(20000): _empty()
sys.settrace(None)
_cost = min(_spent[line] / _counts[line] for line in _counts)
_lines = {line: _before[0][line] - _cost * _before[1][line] for line in _before[0]}
with open(os.environ["TIME_FILE"], "w") as _file:
    json.dump(_lines, _file)
"""


def main() -> int:
    """Print the tables; 1 if a bound is broken."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--perf", default="", help="a Python 3.12 or later")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        is_cheap = bench.print_costs(arguments.pairs)
        is_right = bench.print_lines(arguments.perf)
    return 0 if is_cheap and is_right else 1


class Bench:
    """Runs the programs in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ, "TIME_FILE": str(folder / "time"), "XDG_STATE_HOME": str(folder / "state"),
        }  # fmt: skip

    def print_costs(self, pairs: int) -> bool:
        """Print what profiling costs; whether that is within the bound."""
        rows: list[list[str]] = []
        ratios: list[float] = []
        for name, source in PROGRAMS.items():
            script = self._script(name, source + _TIMED)
            alone = [*WHET, "run", "--", sys.executable, script]
            with_profile = [*WHET, "profile", "--once", "--", sys.executable, script]
            plain, profiled = self._in_turns(alone, with_profile, pairs)
            shown = [name]
            for before, after in zip(
                zip(*plain, strict=True), zip(*profiled, strict=True), strict=True
            ):
                paired = [b / a for a, b in zip(before, after, strict=True)]
                middles = [f"{statistics.median(each):.2f}" for each in (before, after)]
                shown.append(" ".join([*middles, f"{statistics.median(paired):.3f}"]))
                if len(shown) == _CPU + 1:
                    ratios.append(statistics.median(paired))
            rows.append(shown)
        header = ["program", "CPU", "wall", "command"]
        print_table("seconds alone, seconds profiled, ratio (medians)", header, rows)
        mean = sum(ratios) / len(ratios)
        load, _, _ = os.getloadavg()
        print(f"mean ratio of CPU {mean:.3f}, at most {MOST_OVERHEAD}; load {load:.1f}")
        return mean <= MOST_OVERHEAD

    def print_lines(self, perf: str) -> bool:
        """Print the hottest line that each way names; whether they agree."""
        rows: list[list[str]] = []
        agrees = True
        for name, source in PROGRAMS.items():
            script = self._script(name, f"{source}\nmain()\n")
            told = self._profile([sys.executable, script])
            hottest = max(
                (each for each in told if each["is_own"]), key=lambda each: float(str(each["own"]))
            )
            self._run([sys.executable, self._script(f"{name}_traced", source + _TRACED)])
            counted = json.loads((self.folder / "time").read_text())
            line = int(max(counted, key=lambda each: counted[each]))
            share = counted[str(line)] / sum(counted.values())
            is_same = hottest["line"] == line
            function = self._hottest_function(perf, script) if perf else ""
            agrees = agrees and is_same
            rows.append(
                [
                    name,
                    f"{hottest['line']} {hottest['function']}",
                    f"{line} ({share:.0%})",
                    function or "-",
                    "yes" if is_same else "NO",
                ]
            )
        header = ["program", "whet profile", "trace function", "perf", "same"]
        print_table("the hottest line", header, rows)
        return agrees

    def _in_turns(
        self, one: list[str], other: list[str], pairs: int
    ) -> "tuple[list[tuple[float, ...]], list[tuple[float, ...]]]":
        """Return the times of two commands; who goes first alternates."""
        times: tuple[list[tuple[float, ...]], list[tuple[float, ...]]] = ([], [])
        for number in range(pairs):
            order = ((0, one), (1, other))
            for place, command in order if number % 2 == 0 else reversed(order):
                times[place].append(self._times(command))
        return times

    def _script(self, name: str, source: str) -> str:
        path = self.folder / f"program_{name}.py"
        path.write_text(source)
        return str(path)

    def _run(self, command: list[str]) -> bytes:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, check=True
        )
        return done.stdout

    def _times(self, command: list[str]) -> tuple[float, ...]:
        """Return the processor time, the wall time, and that of the whole command."""
        began = time.perf_counter()
        self._run(command)
        took = time.perf_counter() - began
        return (*map(float, (self.folder / "time").read_text().split()), took)

    def _profile(self, command: list[str]) -> "list[dict[str, object]]":
        told = json.loads(self._run([*WHET, "profile", "--once", "--json", "--", *command]))
        lines: list[dict[str, object]] = told["profiles"][0]["lines"]
        return lines

    def _hottest_function(self, python: str, script: str) -> str:
        data = str(self.folder / "perf.data")
        record = [
            "perf",
            "record",
            "--no-buildid",
            "--no-buildid-cache",
            "-e",
            "cpu-clock",
            "-F",
            "500",
            "--call-graph",
            "dwarf",
            "-o",
            data,
        ]
        self._run([*record, "--", python, "-X", "perf", script])
        read = ["perf", "script", "-i", data, "-F"]
        told = self._run([*read, "ip,sym"]).decode("utf-8", "replace")
        for pid in set(self._run([*read, "pid"]).decode().split()):
            Path("/tmp", f"perf-{pid}.map").unlink(missing_ok=True)  # where Python writes it
        counts: dict[str, int] = {}
        for stack in told.split("\n\n"):
            for line in stack.splitlines():
                name = line.strip().partition(" ")[2]
                if name.startswith("py::") and str(self.folder) in name:
                    function = name.removeprefix("py::").partition(":")[0]
                    counts[function] = counts.get(function, 0) + 1
                    break
        return max(counts, key=lambda each: counts[each], default="")


if __name__ == "__main__":
    sys.exit(main())
