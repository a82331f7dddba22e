"""Tokenizers that were trained, cut to a few hundred tokens: by their own library, texts come back."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from whet.agent.tiny.token_choice import TooFewTokens
from whet.agent.tiny.token_numbers import with_rows
from whet.agent.tiny.tokenizer_check import TEXTS, checked
from whet.agent.tiny.tokenizer_cut import SmallTokenizer, small_tokenizer

pytestmark = pytest.mark.ml
DOCS = Path(__file__).parents[2] / "docs"
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
)
TOKENS = 4000


def _texts() -> Iterator[str]:
    for page in sorted(DOCS.rglob("*.md"))[:120]:
        yield from page.read_text("utf-8").splitlines()
    yield from TEXTS


def _gpt2() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(
        vocab_size=TOKENS,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(_texts(), trainer)
    return made


def _llama() -> Any:
    from tokenizers import Tokenizer, decoders, models, normalizers, processors, trainers

    made = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
    )
    made.decoder = decoders.Sequence(
        [
            decoders.Replace("\u2581", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    fallback = [f"<0x{number:02X}>" for number in range(256)]
    special = ["<unk>", "<s>", "</s>", *fallback]
    trainer = trainers.BpeTrainer(vocab_size=TOKENS, special_tokens=special, show_progress=False)
    made.train_from_iterator(_texts(), trainer)
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]
    )
    whole = json.loads(made.to_str())
    whole["added_tokens"] = whole["added_tokens"][:3]  # the trainer's own are those of bytes too
    return Tokenizer.from_str(json.dumps(whole))


def _bert() -> Any:
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=TOKENS, special_tokens=special, show_progress=False
    )
    made.train_from_iterator(_texts(), trainer)
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


def _t5() -> Any:
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )

    made = Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    special = ["<pad>", "</s>", "<unk>", *(f"<extra_id_{number}>" for number in range(10))]
    trainer = trainers.UnigramTrainer(
        vocab_size=TOKENS, unk_token="<unk>", special_tokens=special, show_progress=False
    )
    made.train_from_iterator(_texts(), trainer)
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return made


KINDS: dict[str, tuple[Callable[[], Any], str, dict[str, Any]]] = {
    "gpt2": (_gpt2, "GPT2Tokenizer", {"eos_token": "<|endoftext|>", "bos_token": "<|endoftext|>"}),
    "llama": (
        _llama,
        "LlamaTokenizer",
        {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
    ),
    "bert": (_bert, "BertTokenizer", {"pad_token": "[PAD]", "unk_token": "[UNK]"}),
    "t5": (_t5, "T5Tokenizer", {"pad_token": "<pad>", "eos_token": "</s>", "extra_ids": 10}),
}


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model with a trained tokenizer of thousands of tokens."""
    import transformers

    train, name, settings = KINDS[request.param]
    folder = tmp_path_factory.mktemp("trained") / str(request.param)
    folder.mkdir()
    train().save(str(folder / "tokenizer.json"))
    whole = getattr(transformers, name).from_pretrained(folder, **settings)
    if request.param in {"gpt2", "llama"}:
        marks = ["<|im_start|>", "<|im_end|>"]
        whole.add_special_tokens({"additional_special_tokens": marks})
        whole.add_tokens(["wörtlich"])
        whole.add_tokens([f"<|spare{number}|>" for number in range(200)], special_tokens=True)
        whole.chat_template = CHAT
    whole.save_pretrained(folder)
    ids = {
        "decoder_start_token_id": 0,
        "bos_token_id": None,
        "eos_token_id": whole.eos_token_id,
        "pad_token_id": len(whole) + 7,
    }
    settings = {"model_type": request.param, "vocab_size": len(whole) + 32, **ids}
    (folder / "config.json").write_text(json.dumps(settings), "utf-8")
    return folder


def _written(small: SmallTokenizer, model: Path, folder: Path) -> Path:
    for name, content in small.files.items():
        (folder / name).write_bytes(content)
    config = small.settings("config.json", json.loads((model / "config.json").read_text("utf-8")))
    config = with_rows(config, small.size, small.reference)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return folder


@pytest.mark.parametrize("size", [None, 700])
def test_a_cut_tokenizer_is_as_the_real_one_in_all_that_it_knows(
    size: int | None, model: Path, tmp_path: Path
) -> None:
    small = small_tokenizer(str(model), size)
    folder = _written(small, model, tmp_path)

    whole = json.loads(small.files["tokenizer.json"])
    added = [each["content"] for each in whole["added_tokens"]]
    found = checked(str(model), str(folder), small.size, added)

    has_bytes = model.name in {"gpt2", "llama"}
    assert found["wrong"] == []
    assert found["library"] == "transformers"
    assert found["texts"] + found["unknown"] == len(TEXTS)
    assert found["unknown"] <= (0 if has_bytes else 4)
    assert small.size == (size or small.size)
    assert small.size <= 700
    assert ("<|im_end|>" in added) == has_bytes


