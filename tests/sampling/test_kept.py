"""What a sample keeps of the original: bytes, quotes, line ends, types, metadata, times, modes."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest
from data import as_table, sampled, some_rows, write_feather, write_parquet
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import ipc, parquet

from whet.core.errors import CannotSample, PayloadEmpty, PayloadMissing, PayloadUnreadable
from whet.sampling.kinds import open_source
from whet.sampling.row_condition import RowCondition
from whet.sampling.selection import Wish, select
from whet.sampling.table import HasGaps, RowFilter


def bytes_of(folder: Path, name: str, content: bytes, wish: Wish) -> bytes:
    (folder / name).write_bytes(content)
    sampled(folder / name, wish, folder / "sample")
    return (folder / "sample").read_bytes()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\r\n1,2\r\n3,4\r\n5,6", b"a,b\r\n1,2\r\n3,4\r\n"),
        (b'a;b\n\'1;2\n3;"x\n;y"\n5;6\n', b'a;b\n\'1;2\n3;"x\n;y"\n'),
        (b"\xef\xbb\xbfa\tb\n1\t\n\t\n5\t6\n", b"\xef\xbb\xbfa\tb\n1\t\n\t\n"),
        (b'"a","b"\r1,2\r3,4\r5,6\r', b'"a","b"\r1,2\r3,4\r'),
        (b'a,b\n5" disk,1\nx,2\ny,3\n', b'a,b\n5" disk,1\nx,2\n'),
        (b'a,b\n"never closed,1\nx,2\ny,3\n', b'a,b\n"never closed,1\nx,2\n'),
        (b"a,b\n1,\xff\xfe\n\n\n3,4\n5,6\n", b"a,b\n1,\xff\xfe\n3,4\n"),
        (b"a,b\n1,2\n3\n5,6\n", b"a,b\n1,2\n3\n"),
    ],
)
def test_the_bytes_of_records_stay(tmp_path: Path, content: bytes, expected: bytes) -> None:
    assert bytes_of(tmp_path, "t.csv", content, Wish(rows=2)) == expected


def test_the_last_rows_stay_too(tmp_path: Path) -> None:
    condition = RowCondition.parse("a >= 3")
    wish = Wish(where=RowFilter(condition.columns, condition.holds))

    assert bytes_of(tmp_path, "t.csv", b"a,b\n1,2\n3,4\n5,6", wish) == b"a,b\n3,4\n5,6"


@given(
    cells=st.lists(
        st.lists(st.text(st.characters(codec="utf-8"), max_size=5), min_size=2, max_size=2),
        min_size=1,
        max_size=12,
    ),
    seed=st.integers(0, 3),
)
def test_any_record_that_a_writer_of_csv_makes_is_one(
    tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]], seed: int
) -> None:
    import csv

    folder = tmp_path_factory.mktemp("csv")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([["a", "b"], *cells])
    content = text.getvalue().encode()

    sample = bytes_of(folder, "t.csv", content, Wish(rows=3, seed=seed)).decode()

    rows = list(csv.reader(io.StringIO(sample, newline="")))
    assert len(rows) == 1 + min(3, len(cells))
    assert bytes_of(folder, "t.csv", content, Wish(rows=99)) == content


@pytest.mark.parametrize(("suffix", "library"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
def test_compressed_text_stays_compressed(tmp_path: Path, suffix: str, library: object) -> None:
    packed: Callable[[bytes], bytes] = vars(library)["compress"]
    unpacked: Callable[[bytes], bytes] = vars(library)["decompress"]
    lines = b"".join(b'{"n": %d}\n' % number for number in range(5000))

    sample = bytes_of(tmp_path, f"t.jsonl.{suffix}", packed(lines), Wish(rows=3, seed=1))

    assert len(unpacked(sample).splitlines()) == 3
    assert all(json.loads(line)["n"] < 5000 for line in unpacked(sample).splitlines())


def test_parquet_keeps_types_metadata_and_compression(tmp_path: Path) -> None:
    write_parquet(tmp_path / "t.parquet", some_rows(50))

    sampled(tmp_path / "t.parquet", Wish(rows=20, seed=1), tmp_path / "sample")

    before, after = parquet.ParquetFile(tmp_path / "t.parquet"), parquet.ParquetFile(tmp_path / "sample")  # fmt: skip
    assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
    assert after.metadata.row_group(0).column(2).compression == "ZSTD"


def test_nested_and_odd_types_of_parquet_stay(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            ("s", pa.struct([("x", pa.list_(pa.int8())), ("y", pa.large_string())])),
            ("m", pa.map_(pa.string(), pa.float16())),
            ("d", pa.decimal128(20, 3)),
            ("t", pa.timestamp("ns", "Europe/Berlin")),
            ("b", pa.binary(4)),
            ("n", pa.null()),
        ]
    )
    rows = [
        {
            "s": {"x": [1, None], "y": "é"},
            "m": None,
            "d": None,
            "t": number,
            "b": b"abcd",
            "n": None,
        }
        for number in range(9)
    ]
    table = pa.Table.from_pylist(rows, schema)
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=2)

    sampled(tmp_path / "t.parquet", Wish(rows=4, extremes=True), tmp_path / "sample")

    sample = parquet.read_table(tmp_path / "sample")
    assert sample.schema.equals(parquet.read_schema(tmp_path / "t.parquet"), check_metadata=True)
    assert sample.num_rows == 4
    assert sample.column("t").cast(pa.int64()).to_pylist() == [0, 1, 2, 8]


def test_arrow_keeps_types_metadata_and_compression(tmp_path: Path) -> None:
    write_feather(tmp_path / "t.feather", some_rows(5000))

    sampled(tmp_path / "t.feather", Wish(rows=3000), tmp_path / "sample")

    whole = as_table(some_rows(5000)).schema
    with ipc.open_file(str(tmp_path / "sample")) as sample:
        assert sample.schema.equals(whole, check_metadata=True)
    plain = io.BytesIO()
    with ipc.new_file(plain, whole) as writer:
        writer.write_table(as_table(some_rows(3000)))
    assert (tmp_path / "sample").stat().st_size < len(plain.getvalue())


def make_tar(path: Path, mode: Literal["w", "w:gz"], names: list[str]) -> None:
    with tarfile.open(path, mode, format=tarfile.PAX_FORMAT, pax_headers={"comment": "all"}) as archive:  # fmt: skip
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(name.encode()), 1234567, 0o640
            archive.addfile(member, io.BytesIO(name.encode()))
        link = tarfile.TarInfo("last-link")
        link.type, link.linkname = tarfile.LNKTYPE, names[0]
        archive.addfile(link)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_the_members_of_a_tar_file_stay_byte_for_byte(
    tmp_path: Path, mode: Literal["w", "w:gz"]
) -> None:
    names = [f"{'long' * 40}/é{number}.txt" for number in range(30)]
    make_tar(tmp_path / "t.tar", mode, names)

    sampled(tmp_path / "t.tar", Wish(rows=8, seed=2), tmp_path / "sample")

    with tarfile.open(tmp_path / "sample") as sample, tarfile.open(tmp_path / "t.tar") as whole:
        assert sample.pax_headers == {"comment": "all"}
        kept = [member for member in sample if member.isreg()]
        assert len(kept) == 8
        for member in kept:
            assert member.get_info() == whole.getmember(member.name).get_info()
            file = sample.extractfile(member)
            assert file is not None
            assert file.read() == member.name.encode()


def test_a_hard_link_brings_the_file_that_it_means(tmp_path: Path) -> None:
    make_tar(tmp_path / "t.tar", "w", [f"{number}.txt" for number in range(5)])
    condition = RowCondition.parse("name == 'last-link'")
    wish = Wish(where=RowFilter(condition.columns, condition.holds))

    sampled(tmp_path / "t.tar", wish, tmp_path / "sample")

    with tarfile.open(tmp_path / "sample") as sample:
        assert sample.getnames() == ["0.txt", "last-link"]


def test_the_files_of_a_web_dataset_sample_stay_together(tmp_path: Path) -> None:
    names = [f"a/{number:03}.{suffix}" for number in range(40) for suffix in ("jpg", "seg.png", "json")]  # fmt: skip
    with tarfile.open(tmp_path / "t.tar", "w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name))

    source = sampled(tmp_path / "t.tar", Wish(rows=5, seed=3), tmp_path / "sample")

    with tarfile.open(tmp_path / "sample") as sample:
        kept = sample.getnames()
    assert (source.kind, len(kept)) == ("WebDataset", 15)
    assert kept == [name for name in names if name in kept]
    assert len({name.partition(".")[0] for name in kept}) == 5


def test_the_members_of_a_zip_archive_keep_times_modes_and_compression(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.comment = b"all"
        archive.mkdir("a")
        for number in range(20):
            member = zipfile.ZipInfo(f"a/{number}.txt", (2001, 2, 3, 4, 5, 6))
            member.external_attr = 0o100640 << 16
            member.compress_type = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
            archive.writestr(member, f"{number}" * 50)

    sampled(tmp_path / "t.zip", Wish(rows=6, seed=1), tmp_path / "sample")

    with zipfile.ZipFile(tmp_path / "sample") as sample, zipfile.ZipFile(tmp_path / "t.zip") as whole:  # fmt: skip
        assert (len(sample.infolist()), sample.comment) == (6, b"all")
        for member in sample.infolist():
            other = whole.getinfo(member.filename)
            assert sample.read(member) == whole.read(other)
            assert (member.date_time, member.external_attr, member.compress_type) == (
                other.date_time,
                other.external_attr,
                other.compress_type,
            )


def test_a_folder_keeps_places_times_modes_and_links(tmp_path: Path) -> None:
    for kind in ("cat", "dog"):
        (tmp_path / "img" / kind).mkdir(parents=True)
        for number in range(10):
            path = tmp_path / "img" / kind / f"{number}.png"
            path.write_bytes(b"\x89PNG" * number)
            os.utime(path, (1000, 2000))
            path.chmod(0o640)
    (tmp_path / "img" / "link").symlink_to("cat/1.png")
    (tmp_path / "img" / ".git").mkdir()
    (tmp_path / "img" / ".git" / "HEAD").write_text("no data")
    (tmp_path / "sample").mkdir()

    sampled(tmp_path / "img", Wish(each=("folder",), rows=9, seed=0), tmp_path / "sample")

    kept = [path for path in (tmp_path / "sample").rglob("*") if not path.is_dir()]
    assert len(kept) == 9
    assert {path.parent.name for path in kept} == {"cat", "dog", "sample"}
    assert (tmp_path / "sample" / "link").readlink() == Path("cat/1.png")
    files = [path for path in kept if not path.is_symlink()]
    assert {(path.stat().st_mtime, path.stat().st_mode & 0o777) for path in files} == {(2000, 0o640)}  # fmt: skip


def saved_data_set(folder: Path, rows: int, shards: int, fingerprint: str = "abc") -> None:
    """Save a data set as `datasets` 4 does."""
    folder.mkdir(parents=True)
    features = json.dumps({"info": {"features": {"id": {"dtype": "int32", "_type": "Value"}}}})
    schema = as_table([]).schema.with_metadata({"huggingface": features})
    files = [f"data-{number:05}-of-{shards:05}.arrow" for number in range(shards)]
    for number, file in enumerate(files):
        table = as_table(some_rows(rows)[number::shards]).replace_schema_metadata(schema.metadata)
        with ipc.new_stream(str(folder / file), table.schema) as writer:
            writer.write_table(table, 7)
    state = {"_data_files": [{"filename": file} for file in files], "_fingerprint": fingerprint, "_split": "train"}  # fmt: skip
    (folder / "state.json").write_text(json.dumps(state))
    split = {"name": "train", "num_examples": rows, "num_bytes": 9, "shard_lengths": [rows]}
    (folder / "dataset_info.json").write_text(json.dumps({"splits": {"train": split}}))


@pytest.mark.parametrize("fingerprint", ["abc", "\ud800"])
def test_a_saved_data_set_is_one_shard_with_counts_of_its_own(
    tmp_path: Path, fingerprint: str
) -> None:
    saved_data_set(tmp_path / "d", 60, 3, fingerprint)
    (tmp_path / "sample").mkdir()

    sampled(tmp_path / "d", Wish(rows=10, seed=5), tmp_path / "sample")

    with ipc.open_stream(str(tmp_path / "sample" / "data-00000-of-00001.arrow")) as reader:
        table = reader.read_all()
    state = json.loads((tmp_path / "sample" / "state.json").read_text())
    info = json.loads((tmp_path / "sample" / "dataset_info.json").read_text())
    assert (table.num_rows, b"huggingface" in table.schema.metadata) == (10, True)
    assert state["_data_files"] == [{"filename": "data-00000-of-00001.arrow"}]
    assert state["_fingerprint"] != fingerprint
    assert info["splits"]["train"]["num_examples"] == 10


def test_each_split_of_a_saved_dictionary_is_sampled(tmp_path: Path) -> None:
    for split, rows in (("train", 40), ("test", 4)):
        saved_data_set(tmp_path / "d" / split, rows, 1)
    (tmp_path / "d" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    (tmp_path / "sample").mkdir()
    source = open_source(tmp_path / "d", "d")

    chosen = {table.name: select(table, Wish(rows=6)).places for table in source.tables}
    source.write(chosen, tmp_path / "sample")

    again = open_source(tmp_path / "sample", "sample")
    counts = {table.name: select(table, Wish(rows=99)).of for table in again.tables}
    assert counts == {"train": 6, "test": 4}


class Dangerous:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch ran",)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.pkl", pickle.dumps(Dangerous()), "is a pickle"),
        ("a.bin", pickle.dumps(Dangerous()), "is a pickle"),
        ("a.pt", b"PK\3\4 broken", "isn't a whole ZIP archive"),
        ("a.parquet", b"PAR1 no end", "isn't a whole Parquet file"),
        ("a.feather", b"ARROW1\0\0 no end", "isn't a whole Arrow file"),
        ("a.db", b"SQLite format 3\0 no end", "SQLite can't read"),
        ("a.json", b'[{"a": 1},\n{"a": 2}]', "one JSON value"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "iconv"),
        ("a.jsonl.zst", b"\x28\xb5\x2f\xfd...", "zstd -d"),
        ("a.jsonl.gz", gzip.compress(b"{}\n" * 99, mtime=0)[:20], "damaged"),
        ("a.exe", b"MZ\0\0\1\2", "doesn't know what kind"),
    ],
)
def test_what_cannot_be_sampled_says_so_and_is_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)

    with pytest.raises(CannotSample) as error:
        open_source(tmp_path / name, name)

    assert words in f"{error.value} {error.value.hint}"
    assert not (tmp_path / "ran").exists()


def test_a_checkpoint_and_a_pickled_type_are_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(tmp_path / "m.pt", "w") as archive:
        archive.writestr("m/data.pkl", pickle.dumps(Dangerous()))
    kind = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": pickle.dumps(Dangerous())}  # fmt: skip
    schema = pa.schema([pa.field("a", pa.int8(), metadata=kind)])
    parquet.write_table(pa.table({"a": [1, 2]}, schema), tmp_path / "t.parquet")

    with pytest.raises(CannotSample, match="a checkpoint of torch"):
        open_source(tmp_path / "m.pt", "m.pt")
    sampled(tmp_path / "t.parquet", Wish(rows=2, extremes=True), tmp_path / "sample")

    assert not (tmp_path / "ran").exists()


def test_what_is_not_there_or_has_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")

    for name, error in {
        "no.csv": PayloadMissing,
        "empty.csv": PayloadEmpty,
        "folder": PayloadEmpty,
        "pipe": PayloadUnreadable,
    }.items():
        with pytest.raises(error):
            open_source(tmp_path / name, name)


SEARCHES = """\
CREATE TABLE posts (id INTEGER PRIMARY KEY, body TEXT);
CREATE VIRTUAL TABLE own USING fts5(title, body);
CREATE VIRTUAL TABLE old USING fts4(title, body);
CREATE VIRTUAL TABLE of_posts USING fts5(body, content='posts', content_rowid='id');
CREATE VIRTUAL TABLE old_of_posts USING fts4(content="posts", body);
CREATE VIRTUAL TABLE bare USING fts5(body, content='');
CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
"""


def test_a_text_search_knows_the_rows_of_the_sample_and_no_others(tmp_path: Path) -> None:
    texts = [(number, f"word{number} here") for number in range(1, 300)]
    with closing(sqlite3.connect(tmp_path / "t.db")) as database, database:
        database.executescript(SEARCHES)
        database.executemany("INSERT INTO posts VALUES (?, ?)", texts)
        for table in ("own", "old", "of_posts", "old_of_posts", "bare"):
            insert = f"INSERT INTO {table} (rowid, body) VALUES (?, ?)"
            database.executemany(insert, texts)
        boxes = [(number, number, number + 1) for number, _ in texts]
        database.executemany("INSERT INTO boxes VALUES (?, ?, ?)", boxes)
    source = open_source(tmp_path / "t.db", "t.db")

    source.write({table.name: [2, 7] for table in source.tables}, tmp_path / "out.db")

    with closing(sqlite3.connect(tmp_path / "out.db")) as database:
        for table in ("own", "old", "of_posts", "old_of_posts"):
            query = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"
            assert database.execute(query, ("word7",)).fetchall() == [(7,)]
            assert database.execute(query, ("word8",)).fetchall() == []
        assert database.execute("SELECT * FROM boxes").fetchall() == [(2, 2, 3), (7, 7, 8)]
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert isinstance(source, HasGaps)
    assert source.left_out() == ["table `bare` is empty: the database doesn't have its text"]


def test_what_this_sqlite_cannot_make_is_left_out_and_named(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.create_collation("odd", lambda a, b: (a > b) - (a < b))
        database.execute("CREATE TABLE t (a)")
        database.execute("INSERT INTO t VALUES (1)")
        database.execute("CREATE INDEX i ON t (a COLLATE odd)")
        database.execute("PRAGMA writable_schema = ON")
        database.execute(
            "INSERT INTO sqlite_master VALUES"
            " ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING vec0(e float[3])')"
        )
    source = open_source(path, "t.db")

    source.write({"t": [1]}, tmp_path / "out.db")

    assert read_rows(tmp_path / "out.db", "t") == [(1,)]
    assert isinstance(source, HasGaps)
    assert source.left_out() == [
        "table `v` isn't in the sample: it needs `vec0`",
        "index `i` isn't in the sample: no such collation sequence: odd",
    ]


def read_rows(path: Path, table: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(f"SELECT * FROM {table}").fetchall()
