"""A file of any size takes little memory: the peak of whet's own process is measured."""

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

MOST_BYTES = 200_000_000
_MEASURED = """\
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "whet", "sample", *sys.argv[1:]], check=True, stdout=2)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def peak_bytes(folder: Path, *words: str) -> int:
    """Return the peak of whet's process, started by a small one: a fork begins with its parent's."""
    command = [sys.executable, "-c", _MEASURED, *words]
    return int(subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE).stdout)


def make_csv(path: Path) -> None:
    block = "".join(
        f'{number},"two\nlines of {"words " * 160}",{number * 7 % 1000}\n' for number in range(4000)
    )
    with path.open("w") as file:
        file.write("a,b,c\n")
        for _ in range(80):
            file.write(block)


def make_parquet(path: Path) -> None:
    """Write one row group of nearly a gigabyte of memory."""
    rows = 400_000
    texts = [random.Random(0).randbytes(1000).hex() for _ in range(50)]
    with parquet.ParquetWriter(path, pa.schema([("a", pa.int64()), ("b", pa.string())]), use_dictionary=False) as writer:  # fmt: skip
        table = pa.table({"a": range(rows), "b": [texts[number % 50] for number in range(rows)]})
        writer.write_table(table, row_group_size=rows)


@pytest.fixture(scope="module", params=[make_csv, make_parquet])
def large(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("large") / (
        "t.csv" if request.param is make_csv else "t.parquet"
    )
    request.param(path)
    yield path
    path.unlink()


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [("--random",), ("--extremes",), ("--where", "a == 7 or a < 0", "-n", "50"), ("-n", "5000")],
)
def test_a_large_file_takes_little_memory(large: Path, words: tuple[str, ...]) -> None:
    assert peak_bytes(large.parent, large.name, *words) < MOST_BYTES
