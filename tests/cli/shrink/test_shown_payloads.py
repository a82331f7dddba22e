"""What no person reads as bytes is shown as what it holds."""

import sys
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from whet_command import Whet

ARRAY = """import sys, numpy
if numpy.isnan(numpy.load(sys.argv[1])).any(): raise ValueError('not a number')
"""
TABLE = """import sys, pyarrow.parquet
found = pyarrow.parquet.read_table(sys.argv[1]).column('id').to_pylist()
if len(set(found)) < len(found): raise ValueError('twice the same')
"""


@pytest.mark.slow
def test_an_array_is_shown_at_the_end(whet: Whet) -> None:
    array = np.ones((40, 30))
    array[31, 7] = np.nan
    np.save(whet.folder / "x.npy", array)
    whet.write("p.py", ARRAY)

    said = whet("shrink", "x.npy", "--", sys.executable, "p.py", "x.npy")

    assert said.code == 0
    assert said.stdout.endswith("\n    float64 ()\n    nan\n")
    assert np.isnan(np.load(whet.folder / "x.shrunk.npy"))


@pytest.mark.long
def test_a_table_is_shown_at_the_end(whet: Whet) -> None:
    columns: dict[str, Any] = {"id": [*range(50), 17], "name": ["x"] * 51}
    path = whet.folder / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    whet.write("p.py", TABLE)

    said = whet("shrink", "t.parquet", "--", sys.executable, "p.py", "t.parquet")

    assert said.code == 0
    assert said.stdout.endswith("\n    id: int64\n    0\n    0\n")


@pytest.mark.long
def test_the_table_of_passes_tells_what_made_the_file_larger(whet: Whet) -> None:
    columns: dict[str, Any] = {"id": [*range(50), 17], "name": ["x" * 90] * 51}
    path = whet.folder / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path, compression="zstd")
    whet.write("p.py", TABLE)

    said = whet("shrink", "t.parquet", "--", sys.executable, "p.py", "t.parquet")

    assert said.code == 0, said.stderr
    head, *rows = said.stdout.partition("  pass ")[2].splitlines()
    assert head.split() == ["tried", "fail", "size"]
    assert any("store plainly" in row and "  +" in row for row in rows)
    assert any("delete rows and columns" in row and "  -" in row for row in rows)
