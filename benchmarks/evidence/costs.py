"""What evidence costs: stacks of a tree of processes, variables of a failure, probes.

    python -m benchmarks.evidence.costs [--processes N] [--pairs N]

The tree is N Python processes that wait, and one that started them. `py-spy dump` is called for one
after the other, as a shell loop would; `whet stacks` is one process, started as a user starts it.
Variables are looked at when a program fails 100 calls deep, each frame with a list, a dictionary, an
object and an array; and a program that does not fail is timed with and without.
System calls are followed in a program of 200,000 calls, a fifth of which fail, and in eight starts of
Python with imports; `strace -f` writes all of theirs to a file. Processor time, of all processes
together, says what either takes on a machine that has other work too.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.evidence.probe_costs import print_probes
from benchmarks.table import in_turns, print_table

WHET = Path(sys.executable).with_name("whet")
SITE = Path(__file__).parents[2] / "src" / "whet" / "agent" / "site"
SPY = Path(sys.executable).with_name("py-spy")
MOST_STACKS_SECONDS = 2.0
MOST_FAILURE_MS = 200.0
MOST_CALLS_RATIO = 1.2
_ASKED_FRAMES = 100
_TREE = """\
import os, sys
for number in range({count}):
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "def recv():\\n    import os\\n"
                 "    os.write(1, b'.')\\n    os.read(0, 1)\\nrecv()"])
os.read(0, 1)
"""
_FAILS = """\
try:
    import numpy
    grid = numpy.zeros((256, 256))
except ImportError:
    grid = list(range(1000))
class Settings:
    def __init__(self): self.rate, self.names = 0.1, ["a"] * 20
def f(n, rows):
    table = dict.fromkeys(range(n), "value"); settings = Settings(); own = grid
    return f(n - 1, rows + [n]) if n else rows[len(rows)]
f(98, [])
"""
_WORKS = """\
import json, threading
def f(n):
    return f(n - 1) + 1 if n else 0
for _ in range(40000):
    f(100)
json.dumps(list(range(100000)))
"""

_CALLS = """\
import os, sys
for number in range(40000):
    try:
        os.stat("/nowhere/%d" % number)
    except OSError:
        pass
    file = os.open(sys.argv[0], os.O_RDONLY)
    os.fstat(file)
    os.read(file, 10)
    os.close(file)
"""
_STARTS = """\
import subprocess, sys
for _ in range(8):
    subprocess.run([sys.executable, "-c", "import asyncio, sqlite3, http.client, xml.dom, unittest"])
