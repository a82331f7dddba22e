"""`whet sample`: what it writes and says, what it refuses, and that nothing is left behind."""

import bz2
import csv
import gzip
import json
import lzma
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from whet_command import Said, Whet

from whet.core.errors import (
    BadRowCondition,
    BadUsage,
    CannotSample,
    ColumnMissing,
    DiskFull,
    KeysDoNotJoin,
    PayloadMissing,
    SampleEmpty,
    SampleTooSmall,
)

ORDERS = "id,customer,country,amount\n" + "".join(
    f"{number},{number % 7},{('DE', 'FR', 'IT')[number % 3]},{number * 3 - 50}\n"
    for number in range(100)
)
CUSTOMERS = "id,name\n" + "".join(f"{number},n{number}\n" for number in range(20))


@pytest.fixture
def shop(whet: Whet) -> Whet:
    whet.write("orders.csv", ORDERS)
    whet.write("customers.csv", CUSTOMERS)
    return whet


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_first_rows_go_next_to_the_file(shop: Whet) -> None:
    said = shop("sample", "orders.csv", "-n", "3")

    assert said.code == 0, said.stderr
    assert (shop.folder / "orders.sample.csv").read_text() == "".join(
        ORDERS.splitlines(keepends=True)[:4]
    )
    assert "orders.csv (CSV): 1.2 kB → " in said.stdout
    assert "3 of 100 rows: the first ones" in said.stdout
    assert str(shop.folder / "orders.sample.csv") in said.stdout


def test_wishes_are_combined_and_told(shop: Whet) -> None:
    said = shop(
        "sample", "orders.csv", "-n", "9", "--seed", "4", "--each", "country", "--extremes",
        "--where", "amount < 100 and country in ('DE', 'FR')",
    )  # fmt: skip

    assert said.code == 0, said.stderr
    rows = rows_of(shop.folder / "orders.sample.csv")
    assert len(rows) == 9
    assert {row["country"] for row in rows} == {"DE", "FR"}
    assert {"-50", "97"} <= {row["amount"] for row in rows}
    assert (
        "9 of 100 rows: random, seed 4, among those that match"
        " `amount < 100 and country in ('DE', 'FR')` (34 do), with 2 values of `country` and"
    ) in said.stdout


def test_related_files_still_join(shop: Whet) -> None:
    said = shop(
        "sample", "orders.csv", "customers.csv", "-n", "5", "--random",
        "--keys", "orders.customer=customers.id", "-o", ".", "--json",
    )  # fmt: skip

    assert said.code == 0, said.stderr
    orders = rows_of(shop.folder / "orders.sample.csv")
    customers = rows_of(shop.folder / "customers.sample.csv")
    assert len(orders) == 5
    assert {row["id"] for row in customers} == {row["customer"] for row in orders}
    answer = json.loads(said.stdout)
    assert [each["taken"][0]["rows"] for each in answer["files"]] == [5, len(customers)]
    assert answer["files"][1]["taken"][0]["how"] == "those that the rows of `orders` refer to"


def test_a_sample_replaces_an_earlier_one_but_no_file_of_the_user(shop: Whet) -> None:
    shop("sample", "orders.csv", "-n", "3")
    shop("sample", "orders.csv", "-n", "2")
    assert len(rows_of(shop.folder / "orders.sample.csv")) == 2
    shop.write("orders.sample.csv", "mine")

    said = shop("sample", "orders.csv", "-n", "4")

    assert "orders.sample-2.csv" in said.stdout
    assert (shop.folder / "orders.sample.csv").read_text() == "mine"


@pytest.mark.parametrize("name", ["img", "img/inner"])
def test_the_original_is_no_place_for_the_sample(whet: Whet, name: str) -> None:
    whet.write("img/a.png", "x")

    said = whet("sample", "img", "-o", name)

    assert (said.code, "never changes" in said.stderr) == (BadUsage.exit_code, True)


