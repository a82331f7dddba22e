"""The readers of data that are sampled, resembled or copied in part: tables, archives, checkpoints."""

import gzip
import io
import json
import shutil
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from unittest.mock import patch

from benchmarks.faults.mutator import Shape
from benchmarks.faults.payloads import arrow_seeds, torch_seeds
from benchmarks.faults.reader import Reader, placed, scratch
from whet.make.tables.like import columns_like
from whet.reduction.formats.arrays.torch_pickle import Storage, TensorRecord, dump_pickle
from whet.sampling.kinds import open_source
from whet.sampling.selection import Wish, select
from whet.workbench.tiny.fewer_layers import LayersWanted, RealModel


@cache
def _database() -> bytes:
    path = placed("seed-sample.db", b"")
    with closing(sqlite3.connect(path)) as database:
        database.executescript("""
            CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT UNIQUE, b REFERENCES b (id));
            CREATE TABLE b (id INTEGER PRIMARY KEY, value REAL);
            INSERT INTO b VALUES (1, 0.5), (2, NULL);
            INSERT INTO a VALUES (1, 'one', 1), (2, 'two', 2);
            CREATE VIEW v AS SELECT * FROM a; CREATE INDEX i ON a (name);
            CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET value = 1; END;
        """)
    return path.read_bytes()


@cache
def _one_table() -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(
            "CREATE TABLE a (id INTEGER, b); INSERT INTO a VALUES (1, 'x'), (2, 0.5)"
        )
        return database.serialize()


@cache
def _archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0001.txt", "a")
        archive.writestr("0001.cls", "1")
    return file.getvalue()


def _sampled(name: str, data: bytes) -> None:
    for old in (scratch() / "sampled").glob("*"):
        old.unlink()
    path = placed(f"sampled/{name}", data)
    source = open_source(path, name)
    for wish in (Wish(rows=1), Wish(rows=9, extremes=True)):
        chosen = {table.name: select(table, wish).places for table in source.tables}
        source.write(chosen, placed("sampled-out/sample", b""))
    source.links()


def _sampled_by_arrow(name: str, data: bytes) -> None:
    """Read a file as a large one is read."""
    with patch("whet.sampling.lines.WORTH_BYTES", 0):
        _sampled(name, data)


def _like(name: str, data: bytes) -> None:
    columns_like(placed(f"like/{name}", data))


