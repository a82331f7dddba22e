"""A file of any size takes little memory: the peak of whet's own process is measured."""

import io
import random
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
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


def make_json_lines(path: Path) -> None:
    block = "".join(
        f'{{"a": {number}, "b": "{"words " * 160}", "c": {number * 7 % 1000}}}\n'
        for number in range(4000)
    )
    with path.open("w") as file:
        for _ in range(80):
            file.write(block)


def make_arrow(path: Path) -> None:
    words = "words " * 160
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
    with pa.ipc.new_file(str(path), schema) as writer:
        for begin in range(0, 320_000, 4000):
            numbers = range(begin, begin + 4000)
            texts = [f"{number}{words}" for number in numbers]
            writer.write_table(pa.table({"a": numbers, "b": texts}, schema))


def make_database(path: Path) -> None:
    words = "words " * 160
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
        rows = ((number, f"{number}{words}") for number in range(320_000))
        database.executemany("INSERT INTO t VALUES (?, ?)", rows)


def make_tar(path: Path) -> None:
    """Write samples of a WebDataset."""
    content = random.Random(0).randbytes(6000)
    with tarfile.open(path, "w") as archive:
        for number in range(30_000):
            for suffix in ("jpg", "cls"):
                member = tarfile.TarInfo(f"{number:06}.{suffix}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))


MAKERS: dict[str, Callable[[Path], None]] = {
    "t.csv": make_csv,
    "t.parquet": make_parquet,
    "t.jsonl": make_json_lines,
    "t.arrow": make_arrow,
    "t.db": make_database,
    "t.tar": make_tar,
}
CONDITIONS = {"t.tar": "bytes < 0 or key == '000007'"}


@pytest.fixture(scope="module", params=MAKERS)
def large(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("large") / request.param
    MAKERS[request.param](path)
    yield path
    path.unlink()


@pytest.mark.long
@pytest.mark.parametrize(
    "words", [("--random",), ("--extremes",), ("--where", "", "-n", "50"), ("-n", "5000")]
)
def test_a_large_file_takes_little_memory(large: Path, words: tuple[str, ...]) -> None:
    condition = CONDITIONS.get(large.name, "a == 7 or a < 0")
    asked = [word or condition for word in words]
    assert peak_bytes(large.parent, large.name, *asked) < MOST_BYTES
