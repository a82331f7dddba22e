"""What a disk, a clean room and held calls cost: `whet run OPTIONS -- true` over `whet run -- true`.

    python -m benchmarks.limits.rooms [--pairs N]

Both sides take turns, each a process of its own as a user starts it. The processor's time of both
stands beside the clock's: on a busy machine it is the one that says something. The second table shows a
program that writes 20,000 lines, each by a call of its own, with all of its writes held for a
fault that never comes, beside the same without a fault, and under `strace -f --seccomp-bpf` with
the same fault where strace is installed.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.table import in_turns, print_table

WHET = str(Path(sys.executable).with_name("whet"))
LIMITS_MS = {
    "--disk 1G": 30.0,
    "--disk-free 50M": 30.0,
    "--read-only .": 30.0,
    "--network none": 50.0,
    "--clean": 50.0,
    "--clean --network loopback": 50.0,
    "--fail write:EIO@9": 50.0,
}
_WRITES = "import os\nfor number in range(20000): os.write(1, b'line\\n')\n"


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20, help="how many pairs of runs")
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _print_starts(place, options.pairs)
        _print_held(place, max(3, options.pairs // 4))


def _print_starts(place: Path, pairs: int) -> None:
    rows: list[Sequence[str]] = []
    for words, limit in LIMITS_MS.items():
        sides = in_turns(
            _calls([WHET, "run", "--", "true"], place),
            _calls([WHET, "run", *words.split(), "--", "true"], place),
            times=pairs,
        )
        cost = sides.median_difference * 1e3
        busy = _cpu_milliseconds([WHET, "run", *words.split(), "--", "true"], place, pairs)
        busy -= _cpu_milliseconds([WHET, "run", "--", "true"], place, pairs)
        ratio = f"{cost / limit:.2f}"
        rows.append([f"`{words}`", f"{cost:.1f}", f"{busy:.1f}", f"{limit:.0f}", ratio])
    header = ("what", "ms over the bare trial", "of CPU time", "limit ms", "ratio to the limit")
    print_table(f"Start of a trial, median of {pairs} pairs", header, rows)


def _print_held(place: Path, pairs: int) -> None:
    program = place / "writes.py"
    program.write_text(_WRITES)
    command = [sys.executable, "-S", str(program)]
    fault = "write:EIO@1000000"
    whet = in_turns(
        _calls([WHET, "run", "--", *command], place),
        _calls([WHET, "run", "--fail", fault, "--", *command], place),
        times=pairs,
        warm_up=1,
    )
    rows = [["`--fail`", f"{whet.right_median / whet.left_median:.2f}"]]
    if shutil.which("strace"):
        strace = ["strace", "-f", "-qq", "--seccomp-bpf", "-o", os.devnull, "-e", "trace=write"]
        strace += ["-e", "inject=write:error=EIO:when=60000"]
        peer = in_turns(
            _calls(command, place), _calls([*strace, *command], place), times=pairs, warm_up=1
        )
        rows.append(["`strace`", f"{peer.right_median / peer.left_median:.2f}"])
    header = ("20,000 writes, each held", "time over the same without")
    print_table(f"Calls that are held, median of {pairs} pairs", header, rows)


def _cpu_milliseconds(command: Sequence[str], place: Path, times: int) -> float:
    """Return the median of user and system time of a command and all that it waited for."""
    spent: list[float] = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=place, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent) * 1e3


def _calls(command: Sequence[str], place: Path) -> Callable[[], object]:
    return lambda: subprocess.run(command, cwd=place, check=True, capture_output=True)


if __name__ == "__main__":
    main()