@cache
def _tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in (("0001.txt", b"a"), ("0001.cls", b"1"), ("0002.txt", b"b")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


# ---- folders with several files, of which one is an example ----

_STATE = {"_data_files": [{"filename": "a.arrow"}], "_fingerprint": "x", "_split": "train"}
_INFO = {"splits": {"train": {"num_examples": 3, "num_bytes": 9, "shard_lengths": [3]}}}


def _data_set(name: str, data: bytes) -> None:
    top = scratch() / "data-set"
    shutil.rmtree(top, ignore_errors=True)
    folder = top / "train"
    stream = arrow_seeds()[1]
    files = {
        top / "dataset_dict.json": _json({"splits": ["train"]}),
        folder / "state.json": _json(_STATE),
        folder / "dataset_info.json": _json(_INFO),
        folder / "a.arrow": stream,
    }
    for path, content in files.items():
        placed(str(path.relative_to(scratch())), data if path.name == name else content)
    source = open_source(top, "data-set")
    chosen = {table.name: [0, 2] for table in source.tables}
    target = scratch() / "data-set-out"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    source.write(chosen, target)


_CONFIG = {
    "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 2, "layer_types": ["full", "sliding"],
    "text_config": {"num_hidden_layers": 2},
}  # fmt: skip
_TENSORS = {
    "__metadata__": {"format": "pt"},
    **{f"model.layers.{at}.w": {"dtype": "F32", "shape": [2, 1], "data_offsets": [8 * at, 8 * at + 8]} for at in range(2)},
    "head": {"dtype": "U8", "shape": [3], "data_offsets": [16, 19]},
}  # fmt: skip
_INDEX = {"weight_map": {"model.layers.0.w": "model.safetensors", "head": "model.safetensors"}}


def _safetensors(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header + bytes(19)


def _layers(name: str, data: bytes) -> None:
    """Copy a layer of a model, one of whose files is the example."""
    top = scratch() / "model"
    shutil.rmtree(top, ignore_errors=True)
    files = {"config.json": _json(_CONFIG), "model.safetensors": _safetensors(_json(_TENSORS))}
    if name.endswith(".bin"):
        del files["model.safetensors"]
    for each, content in {**files, name: data}.items():
        placed(f"model/{each}", content)
    model = RealModel(top, {})
    target = scratch() / "model-out"
    shutil.rmtree(target, ignore_errors=True)
    model.write(target, model.chosen(LayersWanted(most=1)))


def _header(header: bytes) -> None:
    _layers("model.safetensors", _safetensors(header))


def _torch() -> bytes:
    """Return a file of torch with a tensor for each layer."""
    stream, names = io.BytesIO(), ("model.layers.0.w", "model.layers.1.w")
    tensors = {
        name: TensorRecord(
            Storage("FloatStorage", str(at), "cpu", 2), 0, (2,), (1,), requires_grad=False
        )
        for at, name in enumerate(names)
    }
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a/data.pkl", dump_pickle(tensors))
        archive.writestr("a/byteorder", b"little")
        for at in range(len(names)):
            archive.writestr(f"a/data/{at}", bytes(8))
    return stream.getvalue()


_TABLE = b'a,b\n1,x\n2,"y,z"\n'
_LINES = b'{"a": 1, "b": [2]}\n{"a": null}\n'
_SECONDS = 4.0

_Row = tuple[str, Shape, Callable[[], Sequence[bytes]], Callable[[bytes], None]]


def _rows() -> Iterator[_Row]:
    plain, lines, tree = Shape.BYTES, Shape.JSON_LINES, Shape.JSON
    yield "sample: CSV", plain, lambda: [_TABLE], partial(_sampled, "a.csv")
    yield "sample: JSON lines", lines, lambda: [_LINES], partial(_sampled, "a.jsonl")
    yield "sample: text", plain, lambda: [b"a\nb\r\nc"], partial(_sampled, "a.txt")
    yield "sample: SQLite", plain, lambda: [_database()], partial(_sampled, "a.db")
    yield "sample: ZIP", plain, lambda: [_archive()], partial(_sampled, "a.zip")
    yield "sample: tar", plain, lambda: [_tar()], partial(_sampled, "a.tar")
    yield "sample: large CSV", plain, lambda: [_TABLE], partial(_sampled_by_arrow, "large.csv")
    yield (
        "sample: gzip",
        plain,
        lambda: [gzip.compress(_TABLE, mtime=0)],
        partial(_sampled, "a.csv.gz"),
    )
    for name, value in (("dataset_dict.json", {"splits": ["train"]}), ("state.json", _STATE), ("dataset_info.json", _INFO)):  # fmt: skip
        seeds = partial(list[bytes], [_json(value)])
        yield f"sample: a data set's {name}", tree, seeds, partial(_data_set, name)
    yield "like: CSV", plain, lambda: [_TABLE], partial(_like, "a.csv")
    yield "like: JSON", tree, lambda: [_json([{"a": 1, "b": [2]}, {"a": None}])], partial(_like, "a.json")  # fmt: skip
    yield "like: JSON lines", lines, lambda: [_LINES], partial(_like, "a.jsonl")
    yield "like: SQLite", plain, lambda: [_one_table()], partial(_like, "a.db")
    yield "layers: a configuration", tree, lambda: [_json(_CONFIG)], partial(_layers, "config.json")
    yield "layers: an index", tree, lambda: [_json(_INDEX)], partial(_layers, "model.safetensors.index.json")  # fmt: skip
    yield "layers: a header", tree, lambda: [_json(_TENSORS)], _header
    yield "layers: safetensors", plain, lambda: [_safetensors(_json(_TENSORS))], partial(_layers, "model.safetensors")  # fmt: skip
    yield (
        "layers: torch",
        plain,
        lambda: [_torch(), *torch_seeds()],
        partial(_layers, "pytorch_model.bin"),
    )


def sample_readers() -> Iterator[Reader]:
    """Yield the readers of data that are sampled, resembled or copied in part."""
    for name, shape, seeds, read in _rows():
        yield Reader(name=name, seeds=seeds, read=read, shape=shape, most_seconds=_SECONDS)
