"""The files of a tokenizer that is cut agree: every place that names a token has its new number."""

import json
from pathlib import Path
from typing import Any

import pytest

from whet.agent.tiny.token_choice import TooFewTokens, byte_letters
from whet.agent.tiny.token_numbers import named_ids, renumbered, with_rows
from whet.agent.tiny.tokenizer_cut import NoTokenizer, SmallTokenizer, small_tokenizer

LETTERS = sorted(byte_letters())
WORDS = ["th", "the", "in", "an", "and"]
MERGES = [["t", "h"], ["th", "e"], ["i", "n"], ["a", "n"], ["an", "d"]]
BASE = {token: number for number, token in enumerate(["<pad>", *LETTERS, *WORDS])}
ADDED = ["<s>", "</s>", "<|user|>", "<|end|>", "<image>", *(f"<spare{n}>" for n in range(200))]
NUMBERS = {**BASE, **{token: len(BASE) + place for place, token in enumerate(ADDED)}}
NAMED = {"<pad>", "<s>", "</s>", "<|user|>", "<|end|>", "<image>"}


def _added(token: str, *, special: bool = True) -> dict[str, Any]:
    return {"id": NUMBERS[token], "content": token, "special": special}


def _write(folder: Path, **files: object) -> None:
    for name, content in files.items():
        stem, _, ending = name.rpartition("_")
        (folder / f"{stem}.{ending}").write_text(json.dumps(content), "utf-8")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with a tokenizer on the level of bytes, and settings that name its tokens."""
    single = {"single": [], "special_tokens": {"<s>": {"ids": [NUMBERS["<s>"]], "tokens": ["<s>"]}}}
    ends = {
        "type": "RobertaProcessing",
        "sep": ["</s>", NUMBERS["</s>"]],
        "cls": ["<s>", NUMBERS["<s>"]],
    }
    _write(
        tmp_path,
        tokenizer_json={
            "added_tokens": [_added("<pad>"), *map(_added, ADDED)],
            "post_processor": {"type": "Sequence", "processors": [single, ends]},
            "padding": {"pad_id": NUMBERS["<pad>"], "pad_token": "<pad>"},
            "model": {"type": "BPE", "vocab": BASE, "merges": MERGES},
        },
        tokenizer_config_json={
            "added_tokens_decoder": {str(NUMBERS[each]): {"content": each} for each in ADDED},
            "eos_token": {"content": "<|end|>"},
        },
        special_tokens_map_json={"bos_token": "<s>"},
        config_json={
            "vocab_size": 512,
            "text_config": {"vocab_size": 300, "eos_token_id": [NUMBERS["</s>"]]},
            "vision_config": {"vocab_size": 64},
            "image_token_index": NUMBERS["<image>"],
            "pad_token_id": 511,
        },
        generation_config_json={
            "suppress_tokens": [NUMBERS["a"], NUMBERS["<spare7>"]],
            "forced_decoder_ids": [[1, NUMBERS["<s>"]], [2, None]],
        },
    )
    (tmp_path / "chat_template.jinja").write_text("<|user|>{{ messages }}", "utf-8")
    return tmp_path


def _read(small: SmallTokenizer, name: str) -> Any:
    return json.loads(small.files[name])


def test_each_file_has_the_new_numbers(model: Path) -> None:
    small = small_tokenizer(str(model), 300)

    whole = _read(small, "tokenizer.json")
    numbers = whole["model"]["vocab"] | {
        each["content"]: each["id"] for each in whole["added_tokens"]
    }
    assert sorted(numbers.values()) == list(range(small.size))
    assert {numbers[token]: token for token in numbers} == {
        small.ids[old]: token for token, old in NUMBERS.items() if old in small.ids
    }
    single, ends = whole["post_processor"]["processors"]
    assert single["special_tokens"]["<s>"]["ids"] == [numbers["<s>"]]
    assert (ends["sep"], ends["cls"]) == (["</s>", numbers["</s>"]], ["<s>", numbers["<s>"]])
    assert whole["padding"]["pad_id"] == numbers["<pad>"]
    assert {
        int(number): each["content"]
        for number, each in _read(small, "tokenizer_config.json")["added_tokens_decoder"].items()
    } == {each["id"]: each["content"] for each in whole["added_tokens"] if each["content"] in ADDED}
    assert small.files["chat_template.jinja"] == b"<|user|>{{ messages }}"


def test_settings_have_the_new_numbers_and_the_rows_of_the_text_alone(model: Path) -> None:
    small = small_tokenizer(str(model), 300)
    numbers = {token: small.ids[NUMBERS[token]] for token in NAMED | {"a", "and"}}

    config = small.settings("config.json", json.loads((model / "config.json").read_text()))
    assert with_rows(config, small.size, small.reference) == {
        "vocab_size": small.size,
        "text_config": {"vocab_size": small.size, "eos_token_id": [numbers["</s>"]]},
        "vision_config": {"vocab_size": 64},
        "image_token_index": numbers["<image>"],
        "pad_token_id": numbers["and"],
    }
    assert small.told == ["config.json: pad_token_id = 511 names no token; it is 261 now"]
    generation = json.loads((model / "generation_config.json").read_text())
    assert small.settings("generation_config.json", generation) == {
        "suppress_tokens": [numbers["a"]],
        "forced_decoder_ids": [[1, numbers["<s>"]], [2, None]],
    }


def test_what_nothing_names_goes_first_and_what_is_named_never(model: Path) -> None:
    floor = small_tokenizer(str(model)).floor

    fewest = small_tokenizer(str(model), floor)
    most = small_tokenizer(str(model), len(NUMBERS) - 1)

    assert floor == 256 + len(NAMED)
    assert {token for token in NAMED if NUMBERS[token] in fewest.ids} == NAMED
    assert fewest.gone == ADDED[5:]
    assert _read(fewest, "tokenizer.json")["model"]["merges"] == []
    assert most.gone == []
    assert _read(most, "tokenizer.json")["model"]["merges"] == MERGES[:-1]


def test_below_the_floor_the_floor_is_told(model: Path) -> None:
    with pytest.raises(TooFewTokens, match=r"the floor is 262 \(256 bytes and 6 tokens") as refused:
        small_tokenizer(str(model), 100)

    assert refused.value.floor == 262


def test_the_older_files_of_a_vocabulary_are_enough(tmp_path: Path) -> None:
    older = tmp_path / "older"
    older.mkdir()
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[unused1]", *"abc", "##a", "##b", "abc", "##bc"]
    (older / "vocab.txt").write_text("\n".join(tokens) + "\n", "utf-8")
    words = small_tokenizer(str(older), 9)
    (older / "vocab.txt").unlink()
    (older / "vocab.json").write_text(json.dumps(BASE), "utf-8")
    (older / "merges.txt").write_text("#version: 0.2\nt h\nth e\ni n\n", "utf-8")
    pairs = small_tokenizer(str(older), 259)

    assert words.files["vocab.txt"].decode().split() == [*tokens[:3], *"abc", "##a", "##b", "abc"]
    assert pairs.files["merges.txt"] == b"#version: 0.2\nt h\nth e\n"
    assert len(_read(pairs, "vocab.json")) == 259


@pytest.mark.parametrize(
    ("files", "message", "hint"),
    [
        (["tokenizer.model"], r"no fast one: tokenizer\.model without", "save_pretrained"),
        ([], "has no tokenizer", "copy the tokenizer's files"),
        (["tokenizer.json"], "isn't JSON", "check the file"),
    ],
)
def test_without_a_tokenizer_that_is_data_the_next_step_is_told(
    files: list[str], message: str, hint: str, tmp_path: Path
) -> None:
    for name in files:
        (tmp_path / name).write_bytes(b"\x0a\x00")

    with pytest.raises(NoTokenizer, match=message) as refused:
        small_tokenizer(str(tmp_path))
    assert hint in refused.value.hint


def test_numbers_are_looked_for_in_every_part_and_nothing_else_is_a_token() -> None:
    settings = {
        "text_config": {"bos_token_id": 3, "eos_token_id": [4, 5], "pad_token_id": -1},
        "codebook_pad_token_id": 9,
        "max_new_tokens": 7,
        "mm_tokens_per_image": 3,
        "use_cache": True,
        "lang_to_id": {"<|en|>": 4, "<|de|>": 8},
        "bad_words_ids": [[3, 4], [3, 8]],
    }

    assert sorted(named_ids(settings)) == [3, 4, 5]
    assert renumbered(settings, {3: 0, 4: 1, 5: 2}) == {
        "text_config": {"bos_token_id": 0, "eos_token_id": [1, 2], "pad_token_id": -1},
        "codebook_pad_token_id": 9,
        "max_new_tokens": 7,
        "mm_tokens_per_image": 3,
        "use_cache": True,
        "lang_to_id": {"<|en|>": 1},
        "bad_words_ids": [[0, 1]],
    }
