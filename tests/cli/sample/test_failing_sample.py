"""`whet sample FILE -- COMMAND`: a small sample on which the command fails as on the whole data."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from whet_command import Whet

from whet.core.errors import BadUsage, BaselineDoesNotFail, CopyFailsOtherwise

PYTHON = sys.executable
READ = "import csv, sys\nrows = list(csv.DictReader(open(sys.argv[1])))\n"
NEGATIVE = READ + "for row in rows: assert int(row['b']) >= 0, 'negative'\n"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def fails_at(whet: Whet, *numbers: int) -> None:
    lines = ["a,b", *(f"{number},{-1 if number in numbers else 1}" for number in range(200))]
    whet.write("t.csv", "\n".join(lines) + "\n")
    whet.write("p.py", NEGATIVE)


@pytest.mark.parametrize("words", [(), ("--seed", "3"), ("-n", "150"), ("-n", "1")])
def test_one_row_is_found_among_many(whet: Whet, words: tuple[str, ...]) -> None:
    fails_at(whet, 137)

    said = whet("sample", "t.csv", *words, "--", PYTHON, "p.py", "t.csv")

    assert said.code == 0, said.stderr
    assert (whet.folder / "t.sample.csv").read_text() == "a,b\n137,-1\n"
    assert "1 of 200 rows: " in said.stdout
    assert "the command fails in the same way: AssertionError: negative" in said.stdout
    line = next(line for line in said.stdout.splitlines() if line.startswith("cd "))
    again = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert "AssertionError: negative" in again.stderr


@pytest.mark.long
def test_rows_that_fail_together_stay_with_those_between(whet: Whet) -> None:
    whet.write("t.csv", "a,b\n" + "".join(f"{number % 40 if number == 60 else number},0\n" for number in range(100)))  # fmt: skip
    whet.write("p.py", READ + "assert len({row['a'] for row in rows}) == len(rows), 'twice'\n")

    said = whet("sample", "t.csv", "--json", "--", PYTHON, "p.py", "{}")

    assert said.code == 0, said.stderr
    names = [row["a"] for row in rows_of(whet.folder / "t.sample.csv")]
    assert (names[0], names[-1], len(names)) == ("20", "20", 41)
    answer = json.loads(said.stdout)
    assert answer["failure"] == "AssertionError: twice"
    assert answer["files"][0]["taken"][0]["rows"] == 41
    assert answer["line"].endswith("p.py t.sample.csv < /dev/null")
    again = whet("sample", "t.csv", "-o", "other.csv", "--", PYTHON, "p.py", "{}").stdout
    assert (
        "no shorter run of rows fails the same way; `whet shrink` removes rows in between" in again
    )


@pytest.mark.long
def test_parquet_and_the_rows_that_have_to_be_there(whet: Whet) -> None:
    table = pa.table({"kind": [f"k{number % 3}" for number in range(300)], "n": range(300)})
    parquet.write_table(table, whet.folder / "t.parquet", row_group_size=50)
    whet.write(
        "p.py",
        "import sys, pyarrow.parquet as p\n"
        "rows = p.read_table(sys.argv[1]).to_pylist()\n"
        "assert not (any(r['kind'] == 'k1' for r in rows) and any(r['n'] == 250 for r in rows))\n",
    )

    said = whet("sample", "t.parquet", "--each", "kind", "--", PYTHON, "p.py", "t.parquet")

    assert said.code == 0, said.stderr
    sample = parquet.read_table(whet.folder / "t.sample.parquet")
    assert sample.column("n").to_pylist() == [0, 1, 2, 250]
    assert sample.schema.equals(table.schema)


@pytest.mark.long
def test_related_files_are_searched_together(whet: Whet) -> None:
    whet.write("orders.csv", "id,customer\n" + "".join(f"{n},{n % 9}\n" for n in range(80)))
    whet.write("customers.csv", "id,name\n" + "".join(f"{n},{'?' if n == 7 else 'x'}\n" for n in range(9)))  # fmt: skip
    whet.write(
        "p.py",
        "import csv, sys\n"
        "orders, customers = (list(csv.DictReader(open(f))) for f in sys.argv[1:])\n"
        "names = {row['id']: row['name'] for row in customers}\n"
        "for order in orders: assert names[order['customer']].isalpha(), 'no name'\n",
    )
    keys = ("--keys", "orders.customer=customers.id")

    said = whet("sample", "orders.csv", "customers.csv", *keys, "--", PYTHON, "p.py", "orders.csv", "customers.csv")  # fmt: skip

    assert said.code == 0, said.stderr
    assert (whet.folder / "orders.sample.csv").read_text() == "id,customer\n7,7\n"
    assert (whet.folder / "customers.sample.csv").read_text() == "id,name\n7,?\n"


def test_a_folder_of_files(whet: Whet) -> None:
    for number in range(30):
        whet.write(f"img/{number:02}.txt", "broken" if number == 17 else "fine")
    whet.write("p.py", "import pathlib, sys\nassert not [p for p in pathlib.Path(sys.argv[1]).rglob('*.txt') if p.read_text() == 'broken']\n")  # fmt: skip

    said = whet("sample", "img", "--", PYTHON, "p.py", "img")

    assert said.code == 0, said.stderr
    assert [path.name for path in (whet.folder / "img.sample").iterdir()] == ["17.txt"]


@pytest.mark.long
def test_an_answer_is_remembered(whet: Whet) -> None:
    fails_at(whet, 50)
    whet("sample", "t.csv", "--", PYTHON, "p.py", "t.csv")

    said = whet("sample", "t.csv", "--json", "--", PYTHON, "p.py", "t.csv")

    assert json.loads(said.stdout)["trials"] <= 2
    assert (whet.folder / "t.sample.csv").read_text() == "a,b\n50,-1\n"


@pytest.mark.parametrize(
    ("words", "command", "error", "message"),
    [
        ((), ("-c", "pass", "t.csv"), BaselineDoesNotFail, ""),
        (("--where", "a < 100"), ("p.py", "t.csv"), CopyFailsOtherwise, "all 100 rows that match `a < 100`"),
        (("--stdin", "t.csv"), ("p.py",), BadUsage, "let a shell read it"),
    ],
)  # fmt: skip
def test_what_cannot_be_found_is_said(
    whet: Whet,
    words: tuple[str, ...],
    command: tuple[str, ...],
    error: type[BadUsage],
    message: str,
) -> None:
    fails_at(whet, 137)

    said = whet("sample", "t.csv", *words, "--", PYTHON, *command)

    assert said.code == error.exit_code, said.stderr
    assert message in said.stderr
    assert not (whet.folder / "t.sample.csv").exists()


def test_ctrl_c_keeps_what_was_found(whet: Whet) -> None:
    fails_at(whet, 3)
    wait = "if len(rows) < 50: open('now', 'w').close(); __import__('time').sleep(60)\n"
    whet.write("p.py", READ + wait + NEGATIVE.partition("\n")[2])
    running = subprocess.Popen(
        [PYTHON, "-m", "whet", "sample", "t.csv", "--", PYTHON, "p.py", "t.csv"],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    gives_up_at = time.monotonic() + 60
    while not (whet.folder / "now").exists() and time.monotonic() < gives_up_at:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    answer, said = running.communicate(timeout=60)

    assert running.returncode == 75, said
    assert len(rows_of(whet.folder / "t.sample.csv")) in range(50, 101)
    assert "stopped by Ctrl-C" in answer
    assert {path.name for path in whet.folder.iterdir()} == {"t.csv", "p.py", "now", "t.sample.csv"}
    assert list(Path(whet.environment["TMPDIR"]).iterdir()) == []
