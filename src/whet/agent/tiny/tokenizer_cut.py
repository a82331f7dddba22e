"""A tokenizer of few tokens made from a real one: its files are data here, and no library is needed.

What the model's files name stays: special tokens, those of the post-processor, of the chat
template, and those that settings name by number. Tokens keep their order and get new numbers.
"""

from __future__ import annotations

import json
import os
import re

from .json_data import as_json, is_array, is_object, items_of, read_object, read_text
from .token_choice import MORE_THAN_THE_FLOOR, TooFewTokens, Vocabulary
from .token_numbers import named_ids, renumbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

_SETTINGS = ("config.json", "generation_config.json", "tokenizer_config.json")
_WORDS = (
    "tokenizer_config.json",
    "special_tokens_map.json",
    "config.json",
    "processor_config.json",
)
_TEMPLATES = ("chat_template.jinja", "chat_template.json")
_NAMES_OF_OTHERS = re.compile(
    r"tokenizer\.model|.*spiece.*\.model|tekken\.json|.*\.tiktoken$|.*\.spm$"
)
_FEW = 64
_PLAIN_NAME = re.compile(r"<\|?/?[A-Za-z_]+\|?>$|\[[A-Z]+\]$")
_NEXT = (
    "python -c 'from transformers import AutoTokenizer as T; "
    'T.from_pretrained("{0}").save_pretrained("{0}")' + "' writes one"
)


class NoTokenizer(ValueError):
    """The folder has no tokenizer that can be cut as data.

    Attributes:
        hint: the next step.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class SmallTokenizer:
    """The files of a tokenizer with fewer tokens.

    Attributes:
        files: the content of each file by its name.
        ids: the new number of each token that stays, by its old one.
        size: how many tokens there are.
        reference: how many there were: one more than the largest number.
        floor: the fewest that there can be.
        added: the added tokens that stay.
        gone: added tokens that nothing names, which are left out.
        told: what else a reader must know.
    """

    def __init__(self, source: Source, kept: list[str], added: list[str], floor: int) -> None:
        old = source.ids
        self.ids = {old[token]: number for number, token in enumerate([*kept, *added])}
        self.size = len(self.ids)
        self.reference = max(old.values()) + 1
        self.floor = floor
        among = {*kept, *added}
        self.added = [each for each in source.added if each in among]
        self.gone = [each for each in source.added if each not in among]
        names = [*kept, *added]
        named = source.named()
        ordinary = (place for place in reversed(range(self.size)) if names[place] not in named)
        self._spare = next(ordinary, self.size - 1)
        self.told: list[str] = []
        self.files: dict[str, bytes] = {}
        self._write(source, kept)

    def settings(self, name: str, read: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of a file with the new numbers of their tokens."""
        told: list[str] = []
        changed: dict[str, Any] = renumbered(dict(read), self.ids, told, self._spare)
        self.told += ["{}: {}".format(name, each) for each in told]
        return changed

    def _write(self, source: Source, kept: list[str]) -> None:
        model = source.vocabulary.cut(kept)
        for name, read in source.templates.items():
            self.files[name] = read.encode("utf-8")
        if source.whole is not None:
            whole = dict(source.whole, model=model)
            self._renumber_parts(whole)
            self.files["tokenizer.json"] = as_json(whole)
        self._write_lists(source, model)
        for name in ("special_tokens_map.json", "tokenizer_config.json"):
            if name in source.json_files:
                changed = self.settings(name, source.json_files[name])
                self.files[name] = as_json(self._without_gone(changed))
        if "added_tokens.json" in source.json_files:
            numbers = source.json_files["added_tokens.json"]
            self.files["added_tokens.json"] = as_json(
                {token: self.ids[old] for token, old in numbers.items() if old in self.ids}
            )

    def _write_lists(self, source: Source, model: Mapping[str, Any]) -> None:
        """Write the older files of the same vocabulary, if there were any."""
        if "vocab.txt" in source.present:
            tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
            self.files["vocab.txt"] = "".join(each + "\n" for each in tokens).encode("utf-8")
        if "vocab.json" in source.present:
            self.files["vocab.json"] = as_json(model["vocab"])
        if "merges.txt" in source.present and "merges" in model:
            merges = (each if isinstance(each, str) else " ".join(each) for each in model["merges"])
            self.files["merges.txt"] = "\n".join(["#version: 0.2", *merges, ""]).encode("utf-8")

    def _renumber_parts(self, whole: dict[str, Any]) -> None:
        whole["added_tokens"] = [
            dict(each, id=self.ids[each["id"]])
            for each in whole.get("added_tokens") or ()
            if each["id"] in self.ids
        ]
        whole["post_processor"] = self._processor(whole.get("post_processor"))
        if whole.get("padding"):
            padding = whole["padding"]
            whole["padding"] = dict(padding, pad_id=self.ids.get(padding["pad_id"], 0))

    def _processor(self, processor: Any) -> Any:
        if not is_object(processor):
            return processor
        changed = dict(processor)
        for key in ("sep", "cls"):  # of BertProcessing and RobertaProcessing
            if is_array(processor.get(key)):
                token, number = processor[key]
                changed[key] = [token, self.ids[number]]
        if is_object(processor.get("special_tokens")):  # of TemplateProcessing
            changed["special_tokens"] = {
                name: dict(each, ids=[self.ids[number] for number in each["ids"]])
                for name, each in processor["special_tokens"].items()
            }
        if is_array(processor.get("processors")):
            changed["processors"] = [self._processor(each) for each in processor["processors"]]
        return changed

    def _without_gone(self, settings: dict[str, Any]) -> dict[str, Any]:
        changed = dict(settings)
        decoder = settings.get("added_tokens_decoder")
        if is_object(decoder):
            changed["added_tokens_decoder"] = {
                str(self.ids[int(number)]): each
                for number, each in decoder.items()
                if int(number) in self.ids
            }
        return changed


