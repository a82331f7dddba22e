"""The numbers of tokens in the settings of a model: which of them they name, and their new numbers."""

from __future__ import annotations

import re

from .json_data import is_array, is_number, is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_ONE = re.compile(r"(?!codebook)(.*_)?token_(id|ids|index)$")
_MANY = re.compile(r"(begin_)?suppress_tokens$|(bad|force)_words_ids$")
_PLACED = "forced_decoder_ids"
_NAMED = re.compile(r"(lang|task)_to_id$")
_TEXT_PARTS = {"text_config", "decoder", "encoder", "llm_config", "language_config"}


def named_ids(settings: object) -> Iterator[int]:
    """Yield the numbers of the tokens that settings can't do without."""
    if is_object(settings):
        for key, value in settings.items():
            if _ONE.match(str(key)):
                yield from (each for each in _listed(value) if is_number(each))
            elif key == _PLACED:
                yield from (pair[1] for pair in value or () if is_number(pair[1]))
            else:
                yield from named_ids(value)


def renumbered(
    settings: Any, ids: Mapping[int, int], told: list[str] | None = None, spare: int = 0
) -> Any:
    """Return settings with the new numbers of their tokens.

    Args:
        settings: what a JSON file of the model holds.
        ids: the new number of each token that stays.
        told: what can't be renumbered is added here.
        spare: the number that stands in for one that names no token.
    """
    if not is_object(settings):
        return settings
    told = [] if told is None else told
    changed: dict[str, Any] = {}
    for key, value in settings.items():
        name = str(key)  # those of `id2label` are numbers
        if _ONE.match(name):
            changed[key] = _one(value, ids)
            if is_number(value) and value not in ids:
                told.append("{} = {} names no token; it is {} now".format(key, value, spare))
                changed[key] = spare
        elif _MANY.match(name):
            changed[key] = _many(value, ids)
        elif key == _PLACED and value:
            changed[key] = [
                [at, None if each is None else ids[each]]
                for at, each in value
                if each is None or each in ids
            ]
        elif _NAMED.match(name) and is_object(value):
            changed[key] = {name: ids[each] for name, each in value.items() if each in ids}
        else:
            changed[key] = renumbered(value, ids, told, spare)
    return changed


def with_rows(settings: Any, size: int, reference: int, *, is_text: bool = True) -> Any:
    """Return a configuration whose vocabulary has as many rows as the tokenizer has tokens.

    Args:
        settings: the configuration, or a part of it.
        size: how many tokens there are.
        reference: how many there were; a smaller vocabulary in a part that isn't about text is
            another one, of images or sounds.
        is_text: this part is about text.
    """
    if not is_object(settings):
        return settings
    changed: dict[str, Any] = {}
    for key, value in settings.items():
        if is_object(value):
            changed[key] = with_rows(value, size, reference, is_text=key in _TEXT_PARTS)
        elif "vocab_size" in str(key) and is_number(value):
            is_it = value >= reference or (key == "vocab_size" and is_text)
            changed[key] = size if is_it else value
        else:
            changed[key] = value
    return changed


def _one(value: Any, ids: Mapping[int, int]) -> object:
    if is_array(value):
        return _many(value, ids)
    return ids.get(value) if is_number(value) else value


def _many(value: object, ids: Mapping[int, int]) -> object:
    if not is_array(value):
        return value
    if value and all(is_array(each) for each in value):
        return [_many(each, ids) for each in value if all(token in ids for token in each)]
    return [ids[each] if is_number(each) else each for each in value if _stays(each, ids)]


def _stays(value: Any, ids: Mapping[int, int]) -> bool:
    return not is_number(value) or value in ids


def _listed(value: object) -> list[Any]:
    return value if is_array(value) else [value]