"""


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=64, help="how many wait")
    parser.add_argument("--pairs", type=int, default=5, help="how many pairs of runs")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WHET_DIR"] = f"{folder}/state"
        place = Path(folder)
        _print_stacks(place, options.processes, options.pairs)
        _print_variables(place, options.pairs)
        _print_calls(place, options.pairs)
        print_probes(place, options.pairs)


def _print_stacks(place: Path, count: int, pairs: int) -> None:
    with _tree(count) as (root, pids):
        one_by_one = _calls([[SPY, "dump", "--json", "--pid", str(pid)] for pid in pids], place)
        once = _calls([[WHET, "stacks", str(root), "--once"]], place)
        twice = _calls([[WHET, "stacks", str(root)]], place)
        sides = in_turns(one_by_one, once, times=pairs)
        both = in_turns(one_by_one, twice, times=pairs)
    ratio = sides.right_median / sides.left_median
    rows = [
        ["`py-spy dump`, one by one", f"{sides.left_median:.2f}", "1.00", ""],
        [
            "`whet stacks --once`",
            f"{sides.right_median:.2f}",
            f"{ratio:.2f}",
            _verdict(sides.right_median, MOST_STACKS_SECONDS),
        ],
        [
            "`whet stacks`, two looks a second apart",
            f"{both.right_median:.2f}",
            f"{both.right_median / both.left_median:.2f}",
            "",
        ],
    ]
    header = ["", "seconds", "ratio", f"at most {MOST_STACKS_SECONDS:g} s"]
    print_table(
        f"The stacks of {count + 1} Python processes, median of {pairs} pairs", header, rows
    )


def _print_variables(place: Path, pairs: int) -> None:
    (place / "fails.py").write_text(_FAILS)
    (place / "works.py").write_text(_WORKS)
    told: list[float] = []
    seen: list[int] = []
    for _ in range(pairs):
        subprocess.run(
            [WHET, "run", "--locals", "--", sys.executable, "fails.py"],
            cwd=place, capture_output=True, check=False,
        )  # fmt: skip
        shown = subprocess.run([WHET, "show", "--json"], cwd=place, capture_output=True, check=True)
        (failure,) = json.loads(shown.stdout)["failures"]
        assert len(failure["error"]["frames"]) == _ASKED_FRAMES
        looked = [frame["variables"] is not None for frame in failure["error"]["frames"]]
        seen.append(sum(looked))
        told.append(failure["seconds"] * 1e3)
    rows = [
        [
            f"at a failure {_ASKED_FRAMES} calls deep, {min(seen)} frames looked at",
            f"{statistics.median(told):.0f} ms",
            _verdict(statistics.median(told), MOST_FAILURE_MS),
        ]
    ]
    (place / "nothing.py").write_text("")
    for name, words in (
        ("nothing.py", "CPU of a start"),
        ("works.py", "CPU of half a second's work"),
    ):
        without = statistics.median(_cpu_seconds(place, name, "0") for _ in range(3 * pairs))
        with_it = statistics.median(_cpu_seconds(place, name, "1") for _ in range(3 * pairs))
        rows.append(
            [words, f"{(with_it - without) * 1e3:+.1f} ms ({with_it / without - 1:+.1%})", ""]
        )
    print_table("`--locals`", ["", "measured", f"at most {MOST_FAILURE_MS:g} ms"], rows)


def _print_calls(place: Path, pairs: int) -> None:
    rows: list[list[str]] = []
    for name, text, words in (
        ("calls.py", _CALLS, "200,000 calls, a fifth of them failing"),
        ("starts.py", _STARTS, "eight starts of Python with imports"),
    ):
        (place / name).write_text(text)
        program = [sys.executable, name]
        strace: list[str | Path] = ["strace", "-f", "-o", str(place / "strace.out"), *program]
        whet: list[str | Path] = [WHET, "syscalls", "--", *program]
        sides = in_turns(_calls([strace], place), _calls([whet], place), times=pairs, warm_up=1)
        theirs = statistics.median(_cpu_of(strace, place) for _ in range(pairs))
        own = statistics.median(_cpu_of(whet, place) for _ in range(pairs))
        for what, left, right in (
            ("seconds", sides.left_median, sides.right_median),
            ("processor seconds", theirs, own),
        ):
            ratio = right / left
            shown = [
                f"{left:.2f}",
                f"{right:.2f}",
                f"{ratio:.2f}",
                _verdict(ratio, MOST_CALLS_RATIO),
            ]
            rows.append([f"{words}, {what}", *shown])
    header = ["", "`strace -f`", "`whet syscalls`", "ratio", f"at most {MOST_CALLS_RATIO:g}"]
    print_table(f"System calls, median of {pairs} pairs", header, rows)


def _cpu_of(
    command: list[str | Path], place: Path, environment: dict[str, str] | None = None
) -> float:
    """Return the processor time of a command and of all that came of it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=place, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _cpu_seconds(place: Path, name: str, keeps_locals: str) -> float:
    """Return the processor time of a program that has the agent in it."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(SITE),
        "WHET_AGENT": str(place),
        "WHET_PYCACHE": str(place / "pycache"),
        "WHET_LOCALS": keeps_locals,
    }
    return _cpu_of([sys.executable, name], place, environment)


@contextmanager
def _tree(count: int) -> Generator[tuple[int, list[int]]]:
    """Run a process with ``count`` children that wait; yield its number and all numbers."""
    root = subprocess.Popen(
        [sys.executable, "-c", _TREE.format(count=count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with root:
        assert root.stdout is not None
        for _ in range(count):
            root.stdout.read(1)
        children = Path(f"/proc/{root.pid}/task/{root.pid}/children").read_text().split()
        try:
            yield root.pid, [root.pid, *map(int, children)]
        finally:
            root.communicate()  # the end of their standard input ends them all


def _calls(commands: list[list[str | Path]], place: Path) -> Callable[[], None]:
    def call() -> None:
        for command in commands:
            subprocess.run(command, cwd=place, capture_output=True, check=True)

    return call


def _verdict(value: float, limit: float) -> str:
    return "met" if value <= limit else "missed"


if __name__ == "__main__":
    main()
