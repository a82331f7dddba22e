"""Layers of a checkpoint are copied byte by byte; nothing else is read, and no pickle is run."""

import io
import json
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from whet.core.errors import BadUsage, CheckpointUnreadable
from whet.reduction.formats.arrays.torch_pickle import Storage, TensorRecord, dump_pickle
from whet.workbench.tiny.checkpoint_files import read_checkpoint
from whet.workbench.tiny.fewer_layers import LayersWanted, RealModel

LAYERS = 6
WIDTH = 300


def _values(number: int) -> bytes:
    return bytes([number]) * (4 * WIDTH)


def _names() -> list[str]:
    return ["embed.weight", *(f"model.layers.{number}.weight" for number in range(LAYERS))]


def _write_safetensors(path: Path, names: list[str]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name in names:
        values = _values(_names().index(name))
        offsets = [len(data), len(data) + len(values)]
        header[name] = {"dtype": "F32", "shape": [3, WIDTH // 3], "data_offsets": offsets}
        data += values
    encoded = json.dumps(header).encode()
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + data)


def _write_torch(path: Path, root: object, records: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", root if isinstance(root, bytes) else dump_pickle(root))
        for key, record in records.items():
            archive.writestr(f"archive/data/{key}", record)


def _tensor(key: str, offset: int = 0) -> TensorRecord:
    storage = Storage("FloatStorage", key, "cpu", WIDTH)
    return TensorRecord(storage, offset, (3, WIDTH // 3), (WIDTH // 3, 1), requires_grad=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model without weights yet."""
    folder = tmp_path / "real"
    folder.mkdir()
    settings = {"num_hidden_layers": LAYERS, "layer_types": list("aababa")}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "tokenizer.json").write_text("{}")
    return folder


def _shards(folder: Path) -> None:
    names = _names()
    for file, part in (("a.safetensors", names[:3]), ("b.safetensors", names[3:])):
        _write_safetensors(folder / file, part)
    index = {name: "a.safetensors" if name in names[:3] else "b.safetensors" for name in names}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))


def _pickled(folder: Path) -> None:
    named = OrderedDict((name, _tensor(str(place))) for place, name in enumerate(_names()))
    records = {str(place): _values(place) for place in range(len(named))}
    _write_torch(folder / "pytorch_model.bin", named, records)


@pytest.mark.parametrize("write", [_shards, _pickled])
def test_the_bytes_of_the_layers_that_stay_are_copied_and_no_others_are_read(
    write: Any, folder: Path, tmp_path: Path
) -> None:
    write(folder)
    real = RealModel(folder, {})

    cut = real.write(tmp_path / "small", real.chosen(LayersWanted(most=2)))

    copied = read_checkpoint(tmp_path / "small")
    assert {
        name: each.file.read_bytes()[each.start : each.start + each.length]
        for name, each in copied.tensors.items()
    } == {
        "embed.weight": _values(0),
        "model.layers.0.weight": _values(1),
        "model.layers.1.weight": _values(3),  # the first of the other kind
    }
    assert {each.shape for each in copied.tensors.values()} == {(3, WIDTH // 3)}
    assert cut.bytes_read < 3 * len(_values(0)) + 2000 < cut.bytes_there
    settings = json.loads((tmp_path / "small" / "config.json").read_text())
    assert settings == {"num_hidden_layers": 2, "layer_types": ["a", "b"]}
    assert sorted(each.name for each in (tmp_path / "small").iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]


def test_the_library_of_the_format_reads_what_is_written(folder: Path, tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    _shards(folder)
    real = RealModel(folder, {})
    real.write(tmp_path / "small", real.chosen(LayersWanted(numbers=(5, 2))))

    read = numpy.load_file(tmp_path / "small" / "model.safetensors")

    assert {name: each.tobytes() for name, each in read.items()} == {
        "embed.weight": _values(0),
        "model.layers.0.weight": _values(3),
        "model.layers.1.weight": _values(6),
    }


def test_a_layer_that_is_not_there_is_named(folder: Path) -> None:
    _shards(folder)

    with pytest.raises(BadUsage, match="there is no layer 7: the model has layers 0 to 5"):
        RealModel(folder, {}).chosen(LayersWanted(numbers=(0, 7)))


class _Runs:
    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("open('run', 'w')",)


def _without(folder: Path) -> None:
    assert folder.is_dir()


def _code(folder: Path) -> None:
    _write_torch(folder / "pytorch_model.bin", pickle.dumps({"a": _Runs()}, protocol=2), {})


def _no_zip(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": 1}))


def _more(folder: Path) -> None:
    _write_torch(folder / "pytorch_model.bin", {"step": 3}, {})


def _lacks(folder: Path) -> None:
    _write_torch(folder / "pytorch_model.bin", {"model.layers.0.w": _tensor("0")}, {"0": b"1234"})


def _cut_off(folder: Path) -> None:
    _write_safetensors(folder / "model.safetensors", _names())
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:-1])


def _no_header(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"version of a file that is kept elsewhere")


def _missing_shard(folder: Path) -> None:
    _shards(folder)
    (folder / "b.safetensors").unlink()


def _outside(folder: Path) -> None:
    index = {"weight_map": {"a": "../a.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


BROKEN = {
    _without: "has no weights",
    _code: "doesn't run",
    _no_zip: "isn't a zip file of torch",
    _more: "holds more than tensors: 'step'",
    _lacks: "doesn't have all bytes of `model.layers.0.w`",
    _cut_off: "isn't complete",
    _no_header: "isn't a safetensors file",
    _missing_shard: "isn't there, but the index",
    _outside: "which isn't in its folder",
}


@pytest.mark.parametrize("write", BROKEN, ids=lambda each: each.__name__)
def test_weights_that_are_no_data_are_refused(
    write: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(folder)

    with pytest.raises(CheckpointUnreadable, match=BROKEN[write]) as refused:
        RealModel(folder, {})

    assert refused.value.hint
    assert not (tmp_path / "run").exists()


def test_a_tensor_by_columns_is_not_copied_as_if_by_rows(folder: Path) -> None:
    turned = TensorRecord(
        Storage("FloatStorage", "0", "cpu", WIDTH), 0, (3, 100), (1, 3), requires_grad=False
    )
    _write_torch(folder / "pytorch_model.bin", {"model.layers.0.w": turned}, {"0": _values(1)})

    with pytest.raises(CheckpointUnreadable, match="isn't stored row by row"):
        read_checkpoint(folder)


def test_two_views_of_one_storage_are_two_tensors(folder: Path) -> None:
    halves = {
        name: TensorRecord(
            Storage("FloatStorage", "0", "cpu", WIDTH), start, (150,), (1,), requires_grad=False
        )
        for name, start in (("a", 0), ("b", 150))
    }
    stream = io.BytesIO(bytes(600) + bytes([1]) * 600)
    _write_torch(folder / "pytorch_model.bin", halves, {"0": stream.getvalue()})

    found = read_checkpoint(folder).tensors

    data = (folder / "pytorch_model.bin").read_bytes()
    held = {name: data[each.start : each.start + each.length] for name, each in found.items()}
    assert held == {"a": bytes(600), "b": bytes([1]) * 600}
