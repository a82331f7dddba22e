"""`whet tiny` on models of transformers, as a user types it."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("transformers") is None:
    pytest.skip("`make test-ml` brings transformers", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]


def whet(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    return subprocess.run(
        [sys.executable, "-m", "whet", *words],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def made(folder: Path, model: str, *words: str) -> dict[str, Any]:
    done = whet(folder, "tiny", model, "--python", sys.executable, "--json", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def write_config(folder: Path, **settings: object) -> str:
    place = folder / "reference"
    place.mkdir()
    (place / "config.json").write_text(json.dumps(settings))
    return str(place)


GEMMA = {
    "model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "hidden_size": 2560,
    "intermediate_size": 10240, "num_hidden_layers": 34, "num_attention_heads": 8,
    "num_key_value_heads": 4, "head_dim": 256, "sliding_window": 1024, "vocab_size": 262208,
    "rms_norm_eps": 1e-5, "hidden_activation": "relu", "query_pre_attn_scalar": 168,
    "bos_token_id": 2, "eos_token_id": [1, 106], "pad_token_id": 0, "dtype": "bfloat16",
}  # fmt: skip


def test_a_folder_keeps_all_but_its_dimensions(tmp_path: Path) -> None:
    answer = made(tmp_path, write_config(tmp_path, **GEMMA), "-o", "small")

    small = json.loads((tmp_path / "small" / "config.json").read_text())
    assert answer["params"] <= 100_000 < answer["reference_params"]
    for name in ("rms_norm_eps", "hidden_activation", "query_pre_attn_scalar", "dtype"):
        assert small[name] == GEMMA[name]
    assert small["layer_types"] == ["sliding_attention", "full_attention"]
    assert 0 < small["sliding_window"] <= 1024
    assert 1 < small["num_key_value_heads"] < small["num_attention_heads"]
    assert small["hidden_size"] != small["num_attention_heads"] * small["head_dim"]
    assert {each["state"] for each in answer["checks"]} == {"ok"}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_difference_is_printed(tmp_path: Path) -> None:
    done = whet(tmp_path, "tiny", write_config(tmp_path, **GEMMA), "--python", sys.executable)

    assert done.returncode == 0, done.stderr
    assert "34 → 2" in done.stdout
    assert "checked: forward, backward, generate, save and load" in done.stdout
    assert (tmp_path / "reference.tiny" / "model.safetensors").is_file()


def test_code_of_a_model_is_not_run_unasked(tmp_path: Path) -> None:
    place = write_config(
        tmp_path, model_type="own", auto_map={"AutoConfig": "own.OwnConfig"}, hidden_size=64
    )
    Path(place, "own.py").write_text("open('run', 'w')")

    done = whet(tmp_path, "tiny", place, "--python", sys.executable)

    assert done.returncode == 77
    assert "--trust-remote-code" in done.stderr
    assert "own.OwnConfig" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("LamaConfig", "did you mean `LlamaConfig`?"),
        ("nowhere", "`nowhere` isn't a folder"),
        ("no.such:Model", "no module named"),
    ],
)
def test_no_model(tmp_path: Path, model: str, says: str) -> None:
    done = whet(tmp_path, "tiny", model, "--python", sys.executable)

    assert done.returncode == 66
    assert says.lower() in done.stderr.lower()


def test_a_configuration_that_is_no_json(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")

    done = whet(tmp_path, "tiny", "config.json", "--python", sys.executable)

    assert done.returncode == 66
    assert "isn't JSON" in done.stderr


NET = """
from torch import nn


class Net(nn.Module):
    def __init__(self, rows=30000, size=512, heads=8, layers=6, dropout=0.1):
        super().__init__()
        self.rows = nn.Embedding(rows, size)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(size, heads, 4 * size, dropout, batch_first=True)
            for _ in range(layers)
        )

    def forward(self, tokens):
        found = self.rows(tokens)
        for block in self.blocks:
            found = block(found)
        return found
"""


def test_a_class_of_modules_is_made_tiny_by_the_numbers_of_its_constructor(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)

    answer = made(tmp_path, "net:Net", "--set", "size=256", "-o", "small")

    saved = json.loads((tmp_path / "small" / "config.json").read_text())
    arguments = saved["arguments"]
    assert answer["params"] <= 100_000
    assert saved["class"] == "net:Net"
    assert arguments["layers"] == 1
    assert arguments["dropout"] == 0.1
    assert arguments["size"] < 256
    assert arguments["size"] % arguments["heads"] == 0
    assert (tmp_path / "small" / "model.safetensors").is_file()


OF_CONFIG = """
from dataclasses import dataclass, field
from torch import nn


@dataclass
class Config:
    rows: int = 30000
    size: int = 512
    heads: int = 8
    layers: int = 6
    inner: int = field(init=False)

    def __post_init__(self):
        self.inner = 4 * self.size


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attend = nn.MultiheadAttention(config.size, config.heads, batch_first=True)
        self.step = nn.Sequential(nn.Linear(config.size, config.inner), nn.GELU(), nn.Linear(config.inner, config.size))

    def forward(self, found):
        return self.step(found + self.attend(found, found, found)[0])


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.rows = nn.Embedding(config.rows, config.size)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.head = nn.Linear(config.size, config.rows, bias=False)
        self.head.weight = self.rows.weight

    def forward(self, tokens):
        found = self.rows(tokens)
        for block in self.blocks:
            found = block(found)
        return self.head(found)


def make():
    return Net(Config(size=256))
"""


@pytest.mark.parametrize("named", [("Net", "--set", "config.size=256"), ("make",)])
def test_a_model_is_made_tiny_by_the_numbers_of_the_object_that_its_constructor_takes(
    tmp_path: Path, named: tuple[str, ...]
) -> None:
    (tmp_path / "of_config.py").write_text(OF_CONFIG)

    answer = made(tmp_path, f"of_config:{named[0]}", *named[1:], "-o", "small")

    saved = json.loads((tmp_path / "small" / "config.json").read_text())
    config = saved["arguments"]["config"]
    assert saved["class"] == "of_config:Net"
    assert saved["classes"] == {"config": "of_config:Config"}
    assert answer["params"] <= 100_000
    assert {check["state"] for check in answer["checks"]} == {"ok", "none"}
    assert config["layers"] == 1
    assert config["size"] < 256
    assert config["size"] % config["heads"] == 0
    assert "inner" not in config


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("net:Nat",), "did you mean `net:Net`?"),
        (("net:Net", "--set", "width=3"), "`Net` takes no `width`"),
        (("net:Needy",), "--set channels=VALUE"),
        (("LlamaConfig", "--set", "num_hiden_layers=3"), "did you mean `num_hidden_layers`?"),
        (("llama", "--set", "num_hiden_layers=3"), "did you mean `num_hidden_layers`?"),
        (("nameless",), "nameless/config.json` names no `model_type`"),
    ],
)
def test_arguments_that_a_class_cannot_have(
    tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    needy = "\n\nclass Needy(nn.Module):\n    def __init__(self, channels): ...\n"
    (tmp_path / "net.py").write_text(NET + needy)
    for name, text in (("llama", '{"model_type": "llama"}'), ("nameless", "{}")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(text)

    done = whet(tmp_path, "tiny", *words, "--python", sys.executable)

    assert done.returncode in {64, 66}
    assert says in done.stderr