def test_who_may_not_read_the_original_may_not_read_the_sample(shop: Whet) -> None:
    (shop.folder / "orders.csv").chmod(0o600)

    shop("sample", "orders.csv")

    assert (shop.folder / "orders.sample.csv").stat().st_mode & 0o777 == 0o600


def test_a_sampled_folder_replaces_an_earlier_one(whet: Whet) -> None:
    for number in range(9):
        whet.write(f"img/{'ab'[number % 2]}/{number}.png", "x" * number)

    whet("sample", "img", "-n", "5")
    said = whet("sample", "img", "--each", "folder")

    assert said.code == 0, said.stderr
    there = {str(path.relative_to(whet.folder)) for path in (whet.folder / "img.sample").rglob("*.png")}  # fmt: skip
    assert there == {"img.sample/a/0.png", "img.sample/b/1.png"}


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        ((), BadUsage, "whet sample FILE"),
        (("no.csv",), PayloadMissing, "ls "),
        (("orders.csv", "orders.csv"), BadUsage, "each file once"),
        (("orders.csv", "--each", "contry"), ColumnMissing, "did you mean `country`?"),
        (("orders.csv", "--where", "amuont < 0"), ColumnMissing, "did you mean `amount`?"),
        (("orders.csv", "--where", "amount < "), BadRowCondition, "amount < 0 and"),
        (("orders.csv", "--where", "amount < -9999"), SampleEmpty, "is null"),
        (("orders.csv", "--each", "id", "-n", "5"), SampleTooSmall, "fewer values"),
        (("orders.csv", "--keys", "orders.customer=customers.id"), BadUsage, "`orders`"),
        (("orders.csv", "customers.csv", "--keys", "orders.country=customers.id"), KeysDoNotJoin, "same identifiers"),
        (("program.exe",), CannotSample, "whet shrink"),
        (("head.csv",), SampleEmpty, "name a file with data"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_the_next_step(
    shop: Whet, words: tuple[str, ...], error: type[BadUsage], hint: str
) -> None:
    (shop.folder / "program.exe").write_bytes(b"MZ\0\1")
    shop.write("head.csv", "a,b\n")
    before = sorted(shop.folder.iterdir())

    said = shop("sample", *words)

    assert (said.code, said.stdout) == (error.exit_code, ""), said.stderr
    assert hint in said.stderr
    assert sorted(shop.folder.iterdir()) == before


def test_a_key_that_only_later_lines_have_is_known(whet: Whet) -> None:
    whet.write("t.jsonl", '{"a": 1}\n' * 3000 + '{"a": 2, "late": {"x": 5}}\n')

    found = whet("sample", "t.jsonl", "--where", "late.x == 5")
    missing = whet("sample", "t.jsonl", "--where", "lat == 5")

    assert found.code == 0, found.stderr
    assert (whet.folder / "t.sample.jsonl").read_text() == '{"a": 2, "late": {"x": 5}}\n'
    assert (missing.code, "did you mean `late`?" in missing.stderr) == (64, True)


def test_lines_of_text_are_chosen_by_what_they_say(whet: Whet) -> None:
    lines = ["the first line", "ERROR 7", "", "a", "the longest line of all", "ERROR 8", "a"]
    whet.write("app.log", "\n".join(lines))

    def sampled(*words: str) -> list[str]:
        assert whet("sample", "app.log", *words).code == 0
        return (whet.folder / "app.sample.log").read_text().splitlines()

    assert sampled("--where", "line ~ '^ERROR'") == ["ERROR 7", "ERROR 8"]
    assert sampled("--extremes") == ["", "a", "the longest line of all"]
    assert sampled("--each", "line") == lines[:-1]
    missing = whet("sample", "app.log", "--each", "text")
    assert "`app.log` has no column `text`" in missing.stderr
    assert "`line`" in missing.stderr


def test_csv_without_a_header(whet: Whet) -> None:
    whet.write("t.csv", "1,a\n2,b\n3,a\n")

    said = whet("sample", "t.csv", "--no-header", "--each", "c2")

    assert said.code == 0, said.stderr
    assert (whet.folder / "t.sample.csv").read_text() == "1,a\n2,b\n"


def limited(whet: Whet, *words: str, most_bytes: int) -> Said:
    """Run whet where no file may be longer, as on a disk that is full."""
    done = subprocess.run(
        [sys.executable, "-m", "whet", *words],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes)),
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow", "t.db", "t.tar", "t.zip"])
def test_a_full_disk_leaves_nothing_behind(whet: Whet, name: str) -> None:
    make_large(whet.folder / name)
    whet("sample", name, "-n", "1")  # what whet itself keeps of the project is there now
    (small,) = whet.folder.glob("*.sample.*")
    before = {path: path.read_bytes() for path in whet.folder.iterdir()}

    said = limited(whet, "sample", name, "-n", "99999", most_bytes=1_000_000)

    assert (said.code, "no space left" in said.stderr) == (DiskFull.exit_code, True), said.stderr
    assert "another place with `-o`" in said.stderr
    assert {path: path.read_bytes() for path in whet.folder.iterdir()} == before
    assert small in before


