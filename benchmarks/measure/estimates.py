"""`whet expect --estimate` on six torch programs: is the bound below the time, and the memory right?

    python -m benchmarks.measure.estimates [PYTHON]

Each row is one step of a program in `specimens/steps`: the least time that whet says before it runs, the
shortest of many real runs, and the most bytes that the step's tensors held, estimated and real.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.table import print_table

STEPS = Path(__file__).parents[2] / "specimens" / "steps"
MEMORY_WITHIN = 0.15


def estimated(program: Path, python: str) -> dict[str, Any]:
    """Return what whet says of a program's step, before and after it has run."""
    words = ["--estimate", f"{program}:step", "--timed", "--json", "--python", python]
    done = subprocess.run(
        [sys.executable, "-m", "whet", "expect", *words], capture_output=True, check=True
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def main() -> int:
    """Print the table; exit with 1 if a bound is above its time, or a memory is wrong."""
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    rows: list[tuple[str, ...]] = []
    wrong: list[str] = []
    for program in sorted(STEPS.glob("*.py")):
        told = estimated(program, python)
        least, seconds = told["least_seconds"], told["seconds"]
        peak, held = told["memory"]["peak"], told["held_bytes"]
        off = peak / held - 1
        rows.append(
            (
                program.stem, f"{least * 1000:.2f}", f"{seconds * 1000:.2f}", f"{least / seconds:.0%}",
                f"{peak / 1e6:.1f}", f"{held / 1e6:.1f}", f"{off:+.1%}",
            )
        )  # fmt: skip
        if least > seconds or abs(off) > MEMORY_WITHIN:
            wrong.append(program.stem)
        print(f"… {program.stem}", file=sys.stderr, flush=True)
    head = ("step", "at least, ms", "took, ms", "share", "memory, MB", "held, MB", "off by")
    load = f"{os.getloadavg()[0]:.1f}"
    print_table(f"Estimates; load {load} on {os.cpu_count()} processors", head, rows)
    if wrong:
        print(f"wrong: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
