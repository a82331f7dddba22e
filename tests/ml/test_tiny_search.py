"""`whet tiny MODEL -- COMMAND {}` on programs with a planted failure that needs a dimension."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from whet.core.errors import DiskFull

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


def _environment(folder: Path) -> dict[str, str]:
    (folder / "tmp").mkdir(exist_ok=True)
    return {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "TMPDIR": str(folder / "tmp")}


def whet(folder: Path, words: list[str], *before: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "-m", "whet", *words], cwd=folder, capture_output=True, text=True,
        check=False, env=_environment(folder),
    )  # fmt: skip


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


GROUPED = """
from torch import nn


class Grouped(nn.Module):
    def __init__(self, width=768, num_heads=12, num_kv_heads=4, widths=(640, 1280), vocab_size=3000):
        super().__init__()
        if width % num_heads or num_heads % num_kv_heads:
            raise ValueError(f"{width} / {num_heads} / {num_kv_heads}")
        self.rows = nn.Embedding(vocab_size, width)
        keys = width // num_heads * num_kv_heads
        self.steps = nn.Sequential(nn.Linear(width, keys), *map(nn.Linear, (keys, widths[0]), widths))

    def forward(self, tokens):
        return self.steps(self.rows(tokens))
"""
READS = "import json, sys\nn = json.load(open(sys.argv[1] + '/config.json'))['arguments']\n"


@pytest.mark.parametrize(
    ("fails", "needed", "says"),
    [
        (
            "n['num_heads'] >= 3 and n['num_kv_heads'] >= 2",
            {"num_heads": 3, "num_kv_heads": 2},
            "3 heads (num_heads)",
        ),
        ("n['num_heads'] >= 3", {"num_heads": 3}, "at least 3 heads (num_heads); nothing else"),
        ("n['widths'][1] >= 100", {"widths[1]": 100}, "at least 100 (widths[1]); nothing else"),
    ],
)
def test_dimensions_that_move_together_and_those_of_a_list(
    tmp_path: Path, fails: str, needed: dict[str, int], says: str
) -> None:
    (tmp_path / "net.py").write_text(GROUPED)
    (tmp_path / "reads.py").write_text(f"{READS}assert not ({fails}), 'odd'\n")
    words = ["tiny", "net:Grouped", "-o", "small", "--", sys.executable, "reads.py", "{}"]
    found = whet(tmp_path, [*words[:4], "--json", *words[4:]])
    shown = whet(tmp_path, [*words[:3], "again", *words[4:]])

    assert found.returncode == shown.returncode == 0, found.stdout + found.stderr + shown.stderr
    assert json.loads(found.stdout)["needed"] == needed
    assert says in shown.stdout


def test_a_size_that_cannot_be_made_is_not_called_too_small(tmp_path: Path) -> None:
    done = search(tmp_path, "grouped_keys.py", LLAMA)  # two groups of keys: three heads don't fit

    assert json.loads(done.stdout)["unmade"] == {"num_attention_heads": [3]}


def test_a_full_disk_leaves_no_model_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "config.json").write_text(json.dumps(LLAMA))
    whet(tmp_path, ["notebook"])  # what whet itself keeps of the project is there now
    most = 1953  # blocks of 512 bytes, a megabyte: the weights are larger

    done = whet(
        tmp_path, ["tiny", "reference", "--params", "1M", "-o", "small"],
        "sh", "-c", f'ulimit -f {most}; exec "$@"', "sh",
    )  # fmt: skip

    assert done.returncode == DiskFull.exit_code, done.stdout + done.stderr
    assert "no space left" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"reference", "state", "tmp"}
    assert not list((tmp_path / "tmp").glob("whet-*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_leaves_nothing_and_the_next_start_removes_what_a_kill_has_left(
    tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "slow.py").write_text(
        "import pathlib, time\nfrom torch import nn\n\n\n"
        "class Slow(nn.Linear):\n"
        "    def __init__(self, width=512):\n"
        "        super().__init__(width, width)\n"
        "        pathlib.Path('begun').touch()\n"
        "        time.sleep(60)\n"
    )
    (tmp_path / "tmp").mkdir()
    running = subprocess.Popen(
        [sys.executable, "-m", "whet", "tiny", "slow:Slow", "-o", "small"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=_environment(tmp_path),
    )  # fmt: skip
    gives_up_at = time.monotonic() + 120
    while not (tmp_path / "begun").exists() and time.monotonic() < gives_up_at:
        time.sleep(0.01)
    running.send_signal(number)
    _, said = running.communicate(timeout=30)

    assert running.returncode == (130 if number == signal.SIGINT else -number), said
    if number == signal.SIGKILL:
        assert list((tmp_path / "tmp").glob("whet-*"))
        whet(tmp_path, ["log"])
    assert not (tmp_path / "small").exists()
    assert not list((tmp_path / "tmp").glob("whet-*"))


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
