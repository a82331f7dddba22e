"""Fewer layers of real checkpoints of transformers: the libraries load them, with the real weights."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from whet.workbench.tiny.fewer_layers import LayersWanted, RealModel

if find_spec("transformers") is None:
    pytest.skip("`make test-ml` brings transformers", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

SMALL = {
    "hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
    "vocab_size": 300, "num_hidden_layers": 12, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
BERT = {
    "hidden_size": 32, "num_hidden_layers": 6, "num_attention_heads": 4, "intermediate_size": 64,
}  # fmt: skip
IMAGES = {**BERT, "image_size": 32, "patch_size": 8}
TWO = {
    "d_model": 32, "encoder_layers": 4, "decoder_layers": 6, "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
}  # fmt: skip

MODELS: dict[str, tuple[str, dict[str, Any], dict[str, tuple[int, ...]]]] = {
    "llama": ("LlamaForCausalLM", SMALL, {"model.layers": (0, 1)}),
    "tied": ("LlamaForCausalLM", {**SMALL, "tie_word_embeddings": True}, {"model.layers": (0, 1)}),
    "gpt2": (
        "GPT2LMHeadModel",
        {"n_embd": 32, "n_layer": 6, "n_head": 4, "vocab_size": 300},
        {"transformer.h": (0, 1)},
    ),
    "windows": ("Gemma3ForCausalLM", {**SMALL, "head_dim": 8}, {"model.layers": (0, 5)}),
    "experts": (
        "Qwen3MoeForCausalLM",
        {**SMALL, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
         "mlp_only_layers": [0, 1, 4], "head_dim": 8},
        {"model.layers": (0, 2)},
    ),
    "period": (
        "JambaForCausalLM",
        {**SMALL, "num_experts": 4, "mamba_dt_rank": 8, "mamba_d_state": 4,
         "use_mamba_kernels": False},
        {"model.layers": (0, 1, 2, 3, 4)},  # the fifth is the first with attention
    ),
    "bart": (
        "BartForConditionalGeneration",
        {**TWO, "vocab_size": 300, "pad_token_id": 1, "eos_token_id": 2},
        {"model.decoder.layers": (0, 1), "model.encoder.layers": (0, 1)},
    ),
    "t5": (
        "T5ForConditionalGeneration",
        {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 6, "num_decoder_layers": 4,
         "num_heads": 4, "vocab_size": 300},
        {"decoder.block": (0, 1), "encoder.block": (0, 1)},
    ),
    "bert": ("BertForMaskedLM", {**BERT, "vocab_size": 300}, {"bert.encoder.layer": (0, 1)}),
    "images": ("ViTForImageClassification", IMAGES, {"vit.encoder.layer": (0, 1)}),
    "text and images": (
        "CLIPModel",
        {"text_config": {**BERT, "vocab_size": 300}, "vision_config": IMAGES},
        {"text_model.encoder.layers": (0, 1), "vision_model.encoder.layers": (0, 1)},
    ),
    "states": (
        "MambaForCausalLM",
        {"hidden_size": 32, "num_hidden_layers": 6, "vocab_size": 300},
        {"backbone.layers": (0, 1)},
    ),
}  # fmt: skip


def saved(name: str, folder: Path, *, is_pickled: bool = False) -> Any:
    """Save a model with random weights, in several files if it is large; return its weights."""
    import torch
    import transformers

    class_name, settings, _ = MODELS[name]
    torch.manual_seed(0)
    kind = getattr(transformers, class_name)
    model = kind(kind.config_class(**settings))
    model.save_pretrained(folder, max_shard_size="150KB")
    if is_pickled:
        for each in folder.glob("*.safetensors*"):
            each.unlink()
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    return model.state_dict()


def whet(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    return subprocess.run(
        [sys.executable, "-m", "whet", "tiny", *words, "--python", sys.executable],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_the_library_finds_every_weight_of_the_layers_that_stay(name: str, tmp_path: Path) -> None:
    import torch
    import transformers

    class_name, _, expected = MODELS[name]
    real = tmp_path / "real"
    weights = saved(name, real)
    whole = transformers.AutoConfig.from_pretrained(real).to_dict()
    model = RealModel(real, whole)

    is_by_rule = name == "period"
    cut = model.write(
        tmp_path / "small", model.chosen(LayersWanted(most=2), is_from_first=is_by_rule)
    )

    loaded, found = getattr(transformers, class_name).from_pretrained(
        tmp_path / "small", output_loading_info=True
    )
    assert {each.name: each.kept for each in cut.stacks} == expected
    assert not any(found.values()), found
    assert cut.bytes_read < cut.bytes_there
    for stack in cut.stacks:
        for new, old in enumerate(stack.kept):
            one = {
                key: value
                for key, value in loaded.state_dict().items()
                if key.startswith(f"{stack.name}.{new}.")
            }
            for key, value in one.items():
                rest = key.removeprefix(f"{stack.name}.{new}.")
                assert torch.equal(value, weights[f"{stack.name}.{old}.{rest}"])


@pytest.mark.parametrize(
    ("name", "form"), [("windows", "shards"), ("period", "shards"), ("tied", "pickle")]
)
def test_a_user_gets_fewer_layers_of_the_real_model(name: str, form: str, tmp_path: Path) -> None:
    saved(name, tmp_path / "real", is_pickled=form == "pickle")

    done = whet(tmp_path, "real", "--layers", "2", "--keep-weights", "-o", "small", "--json")

    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    (stack,) = answer["layers"]["stacks"]
    assert stack["kept"] == list(MODELS[name][2]["model.layers"])
    assert {each["name"]: each["state"] for each in answer["checks"]} == {
        "load": "ok",
        "forward": "ok",
        "generate": "ok",
        "shared weights": "none" if name == "period" else "ok",
    }
    assert answer["params"] < answer["reference_params"]
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_layers_of_a_period_are_not_loaded_if_they_do_not_fit_it(tmp_path: Path) -> None:
    saved("period", tmp_path / "real")

    done = whet(tmp_path, "real", "--layers", "0,4", "--keep-weights")

    assert done.returncode == 65
    assert "fail the check `load`: missing keys: " in done.stderr
    assert "--layers 0,1,2,3" in done.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["real", "state"]