def make_large(path: Path) -> None:
    """Make a file of more than a megabyte that can't be packed."""
    blocks = [os.urandom(20_000).hex() for _ in range(60)]
    table = pa.table({"a": blocks})
    if path.suffix == ".csv":
        path.write_text("a,b\n" + "".join(f"{block},1\n" for block in blocks))
    elif path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table)
    elif path.suffix == ".db":
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE t (a)")
            database.executemany("INSERT INTO t VALUES (?)", [(block,) for block in blocks])
    else:
        (path.parent / "in").mkdir()
        for number, block in enumerate(blocks):
            (path.parent / "in" / f"{number}.txt").write_text(block)
        shutil.make_archive(str(path.with_suffix("")), path.suffix[1:], path.parent / "in")
        shutil.rmtree(path.parent / "in")


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "is_there"),
    [
        (("--where", "n == 2"), lambda whet, process: has_open(process, whet / "t.csv.gz")),
        (("-n", "99999999"), lambda whet, _: any(whet.glob(".*.part"))),
    ],
)
def test_ctrl_c_leaves_nothing_behind(whet: Whet, words: tuple[str, ...], is_there: object) -> None:
    assert callable(is_there)
    with gzip.open(whet.folder / "t.csv.gz", "wb") as file:
        file.write(b"n,text\n")
        for _ in range(8):
            file.write(b"1,some words of text to read\n" * 100_000)
    running = subprocess.Popen(
        [sys.executable, "-m", "whet", "sample", "t.csv.gz", *words],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    gives_up_at = time.monotonic() + 60
    while not is_there(whet.folder, running.pid) and time.monotonic() < gives_up_at:
        time.sleep(0.005)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)

    assert running.returncode == 130, said
    assert [path.name for path in whet.folder.iterdir()] == ["t.csv.gz"]


def has_open(process: int, path: Path) -> bool:
    links = Path("/proc", str(process), "fd")
    try:
        return any(link.readlink() == path for link in links.iterdir())
    except OSError:
        return False


def test_rows_that_came_along_are_told_apart_and_numbers_have_commas(whet: Whet) -> None:
    with closing(sqlite3.connect(whet.folder / "tree.db")) as database:
        database.execute("CREATE TABLE tree (id INTEGER PRIMARY KEY, up REFERENCES tree(id))")
        database.executemany(
            "INSERT INTO tree VALUES (?, ?)",
            [(n, None if n > 1999 else 1999 + n) for n in range(1, 2101)],
        )
        database.commit()
    said = whet("sample", "tree.db", "-n", "3")

    assert "6 of 2,100 rows: the first ones, and those that other rows refer to" in said.stdout


