"""Samples of a Parquet file: `whet sample` beside duckdb and pandas, in turn, each in a process of its own.

    python -m benchmarks.small.sample [--gigabytes 5] [--python PEERS] [--file FILE]

The file is made in a temporary folder and removed at the end. The CPU time stands beside the clock's: on a
busy machine it is the one that says something. pandas reads the whole file, so its address space is limited
for the machine's sake.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.table import print_table
from whet.sampling.arrow_library import parquet, pyarrow

_ROWS_AT_ONCE = 500_000
_DIFFERENT = 20
_MOST_BYTES = 12 << 30
_LAUNCHER = """\
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=2).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""
_WHERE = "amount < -100 and country == 'DE'"
_DUCKDB = "import duckdb, sys; duckdb.sql(sys.argv[3].format(*sys.argv[1:3]))"
_PANDAS = "import pandas, sys; t = pandas.read_parquet(sys.argv[1]); {}.to_parquet(sys.argv[2])"
_SQL = "COPY (SELECT * FROM '{{0}}' {}) TO '{{1}}' (FORMAT parquet)"
TASKS = {
    "the first 1000 rows": (("-n", "1000"), "LIMIT 1000", "t.head(1000)"),
    "1000 random rows": (
        ("-n", "1000", "--random"),
        "USING SAMPLE reservoir(1000 ROWS) REPEATABLE (0)",
        "t.sample(1000, random_state=0)",
    ),
    "rows that match": (
        ("-n", "100000", "--where", _WHERE),
        "WHERE amount < -100 AND country = 'DE'",
        "t.query(\"amount < -100 and country == 'DE'\")",
    ),
    "one row of each value": (
        ("--each", "country"),
        "QUALIFY row_number() OVER (PARTITION BY country) = 1",
        't.drop_duplicates("country")',
    ),
}


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=5.0, help="size of the file")
    parser.add_argument("--python", default="", help="a Python with duckdb and pandas")
    parser.add_argument("--file", default="", help="a file that an earlier run has made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(options.file or Path(folder, "t.parquet")).absolute()
        if not options.file:
            _make(path, int(options.gigabytes * 1e9))
        rows: int = parquet().ParquetFile(path).metadata.num_rows
        title = f"A sample of a Parquet file of {path.stat().st_size / 1e9:.1f} GB, {rows:,} rows"
        lines = [
            line for task in TASKS for line in _lines(task, path, Path(folder), options.python)
        ]
        print_table(title, ("to take", "with", "seconds", "CPU seconds", "peak MB"), lines)


def _make(path: Path, size: int) -> None:
    """Write rows of six columns until the file is large enough."""
    drawn = random.Random(0)
    countries = ["DE", "FR", "IT", "ES", "PL", "SE"]
    batches: list[Any] = [
        pyarrow().table(
            {
                "country": drawn.choices(countries, k=_ROWS_AT_ONCE),
                "amount": [drawn.gauss(50, 40) for _ in range(_ROWS_AT_ONCE)],
                "x": [drawn.random() for _ in range(_ROWS_AT_ONCE)],
                "y": [drawn.random() for _ in range(_ROWS_AT_ONCE)],
                "text": [str(drawn.getrandbits(62)) for _ in range(_ROWS_AT_ONCE)],
            }
        )
        for _ in range(_DIFFERENT)
    ]
    number = 0
    writer: Any = None
    while not path.exists() or path.stat().st_size < size:
        first = number * _ROWS_AT_ONCE
        ids = pyarrow().array(range(first, first + _ROWS_AT_ONCE))
        table = batches[number % _DIFFERENT].add_column(0, "id", ids)
        writer = writer or parquet().ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=_ROWS_AT_ONCE)
        number += 1
    writer.close()


def _lines(task: str, path: Path, folder: Path, peers: str) -> list[tuple[str, ...]]:
    """Return what each tool took for a task."""
    words, sql, expression = TASKS[task]
    whet = str(Path(sys.executable).with_name("whet"))
    out = str(folder / "out.parquet")
    commands = {"whet": [whet, "sample", str(path), "-o", out, *words]}
    if peers:
        query = _SQL.format(sql)
        commands["duckdb"] = [peers, "-c", _DUCKDB, str(path), out, query]
        commands["pandas"] = [peers, "-c", _PANDAS.format(expression), str(path), out]
    lines: list[tuple[str, ...]] = []
    for tool, command in commands.items():
        lines.append((task, tool, *_measured(tool, command)))
        print(" ", *lines[-1], file=sys.stderr, flush=True)
    return lines


def _measured(tool: str, command: Sequence[str]) -> tuple[str, ...]:
    """Run a tool; its launcher is small, so that the peak is its own."""

    def limit() -> None:
        if tool == "pandas":
            resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))

    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *command],
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        preexec_fn=limit,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    seconds = time.monotonic() - began
    code, used, peak = done.stdout.split()
    if int(code):
        return (f"out of memory after {seconds:.1f}", "", f"> {_MOST_BYTES / 1e6:,.0f}")
    return (f"{seconds:.1f}", f"{float(used):.1f}", f"{float(peak) / 1e6:,.0f}")


if __name__ == "__main__":
    main()
