"""`whet tiny MODEL -- COMMAND {}` on programs with a planted failure that needs a dimension."""

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

PROGRAMS = Path(__file__).parents[2] / "specimens" / "small_worlds"
GPT2 = {
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 192, "n_layer": 4,
    "n_head": 12, "n_positions": 512, "vocab_size": 2000, "bos_token_id": 1, "eos_token_id": 1,
}  # fmt: skip
LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 256,
    "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8,
    "num_key_value_heads": 2, "vocab_size": 2000,
}  # fmt: skip
MIXED = {
    "model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 128,
    "moe_intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 32, "num_experts": 64, "num_experts_per_tok": 2,
    "vocab_size": 1000,
}  # fmt: skip


def search(folder: Path, program: str, config: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    (folder / "reference").mkdir()
    (folder / "reference" / "config.json").write_text(json.dumps(config))
    command = [sys.executable, str(PROGRAMS / program), "{}"]
    return subprocess.run(
        [sys.executable, "-m", "whet", "tiny", "reference", "-o", "small", "--json", "--", *command],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("program", "config", "needed"),
    [
        ("third_head.py", GPT2, {"n_head": 3}),
        ("grouped_keys.py", LLAMA, {"num_attention_heads": 4}),
        ("long_position.py", GPT2, {"n_positions": 129}),
        ("lost_ties.py", GPT2, {}),
    ],
)
def test_the_dimension_that_a_failure_needs_is_named(
    tmp_path: Path, program: str, config: dict[str, Any], needed: dict[str, int]
) -> None:
    done = search(tmp_path, program, config)

    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["needed"] == needed
    assert answer["runs"] <= 60
    assert answer["params"] < 30_000 < answer["reference_params"]
    assert (tmp_path / "small" / "model.safetensors").is_file()
    config = json.loads((tmp_path / "small" / "config.json").read_text())
    assert {name: config[name] for name in answer["sizes"]} == answer["sizes"]
    assert answer["line_complaint"] == ""


def test_an_expert_without_tokens_needs_many_experts(tmp_path: Path) -> None:
    done = search(tmp_path, "idle_expert.py", MIXED)

    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert list(answer["needed"]) == ["num_local_experts"]
    assert answer["runs"] <= 60


def test_investigate_makes_the_model_of_a_command_tiny(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    made = transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2))
    made.save_pretrained(tmp_path / "reference")
    command = [sys.executable, str(PROGRAMS / "third_head.py"), "reference"]
    done = subprocess.run(
        [sys.executable, "-m", "whet", "investigate", "--budget", "10m", "--", *command],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
    )  # fmt: skip

    assert done.returncode in {0, 75}, done.stdout + done.stderr
    assert "Make reference tiny" in done.stderr
    assert "it needs at least 3 heads (n_head); nothing else matters" in done.stderr
    assert "parameters are enough" in (tmp_path / "whet-report" / "report.md").read_text()
    assert (tmp_path / "whet-report" / "reference.tiny" / "model.safetensors").is_file()


def test_a_command_without_a_place_for_the_model(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "whet", "tiny", "GPT2Config", "--", "true"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
    )  # fmt: skip

    assert done.returncode == 64
    assert "write `{}` where the model's folder belongs" in done.stderr
