"""The exponents that `whet grow` finds for programs of known cost.

python -m benchmarks.small.growth
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.table import print_table

_NEAR = 0.1


@dataclass(frozen=True, slots=True)
class Program:
    """A program of known cost.

    Attributes:
        name: what its cost is like.
        cost: the cost that is known: `cpu`, `time` or `memory`.
        most: the largest number.
        exponent: of n.
        text: it.
    """

    name: str
    cost: str
    most: int
    exponent: float
    text: str


PROGRAMS = (
    Program(name="1", cost="cpu", most=4096, exponent=0, text="total = sum(range(3_000_000))"),
    Program(
        name="n log n",
        cost="cpu",
        most=262_144,
        exponent=1,
        text="""
def merged(items):
    if len(items) < 2:
        return items
    half = len(items) // 2
    left, right = merged(items[:half]), merged(items[half:])
    made = []
    while left and right:
        made.append(left.pop() if left[-1] > right[-1] else right.pop())
    made.reverse()
    return left + right + made

merged([number * 7919 % 1_000_003 for number in range(n)])
""",
    ),
    Program(
        name="n²",
        cost="cpu",
        most=8192,
        exponent=2,
        text="same = sum(1 for a in range(n) for b in range(n) if a == b)",
    ),
    Program(
        name="memory n",
        cost="memory",
        most=8192,
        exponent=1,
        text="held = [bytes([k % 255 + 1]) * 32_768 for k in range(n)]",
    ),
)


def main() -> None:
    """Measure and print the table."""
    rows = [_row(program) for program in PROGRAMS]
    header = ("program", "numbers", "law", "exponent", "its range", "off", "trials", "seconds")
    print_table("exponents that `whet grow` finds", header, rows)
    sys.exit(any(abs(float(row[5])) > _NEAR for row in rows))


def _row(program: Program) -> tuple[str, ...]:
    answer = _grown(program)
    law = answer["laws"][program.cost]
    exponent = law["exponent"]
    others = "".join(f" or {shape}" for shape in law["or"])
    return (
        program.name,
        f"1 to {program.most:,}",
        f"{law['shape']}{others}",
        f"{exponent['best']:.2f}",
        f"{exponent['low']:.2f} to {exponent['high']:.2f}",
        f"{exponent['best'] - program.exponent:+.2f}",
        str(answer["trials"]),
        f"{answer['wall_seconds']:.0f}",
    )


def _grown(program: Program) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "main.py")
        file.write_text(f"import sys\nn = int(sys.argv[1])\n{program.text}\n")
        words = ("grow", "--json", "--dimension", f"n=1..{program.most}")
        done = subprocess.run(
            [sys.executable, "-m", "whet", *words, "--", sys.executable, str(file), "{n}"],
            cwd=folder,
            capture_output=True,
            check=True,
        )
    (answer,) = json.loads(done.stdout)["dimensions"]
    return answer


if __name__ == "__main__":
    main()