def test_the_library_loads_it_and_numbers_stay_below_the_rows(model: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    small = small_tokenizer(str(model), 400)
    loaded = AutoTokenizer.from_pretrained(_written(small, model, tmp_path))
    loaded.save_pretrained(tmp_path / "again")
    again = AutoTokenizer.from_pretrained(tmp_path / "again")

    assert len(loaded) == small.size == 400
    for text in TEXTS:
        ids = loaded(text)["input_ids"]
        assert max(ids, default=0) < small.size
        assert again(text)["input_ids"] == ids


def test_below_the_floor_the_floor_is_told_and_at_the_floor_it_loads(
    model: Path, tmp_path: Path
) -> None:
    from transformers import AutoTokenizer

    with pytest.raises(TooFewTokens) as refused:
        small_tokenizer(str(model), 1)
    small = small_tokenizer(str(model), refused.value.floor)
    loaded = AutoTokenizer.from_pretrained(_written(small, model, tmp_path))

    assert len(loaded) == refused.value.floor
    if model.name == "gpt2":
        assert refused.value.floor == 257 + 3  # its end and what was added
        assert loaded.decode(loaded(TEXTS[7])["input_ids"]) == TEXTS[7]


def _whet(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    return subprocess.run(
        [sys.executable, "-m", "whet", "tiny", *words, "--python", sys.executable],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_a_tiny_model_has_a_row_for_each_token_and_understands_them(
    model: Path, tmp_path: Path
) -> None:
    from transformers import AutoModel, AutoTokenizer

    done = _whet(tmp_path, str(model), "-o", "small", "--tokenizer", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)

    loaded = AutoModel.from_pretrained(tmp_path / "small")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "small")
    settings = json.loads((tmp_path / "small" / "config.json").read_text("utf-8"))
    rows = loaded.get_input_embeddings().weight.shape[0]
    assert rows == len(tokenizer) == answer["tokenizer"]["tokens"] == settings["vocab_size"]
    assert settings["eos_token_id"] == tokenizer.eos_token_id
    # The reference names a row without a token; here it is one that means nothing special.
    assert settings["pad_token_id"] not in tokenizer.all_special_ids
    assert {"tokenizer", "rows of embeddings"} <= {
        each["name"] for each in answer["checks"] if each["state"] == "ok"
    }


@pytest.mark.slow
@pytest.mark.parametrize("model", ["gpt2"], indirect=True)
def test_a_tokenizer_that_can_not_be_made_is_refused_with_the_next_step(
    model: Path, tmp_path: Path
) -> None:
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "config.json").write_bytes((model / "config.json").read_bytes())
    (slow / "tokenizer.model").write_bytes(b"\x0a\x0b")

    small = _whet(tmp_path, str(model), "--tokenizer", "1")
    without = _whet(tmp_path, "slow", "--tokenizer")
    nowhere = _whet(tmp_path, "LlamaConfig", "--tokenizer", "300")

    assert (small.returncode, without.returncode, nowhere.returncode) == (64, 65, 64)
    assert "the floor is" in small.stderr
    assert "no fast one: tokenizer.model without tokenizer.json" in without.stderr
    assert "save_pretrained" in without.stderr
    assert "needs a folder with the real tokenizer" in nowhere.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["slow", "state"]


SIZES: dict[str, dict[str, Any]] = {
    "gpt2": {"n_embd": 32, "n_layer": 4, "n_head": 4},
    "llama": {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 2,
    },
    "bart": {
        "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 32,
        "decoder_ffn_dim": 32, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "kind"), [("gpt2", "gpt2"), ("llama", "llama"), ("gpt2", "bart")], indirect=["model"]
)
def test_the_rows_of_the_tokens_that_stay_are_those_of_the_real_model(
    model: Path, kind: str, tmp_path: Path
) -> None:
    import torch
    from transformers import (
        AutoModelForCausalLM,
        AutoModelForSeq2SeqLM,
        AutoTokenizer,
        BartConfig,
        GPT2Config,
        LlamaConfig,
    )

    auto = AutoModelForSeq2SeqLM if kind == "bart" else AutoModelForCausalLM
    configs = {"gpt2": GPT2Config, "llama": LlamaConfig, "bart": BartConfig}
    given = {**json.loads((model / "config.json").read_text("utf-8")), **SIZES[kind]}
    real = tmp_path / "real"
    shutil.copytree(model, real)
    torch.manual_seed(0)
    whole = auto.from_config(configs[kind](**{k: v for k, v in given.items() if k != "model_type"}))
    if kind == "bart":
        whole.final_logits_bias.normal_()
    whole.save_pretrained(real)

    words = ["--layers", "1", "--keep-weights", "--tokenizer", "400", "-o", "small", "--json"]
    done = _whet(tmp_path, "real", *words)

    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["tokenizer"]["tokens"] == 400
    small, found = auto.from_pretrained(tmp_path / "small", output_loading_info=True)
    assert not any(found.values()), found
    before, now = (AutoTokenizer.from_pretrained(tmp_path / each) for each in ("real", "small"))
    tokens = now.convert_ids_to_tokens(range(400))
    old = before.convert_tokens_to_ids(tokens)
    assert len(set(old)) == 400
    for table in ("get_input_embeddings", "get_output_embeddings"):
        rows, real_rows = (getattr(each, table)().weight for each in (small, whole))
        assert torch.equal(rows, real_rows[old])
    if kind == "bart":
        assert torch.equal(small.final_logits_bias, whole.final_logits_bias[:, old])
    assert small.config.eos_token_id == now.eos_token_id
