"""What whet says of eleven programs that use an NVIDIA GPU, beside what is known of them.

    python -m benchmarks.measure.gpu [NAME…] [--at-once N] [--kept FOLDER]

The programs are those in `specimens/gpu/programs`. Each row runs one command as a user types it and
looks for what its answer must say. The answers are kept whole, to be read.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.table import print_table

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "specimens" / "gpu" / "programs"
MOST_SECONDS = 200


@dataclass(frozen=True, slots=True)
class Row:
    """A command and what its answer must match.

    Attributes:
        name: of the row.
        words: what follows `whet`.
        patterns: regular expressions; each must match somewhere in what whet prints.
    """

    name: str
    words: str
    patterns: tuple[str, ...]


ROWS = (
    Row(
        "data made by the CPU",
        "profile --gpu -- python3 waits_for_data.py",
        (r"GPU waits for the CPU.*waits_for_data\.py:(9|10)\b",),
    ),
    Row(
        "too many small kernels",
        "profile --gpu -- python3 many_kernels.py",
        ("Too many small kernels", r"many_kernels\.py:8\b"),
    ),
    Row(
        "copies",
        "profile --gpu -- python3 copies.py",
        (r"Copies take \d+", r"copies\.py:9\b"),
    ),
    Row(
        "compiled again",
        "profile --gpu -- python3 compiled_again.py",
        ("compile",),
    ),
    Row(
        "JAX compiled again", "profile --gpu -- python3 jax_grows.py", ("compile", r"jax_grows\.py")
    ),
    Row(
        "blocks of memory",
        "profile --gpu-heap -- python3 fragments.py",
        (r"fragments\.py:7\b", r"fragments\.py:11\b"),
    ),
    Row("leak on the GPU", "leak -- python3 held_losses.py", (r"GPU", r"history")),
    Row("JAX arrays kept", "leak -- python3 jax_grows.py", (r"GPU|kept",)),
    Row(
        "losses with their graphs",
        "investigate --budget 170s --gpu-memory 1500M -- python3 held_losses.py",
        (r"held on the GPU at its peak were allocated at held_losses\.py:12\b",),
    ),
    Row(
        "CUDA in a forked worker",
        "investigate --budget 170s -- python3 forked.py",
        (r"cause.*fork", r"forked\.py:(6|17)\b"),
    ),
    Row(
        "an index too large",
        "investigate --budget 170s -- python3 late_index.py",
        (r"late_index\.py:9\b", "out of bounds|out of range"),
    ),
    Row(
        "float16 overflows",
        "investigate --budget 170s -- python3 overflow.py",
        (r"overflow\.py:(10|11)\b|no-autocast",),
    ),
    Row("the simplest setting", "toggle --simplify -- python3 overflow.py", ("no-autocast",)),
    Row(
        "sections",
        "run --bad-if 'product.gpu_peak_memory > 1G' -- python3 measured.py",
        ("GOOD|good|passes",),
    ),
    Row(
        "panels",
        "watch gpu torch sections -n 0.3s -- python3 waits_for_data.py",
        ("GPU 0", r"torch [\d.]+ MB allocated"),
    ),
    Row("Nsight Systems", "profile --trace cuda -- python3 many_kernels.py", ("nsys|kernel",)),
)


def main() -> None:
    """Run the commands and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the names of rows; all without one")
    parser.add_argument("--at-once", type=int, default=4, help="how many commands at once")
    parser.add_argument("--kept", type=Path, help="a folder for the answers")
    options = parser.parse_args()
    rows = [
        row for row in ROWS if not options.names or any(name in row.name for name in options.names)
    ]
    kept = options.kept or Path(tempfile.mkdtemp(prefix="gpu-answers-"))
    kept.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.at_once) as pool:
        lines = list(pool.map(partial(_line, kept), rows))
    print_table("With a GPU", ("what", "seconds", "exit code", "says it"), lines)
    print(f"The answers are in {kept}.")


def _line(kept: Path, row: Row) -> Sequence[str]:
    place = Path(tempfile.mkdtemp(prefix="gpu-"))
    shutil.copytree(PROGRAMS, place, dirs_exist_ok=True)
    environment = {**os.environ, "XDG_STATE_HOME": str(place / ".state"), "COLUMNS": "120"}
    command = f"exec {sys.executable} -m whet {row.words}"
    answer = kept / f"{row.name.replace(' ', '-')}.txt"
    began = time.monotonic()
    with answer.open("wb") as file:
        file.write(f"$ whet {row.words}\n".encode())
        file.flush()
        child = subprocess.Popen(
            ["timeout", "-s", "INT", "-k", "10", str(MOST_SECONDS), "sh", "-c", command],
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        code = child.wait()
    seconds = time.monotonic() - began
    text = answer.read_text("utf-8", "replace").partition("\n")[2]
    missing = [each for each in row.patterns if not re.search(each, text, re.DOTALL)]
    shutil.rmtree(place, ignore_errors=True)
    return (row.name, f"{seconds:.0f}", str(code), "yes" if not missing else f"not {missing[0]}")


if __name__ == "__main__":
    main()