def test_a_compressed_sample_has_the_same_bytes_each_time(whet: Whet) -> None:
    (whet.folder / "a.csv.gz").write_bytes(gzip.compress(ORDERS.encode()))
    whet("sample", "a.csv.gz", "-n", "2", "-o", "one.csv.gz")
    whet("sample", "a.csv.gz", "-n", "2", "-o", "two.csv.gz")

    one = (whet.folder / "one.csv.gz").read_bytes()
    assert one == (whet.folder / "two.csv.gz").read_bytes()
    assert gzip.decompress(one).decode() == "".join(ORDERS.splitlines(keepends=True)[:3])


@pytest.mark.parametrize(
    ("original", "result", "unpack"),
    [
        ("o.csv.gz", "y.csv", bytes),
        ("o.csv", "y.csv.gz", gzip.decompress),
        ("o.csv.gz", "y.csv.xz", lzma.decompress),
        ("o.csv.bz2", "y", bytes),
    ],
)
def test_a_sample_is_compressed_as_its_name_says(
    shop: Whet, original: str, result: str, unpack: Callable[[bytes], bytes]
) -> None:
    packs: dict[str, Callable[[bytes], bytes]]
    packs = {".gz": gzip.compress, ".bz2": bz2.compress, ".csv": bytes}
    (shop.folder / original).write_bytes(packs[Path(original).suffix](ORDERS.encode()))
    (shop.folder / original).chmod(0o600)

    said = shop("sample", original, "-n", "2", "-o", result)

    assert said.code == 0, said.stderr
    written = unpack((shop.folder / result).read_bytes()).decode()
    assert written == "".join(ORDERS.splitlines(keepends=True)[:3])
    assert (shop.folder / result).stat().st_mode & 0o777 == 0o600
    assert not [*shop.folder.glob(".*.part")]


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("y.csv.zst", "it writes gzip, bzip2 and xz, not `.zst`"),
        ("y.parquet", "`-o y.parquet` promises Parquet, and a sample has the format"),
        ("y.db.gz", "promises SQLite"),
    ],
)
def test_a_name_that_promises_what_a_sample_cannot_be_is_refused(
    shop: Whet, result: str, says: str
) -> None:
    said = shop("sample", "orders.csv", "-o", result)

    assert (said.code, says in said.stderr) == (BadUsage.exit_code, True), said.stderr
    assert not (shop.folder / result).exists()


@pytest.mark.parametrize("name", ["/dev/stdout", "answer.csv", "/dev/stderr"])
def test_the_file_that_whet_prints_to_is_not_replaced(shop: Whet, name: str) -> None:
    with (shop.folder / "answer.csv").open("w") as file:
        file.write("before\n")
        file.flush()
        done = subprocess.run(
            [sys.executable, "-m", "whet", "sample", "orders.csv", "-o", name],
            cwd=shop.folder,
            check=False,
            env={**os.environ, **shop.environment},
            stdout=file,
            stderr=file if name == "/dev/stderr" else subprocess.PIPE,
        )
        assert os.path.samestat((shop.folder / "answer.csv").stat(), os.fstat(file.fileno()))

    assert done.returncode == BadUsage.exit_code
    assert (shop.folder / "answer.csv").read_text().startswith("before\n")


@pytest.mark.long
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "db", "tar", "zip"])
def test_a_name_that_is_not_utf_8_is_sampled_and_made_like(whet: Whet, ending: str) -> None:
    make_large(whet.folder / f"t.{ending}")
    odd = os.fsdecode(b"caf\xe9." + ending.encode())
    (whet.folder / f"t.{ending}").rename(whet.folder / odd)

    said = whet("sample", odd, "-n", "2")

    assert said.code == 0, said.stderr
    assert (whet.folder / os.fsdecode(b"caf\xe9.sample." + ending.encode())).stat().st_size
    if ending not in {"tar", "zip"}:
        made = whet("make", "table", "--like", odd, "--rows", "1")
        assert made.code == 0, made.stderr
