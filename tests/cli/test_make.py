"""`whet make`: files from nothing, the same each time; and what a value says later."""

import json
import os
import resource
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from whet_command import Whet

from whet.notebook.notebook import Notebook

ENDINGS = [".npy", ".npz", ".pt", ".safetensors"]


def test_two_rows_of_two_numbers(whet: Whet) -> None:
    numpy = pytest.importorskip("numpy")

    said = whet("make", "array", "--shape", "2,2", "--fill", "count", "-o", "a.npy")

    assert said.code == 0
    assert numpy.load(whet.folder / "a.npy").tolist() == [[1, 2], [3, 4]]
    assert said.stderr == "whet: a.npy: float32 (2, 2), count, 144 B\n"


def test_without_a_file_it_is_printed(whet: Whet) -> None:
    said = whet("make", "tensor", "--dtype", "bf16")

    assert said.stdout == "[[1, 2], [3, 4]]\n"
    assert said.stderr == "whet: bfloat16 (2, 2), count\n"


def test_much_is_printed_small(whet: Whet) -> None:
    said = whet("make", "array", "--shape", "1000,1000")
    assert said.stdout == "[1, 2, 3, 4, 5, 6, 7, 8, … 999,992 more]\n"


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_options_give_the_same_bytes(whet: Whet, ending: str) -> None:
    for name in ("a", "b"):
        whet("make", "array", "--fill", "normal", "--seed", "3", "-o", name + ending)

    first = (whet.folder / f"a{ending}").read_bytes()
    assert first == (whet.folder / f"b{ending}").read_bytes()
    assert whet("make", "array", "--fill", "normal", "-o", f"c{ending}").code == 0
    assert first != (whet.folder / f"c{ending}").read_bytes()


def test_what_was_made_is_told_as_json(whet: Whet) -> None:
    facts = json.loads(whet("make", "array", "-o", "a.npy", "--json").stdout)

    assert facts["shape"] == [2, 2]
    assert facts["bytes"] == (whet.folder / "a.npy").stat().st_size
    assert facts["file"] == str(whet.folder / "a.npy")


def test_a_coordinate_leads_to_its_element_and_to_the_trials(whet: Whet) -> None:
    made = [
        "make",
        "array",
        "--shape",
        "4,20",
        "--dtype",
        "int64",
        "--fill",
        "coordinates",
        "-o",
        "x.npy",
    ]
    whet(*made)
    whet("run", "--", sys.executable, "-c", "pass", "x.npy")

    line = whet("make", "--explain", "3017").stdout

    assert line.startswith("element [3, 17] of `x.npy` (int64 (4, 20)), made on ")
    again = "whet make array --shape 4,20 --dtype int64 --fill coordinates -o x.npy"
    assert f"by `{again}`; trial 1 named it" in line


def test_the_line_that_made_a_payload_makes_it_again(whet: Whet) -> None:
    words = ["--shape", "3,3", "--fill", "nan", "--at", "1,2", "--name", "two words", "--seed", "5"]
    whet("make", "array", *words, "-o", "an array.npz")
    path = whet.folder / "an array.npz"
    before = path.read_bytes()
    path.unlink()

    with Notebook.open(whet.state) as notebook:
        (row,) = notebook.made()
    _, *line = shlex.split(str(row["command"]))
    whet(*line)

    assert path.read_bytes() == before


def test_a_value_that_several_payloads_hold_leads_to_all(whet: Whet) -> None:
    for name, shape in (("x.npy", "4,20"), ("y.npy", "9,9,9"), ("z.npy", "2,2")):
        whet("make", "array", "--shape", shape, "--dtype", "int64", "--fill", "coordinates",
             "-o", name)  # fmt: skip

    lines = whet("make", "--explain", "3007.0").stdout.splitlines()

    assert [line.split(" (")[0] for line in lines] == [
        "element [0, 3, 7] of `y.npy`",
        "element [3, 7] of `x.npy`",
    ]


def test_a_coordinate_leads_to_the_trial_whose_program_made_it(whet: Whet) -> None:
    whet.write(
        "app.py",
        """
        import whet

        x = whet.make.array((4, 20), "coordinates", dtype="int64", library="list", name="x")
        whet.make.array((4, 20), library="list", name="counted")
        whet.make.table("id,price", 4, "coordinates", library="dict", name="orders")
        print(x[3][17])
    """.replace("        ", ""),
    )
    whet("run", "--", sys.executable, "app.py")

    assert whet("make", "--explain", "3017").stdout == (
        "element [3, 17] of `x` (int64 (4, 20)), made by trial 1\n"
    )
    assert "row 3, column `price` of `orders` (table of 4 rows), made by trial 1" in (
        whet("make", "--explain", "3001").stdout
    )


@pytest.mark.parametrize(
    "report", ["[1]", "{", "\xff", '{"fill": "coordinates", "shape": 7}', "{}"]
)
def test_a_report_that_whet_did_not_write_is_no_origin(whet: Whet, report: str) -> None:
    code = f"import os; open(os.environ['WHET_AGENT'] + '/1.made', 'w').write({report!r})"
    said = whet("run", "--", sys.executable, "-c", code)

    assert "GOOD exit 0" in said.stderr
    for value in ("3", "nan", "-inf", "1e400"):
        said = whet("make", "--explain", value)
        assert (said.code, said.stderr) == (0, ""), said.stderr
        assert "no array that whet made here" in said.stdout


