"""Samples of large files: `whet sample` beside duckdb and pandas, in turn, each in a process of its own.

    python -m benchmarks.small.sample [--gigabytes 5] [--megabytes 300] [--python PEERS] [--file FILE]

First Parquet, then CSV and JSON lines. Each file is made in a temporary folder and removed at the end. The
CPU time stands beside the clock's: on a busy machine it is the one that says something. pandas reads the whole
file, so its address space is limited for the machine's sake.
"""

import argparse
import csv
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.table import print_table
from whet.sampling.arrow_library import parquet, pyarrow

_ROWS_AT_ONCE = 500_000
_ROWS_OF_TEXT = 10_000
_DIFFERENT = 20
_COUNTRIES = ("DE", "FR", "IT", "ES", "PL", "SE")
_MOST_BYTES = 12 << 30
_LAUNCHER = """\
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=2).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""
_WHERE = "amount < -100 and country == 'DE'"
_DUCKDB = "import duckdb, sys; duckdb.sql(sys.argv[3].format(*sys.argv[1:3]))"
_SQL = "COPY (SELECT * FROM {}) TO '{{1}}' (FORMAT {})"
_PANDAS = {
    ".parquet": "t = pandas.read_parquet(sys.argv[1]); {}.to_parquet(sys.argv[2])",
    ".csv": "t = pandas.read_csv(sys.argv[1]); {}.to_csv(sys.argv[2], index=False)",
    ".jsonl": "t = pandas.read_json(sys.argv[1], lines=True);"
    " {}.to_json(sys.argv[2], lines=True, orient='records')",
}
_SIZES = ("id", "customer", "amount", "length(country)", 'length("when"::VARCHAR)', "length(note)")
_ENDS = ", ".join(f"arg_{end}(t, {size})" for size in _SIZES for end in ("min", "max"))
_LENGTHS = "t[c] if t[c].dtype.kind in 'if' else t[c].astype(str).str.len()"
Task: TypeAlias = tuple[tuple[str, ...], str, str]
"""The words for whet, what duckdb selects from, and what pandas takes of its table."""

EACH: Task = (
    ("--each", "country"),
    "'{0}' QUALIFY row_number() OVER (PARTITION BY country) = 1",
    't.drop_duplicates("country")',
)
TEXT_TASKS: Mapping[str, Task] = {
    "one row of each value": EACH,
    "the extremes of each column": (
        ("--extremes",),
        f"(SELECT unnest(r) FROM (SELECT unnest([{_ENDS}]) AS r FROM '{{0}}' t))",
        f"t.loc[sorted({{i for c in t for s in [{_LENGTHS}] for i in (s.idxmin(), s.idxmax())}})]",
    ),
}
TASKS: Mapping[str, Task] = {
    "the first 1000 rows": (("-n", "1000"), "'{0}' LIMIT 1000", "t.head(1000)"),
    "1000 random rows": (
        ("-n", "1000", "--random"),
        "'{0}' USING SAMPLE reservoir(1000 ROWS) REPEATABLE (0)",
        "t.sample(1000, random_state=0)",
    ),
    "rows that match": (
        ("-n", "100000", "--where", _WHERE),
        "'{0}' WHERE amount < -100 AND country = 'DE'",
        "t.query(\"amount < -100 and country == 'DE'\")",
    ),
    "one row of each value": EACH,
}


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=5.0, help="size of the file")
    parser.add_argument("--python", default="", help="a Python with duckdb and pandas")
    parser.add_argument("--file", default="", help="a file that an earlier run has made")
    parser.add_argument("--megabytes", type=float, default=300.0, help="size of the CSV file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(options.file or Path(folder, "t.parquet")).absolute()
        if not options.file:
            _make(path, int(options.gigabytes * 1e9))
        _measure(
            path, parquet().ParquetFile(path).metadata.num_rows, TASKS, Path(folder), options.python
        )
        table, lines = Path(folder, "t.csv"), Path(folder, "t.jsonl")
        rows = _make_text(table, lines, int(options.megabytes * 1e6))
        for text in (table, lines):
            _measure(text, rows, TEXT_TASKS, Path(folder), options.python)


def _measure(path: Path, rows: int, tasks: Mapping[str, Task], folder: Path, peers: str) -> None:
    """Print what each tool takes for each task."""
    size = f"{path.stat().st_size / 1e6:,.0f} MB"
    lines = [
        (name, *line) for name, task in tasks.items() for line in _lines(task, path, folder, peers)
    ]
    header = ("to take", "with", "seconds", "CPU seconds", "peak MB")
    print_table(f"A sample of a {path.suffix} file of {size}, {rows:,} rows", header, lines)


def _make_text(table: Path, lines: Path, size: int) -> int:
    """Write equal rows as CSV, until it is large enough, and as JSON lines; return how many."""
    drawn = random.Random(0)
    names = ("id", "customer", "amount", "country", "when", "note")
    with table.open("w", newline="") as file, lines.open("w") as other:
        writer = csv.writer(file)
        writer.writerow(names)
        rows = 0
        while file.tell() < size:
            for number in range(rows, rows + _ROWS_OF_TEXT):
                note = f'said "{number}", twice' if number % 4 == 0 else f"note {number % 1000}"
                when = f"2024-{1 + number % 12:02}-{1 + number % 28:02}"
                amount = round(drawn.gauss(100, 50), 2)
                row = (
                    number,
                    drawn.randrange(100_000),
                    amount,
                    drawn.choice(_COUNTRIES),
                    when,
                    note,
                )
                writer.writerow(row)
                other.write(f"{json.dumps(dict(zip(names, row, strict=True)))}\n")
            rows += _ROWS_OF_TEXT
    return rows


def _make(path: Path, size: int) -> None:
    """Write rows of six columns until the file is large enough."""
    drawn = random.Random(0)
    batches: list[Any] = [
        pyarrow().table(
            {
                "country": drawn.choices(_COUNTRIES, k=_ROWS_AT_ONCE),
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


def _lines(task: Task, path: Path, folder: Path, peers: str) -> list[tuple[str, ...]]:
    """Return what each tool took for a task."""
    words, sql, expression = task
    whet = str(Path(sys.executable).with_name("whet"))
    out = str(folder / f"out{path.suffix}")
    commands = {"whet": [whet, "sample", str(path), "-o", out, *words]}
    if peers:
        format_ = path.suffix.removeprefix(".").removesuffix("l")
        query = _SQL.format(sql, format_)
        code = _PANDAS[path.suffix].format(expression)
        commands["duckdb"] = [peers, "-c", _DUCKDB, str(path), out, query]
        commands["pandas"] = [peers, "-c", f"import pandas, sys; {code}", str(path), out]
    lines: list[tuple[str, ...]] = []
    for tool, command in commands.items():
        lines.append((tool, *_measured(tool, command)))
        print(" ", *words, *lines[-1], file=sys.stderr, flush=True)
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