class Source:
    """The tokenizer in a folder, read as data.

    Attributes:
        whole: what `tokenizer.json` holds; None if there are only the older files.
        vocabulary: its tokens.
        ids: the number of each token, added ones among them.
        added: the added tokens, in their order.
        templates: the texts of the chat templates, by the names of their files.
        json_files: what the other files hold.
        present: the names of the files in the folder.
    """

    def __init__(self, folder: str) -> None:
        self.present = {*os.listdir(folder)}
        self.json_files = {
            name: _read(folder, name)
            for name in {*_SETTINGS, *_WORDS, "added_tokens.json"}
            if name in self.present
        }
        self.whole: dict[str, Any] | None = None
        self.vocabulary = Vocabulary(self._model(folder))
        self.templates = {
            name: read_text(os.path.join(folder, name))
            for name in (*_TEMPLATES, *_more_templates(folder))
            if os.path.isfile(os.path.join(folder, name))
        }
        self.ids = dict(self.vocabulary.ids)
        whole: dict[str, Any] = self.whole or {}
        numbers = {each["content"]: each["id"] for each in whole.get("added_tokens") or ()}
        numbers.update(self.json_files.get("added_tokens.json") or {})
        self.ids.update({each: number for each, number in numbers.items() if each not in self.ids})
        self.added = sorted(numbers, key=lambda each: self.ids[each])

    def named(self) -> set[str]:
        """Return the tokens that the files name, by their texts or numbers."""
        texts = {number: token for token, number in self.ids.items()}
        numbers = {each for name in _SETTINGS for each in named_ids(self.json_files.get(name))}
        named = {texts[each] for each in numbers if each in texts}
        for name in _WORDS:
            named.update(_words(self.json_files.get(name)))
        whole: dict[str, Any] = self.whole or {}
        named.update(_of_processor(whole.get("post_processor")))
        named.update(_words(whole.get("padding")))
        named.update(self._in_templates())
        ordinary = [
            each["content"]
            for each in items_of(whole.get("added_tokens"))
            if not each.get("special")
        ]
        if len(ordinary) <= _FEW:
            named.update(ordinary)  # you, or a trainer, added them; thousands are reserves
        if self.whole is None:
            named.update(each for each in self.vocabulary.ids if _PLAIN_NAME.match(each))
        return named & {*self.ids}

    def _in_templates(self) -> Iterator[str]:
        settings = self.json_files.get("tokenizer_config.json") or {}
        text = "\n".join([*self.templates.values(), json.dumps(settings.get("chat_template"))])
        for each in self.added:
            # A template may put `<|` and `|>` around the name of a role itself.
            if each in text or each.strip("<|>[]/") in ("system", "user", "assistant", "tool"):
                yield each

    def _model(self, folder: str) -> dict[str, Any]:
        if "tokenizer.json" in self.present:
            self.whole = _read(folder, "tokenizer.json")
            model = self.whole.get("model")
            if not is_object(model) or "vocab" not in model:
                raise NoTokenizer(
                    "`{}/tokenizer.json` has no model with a vocabulary".format(folder),
                    "check the file, or copy it again",
                )
            model.setdefault("type", "BPE" if "merges" in model else "WordPiece")
            return model
        if {"vocab.json", "merges.txt"} <= self.present:
            lines = read_text(os.path.join(folder, "merges.txt")).splitlines()
            merges = [each for each in lines if each and not each.startswith("#version")]
            vocabulary = _read(folder, "vocab.json")
            ending = "</w>" if any(each.endswith("</w>") for each in vocabulary) else None
            return {
                "type": "BPE",
                "end_of_word_suffix": ending,
                "vocab": vocabulary,
                "merges": merges,
            }
        if "vocab.txt" in self.present:
            tokens = read_text(os.path.join(folder, "vocab.txt")).split("\n")
            tokens = [each.rstrip("\r") for each in tokens if each.rstrip("\r")]
            return {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "vocab": {token: number for number, token in enumerate(tokens)},
            }
        raise _without_one(folder, self.present)