def test_a_value_that_nothing_holds_leads_to_the_next_step(whet: Whet) -> None:
    said = whet("make", "--explain", "3017")

    assert "no array that whet made here has such an element" in said.stdout
    assert "it would be element [3, 17]" in said.stdout.replace("3017 would be", "it would be")
    assert "--fill coordinates -o x.npy" in said.stdout


def test_a_guard_is_known_and_leads_to_the_payloads_that_have_some(whet: Whet) -> None:
    whet("make", "array", "--fill", "deadbeef", "--shape", "3,8", "-o", "guarded.npy")
    whet("make", "array", "-o", "plain.npy")

    for value in ("0xdeadbeef", "-6.2599e+18"):
        lines = whet("make", "--explain", value).stdout.splitlines()
        assert "a guard (0xdeadbeef" in lines[0]
        assert lines[1].startswith("perhaps of `guarded.npy`")
        assert len(lines) == 2


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["arry"], "`arry` is not a kind of payload", "`array`"),
        (["array", "--dtype", "flot32"], "`flot32` is not a dtype", "`float32`"),
        (["array", "--fill", "cuont"], "`cuont` is not a fill", "`count`"),
        (["array", "--shape", "2;2"], "`--shape 2;2` isn't a list", "--shape 2,2"),
        (["array", "--value", "two"], "`--value two` isn't a number", "nan"),
        (["array", "-o", "a.np"], "`.np` is not a file of arrays", "`.npy`"),
        (["array", "-o", "no/a.npy"], "is not a folder", "mkdir -p"),
        (["array", "--dtype", "bf16", "-o", "a.npy"], "no place for bfloat16", ".safetensors"),
        (["array", "--shape", "1000000,1000000"], "takes 4.0 TB", "make it smaller"),
        ([], "which kind of payload?", "array"),
    ],
)
def test_what_can_not_be_made_is_said_with_the_next_step(
    whet: Whet, words: list[str], message: str, hint: str
) -> None:
    said = whet("make", *words)

    assert said.code in {64, 66, 69}
    assert message in said.stderr
    assert hint in said.stderr.split("hint:")[1]
    assert list(whet.folder.iterdir()) == []


def test_a_full_disk_leaves_no_part_of_a_file(whet: Whet) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "whet", "make", "array", "--shape", "500,500", "-o", "a.npy"],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 73 or "no space left" in done.stderr
    assert list(whet.folder.iterdir()) == []


@pytest.mark.slow
def test_ctrl_c_leaves_no_part_of_a_file(whet: Whet) -> None:
    words = ["make", "array", "--shape", "10000,10000", "--fill", "normal", "-o", "a.npy"]
    running = subprocess.Popen(
        [sys.executable, "-m", "whet", *words],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    while running.poll() is None and _seconds_used(running.pid) < 0.6:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)

    assert running.returncode == 130, errors
    assert list(whet.folder.iterdir()) == []


def _seconds_used(pid: int) -> float:
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11]
    return int(ticks) / os.sysconf("SC_CLK_TCK")


def test_a_table_is_printed_as_csv(whet: Whet) -> None:
    said = whet("make", "table", "--columns", "id,name:str?", "--rows", "3")

    assert said.stdout == "id,name\n1,name1\n3,name2\n5,\n"
    assert said.stderr == "whet: 3 rows of id:int64, name:str?, count\n"


def test_a_long_table_is_printed_small(whet: Whet) -> None:
    lines = whet("make", "table", "--rows", "5000").stdout.splitlines()

    assert len(lines) == 22
    assert lines[-1] == "… 4,980 more rows"


@pytest.mark.long
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".feather"])
def test_a_table_has_the_columns_of_a_real_file(whet: Whet, ending: str) -> None:
    if ending in {".parquet", ".feather"}:
        pytest.importorskip("pyarrow")
    whet("make", "table", "--columns", "id,x:float64,day:date", "--rows", "50", "--fill", "random",
         "-o", f"real{ending}")  # fmt: skip

    said = whet("make", "table", "--like", f"real{ending}")

    assert said.stdout == "id,x,day\n1,2.0,2024-01-01\n4,5.0,2024-01-02\n"


def test_a_coordinate_of_a_table_names_its_column(whet: Whet) -> None:
    whet("make", "table", "--columns", "id,price", "--rows", "4", "--fill", "coordinates",
         "-o", "orders.csv")  # fmt: skip

    assert whet("make", "--explain", "3001").stdout.startswith(
        "row 3, column `price` of `orders.csv`"
    )


def test_a_database_holds_the_table(whet: Whet) -> None:
    whet("make", "sqlite", "--columns", "id,name:str", "--name", "people", "-o", "a.db")

    with closing(sqlite3.connect(whet.folder / "a.db")) as connection:
        assert connection.execute("SELECT * FROM people").fetchall() == [(1, "name1"), (3, "name2")]
    assert 'INSERT INTO "x" VALUES(1,2);' in whet("make", "sqlite").stdout
