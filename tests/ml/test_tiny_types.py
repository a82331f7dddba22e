"""`whet tiny` keeps the type of each tensor, where they differ within a model."""

import json
import struct
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("transformers") is None:
    pytest.skip("`make test-ml` brings transformers", allow_module_level=True)

from test_tiny import made, write_config

pytestmark = [pytest.mark.ml, pytest.mark.slow]

LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
    "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 8,
    "num_key_value_heads": 4, "vocab_size": 1000,
}  # fmt: skip


def types(file: Path) -> dict[str, str]:
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    return {name: each["dtype"] for name, each in header.items() if name != "__metadata__"}


def write_checkpoint(folder: Path, **settings: object) -> None:
    """Write weights of bfloat16 with norms in float32."""
    import torch
    from safetensors.torch import save_file
    from transformers import LlamaConfig, LlamaForCausalLM

    model = LlamaForCausalLM(LlamaConfig(**{k: v for k, v in LLAMA.items() if "_" in k}))
    tensors = {
        name: each.detach().to(torch.float32 if "norm" in name else torch.bfloat16).contiguous()
        for name, each in model.named_parameters()
    }
    write_config(folder, **LLAMA, **settings)
    save_file(tensors, folder / "reference" / "model.safetensors")


@pytest.mark.parametrize("settings", [{"dtype": "bfloat16"}, {}], ids=["named", "not-named"])
def test_a_norm_of_a_checkpoint_stays_in_float32(
    tmp_path: Path, settings: dict[str, object]
) -> None:
    write_checkpoint(tmp_path, **settings)

    answer = made(tmp_path, "reference", "-o", "small")

    small = types(tmp_path / "small" / "model.safetensors")
    assert {small[name] for name in small if "norm" in name} == {"F32"}
    assert {small[name] for name in small if "norm" not in name} == {"BF16"}
    assert {each["name"]: each["state"] for each in answer["checks"]}["types of weights"] == "ok"
    config = json.loads((tmp_path / "small" / "config.json").read_text())
    assert config["dtype"] == "bfloat16"


def test_what_loading_keeps_in_float32_is_so_from_the_beginning(tmp_path: Path) -> None:
    place = write_config(
        tmp_path, model_type="t5", architectures=["T5ForConditionalGeneration"], d_model=64,
        d_ff=128, d_kv=16, num_heads=4, num_layers=2, vocab_size=1000, dtype="float16",
        decoder_start_token_id=0,
    )  # fmt: skip

    answer = made(tmp_path, place, "-o", "small")

    small = types(tmp_path / "small" / "model.safetensors")
    assert {name.rsplit(".", 2)[-2] for name in small if small[name] == "F32"} == {"wo"}
    assert {each["state"] for each in answer["checks"]} == {"ok"}


def test_a_model_that_a_module_holds_keeps_its_types(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import bfloat16, nn\n\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, width=512):\n"
        "        super().__init__()\n"
        "        self.width = width\n"
        "        self.into = nn.Linear(width, width)\n"
        "        self.norm = nn.LayerNorm(width)\n\n"
        "    def forward(self, values):\n"
        "        return self.norm(self.into(values.to(self.into.weight.dtype)).float())\n\n"
        "net = Net().to(bfloat16)\n"
        "net.norm.float()\n"
    )

    made(tmp_path, "net:net", "-o", "small")

    small = types(tmp_path / "small" / "model.safetensors")
    assert small == {
        "into.weight": "BF16", "into.bias": "BF16", "norm.weight": "F32", "norm.bias": "F32",
    }  # fmt: skip