def small_tokenizer(folder: str, size: int | None = None) -> SmallTokenizer:
    """Return the tokenizer of a folder with fewer tokens.

    Args:
        folder: the folder of a model.
        size: how many tokens; None: 64 more than the fewest.

    Raises:
        NoTokenizer: if there is none that is data.
        TooFewTokens: if the size is below the floor.
    """
    source = Source(folder)
    vocabulary = source.vocabulary
    named = source.named() | vocabulary.needed()
    floor = len(named)
    if size is None:
        plain = sum(each not in named for each in vocabulary.plain)
        size = floor + plain + MORE_THAN_THE_FLOOR
    if size < floor:
        raise TooFewTokens(size, floor, _of_what(vocabulary, named))
    all_added = named.union(source.added)
    if len(all_added.union(vocabulary.plain)) <= size:
        named = all_added
    outside = [each for each in source.added if each not in vocabulary.ids and each in named]
    within = [each for each in named if each in vocabulary.ids]
    kept = vocabulary.chosen(within, size - len(outside))
    return SmallTokenizer(source, kept, outside, floor)


def _of_what(vocabulary: Vocabulary, named: set[str]) -> str:
    letters = len(vocabulary.letters)
    rest = len(named) - letters
    plural = (
        " that the model's files name"
        if rest == 1
        else "s that the model's files or all texts need"
    )
    tokens = "{} token{}".format(rest, plural)
    return "{} bytes and {}".format(letters, tokens) if letters else tokens


def _without_one(folder: str, present: Iterable[str]) -> NoTokenizer:
    other = sorted(filter(is_of_another, present))
    if not other:
        return NoTokenizer(
            "`{}` has no tokenizer: neither tokenizer.json nor vocab.txt".format(folder),
            "copy the tokenizer's files there, or leave `--tokenizer` out",
        )
    message = "`{}` has a tokenizer, but no fast one: {} without tokenizer.json"
    return NoTokenizer(message.format(folder, ", ".join(other)), _NEXT.format(folder))


def is_of_another(name: str) -> bool:
    """Whether a file is that of a tokenizer without a fast version."""
    return _NAMES_OF_OTHERS.match(name) is not None


def _words(settings: Any) -> Iterator[str]:
    """Yield what settings such as ``eos_token`` and ``additional_special_tokens`` name."""
    if not is_object(settings):
        return
    for key, value in settings.items():
        if key.endswith("_token"):
            yield from _contents([value])
        elif key.endswith("special_tokens"):
            yield from _contents(items_of(value))


def _contents(values: list[Any]) -> Iterator[str]:
    for each in values:
        content = each.get("content") if is_object(each) else each
        if isinstance(content, str):
            yield content


def _of_processor(processor: Any) -> Iterator[str]:
    if not is_object(processor):
        return
    for key in ("sep", "cls"):
        if is_array(processor.get(key)):
            yield processor[key][0]
    for each in items_of(processor.get("special_tokens")):
        yield from each["tokens"]
    for each in processor.get("processors") or ():
        yield from _of_processor(each)


def _more_templates(folder: str) -> list[str]:
    inner = os.path.join(folder, "additional_chat_templates")
    names = sorted(os.listdir(inner)) if os.path.isdir(inner) else []
    return ["additional_chat_templates/" + each for each in names]


def _read(folder: str, name: str) -> dict[str, Any]:
    try:
        return read_object(os.path.join(folder, name))
    except ValueError as error:
        raise NoTokenizer(str(error), "check the file, or copy it again") from error
