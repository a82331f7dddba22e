"""Which tokens of a vocabulary stay: what every text needs first, then the most frequent ones.

The vocabulary is the `model` of a `tokenizer.json`. A token of byte pairs stays together with the
merge that makes it, so that each token that stays can still be made from others that stay.
"""

from __future__ import annotations

import re

from .json_data import is_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

MORE_THAN_THE_FLOOR = 64
"""How many longer tokens there are if no number is given."""

_BRACKETS = re.compile(r"[<\[].*[>\]]$")
_FALLBACK_BYTE = re.compile(r"<0x[0-9A-F]{2}>$")
_BYTES = 256
_SPACE = "\u2581"
"""What stands for a space in a vocabulary that isn't on the level of bytes."""

_PLAIN = {chr(code) for code in range(32, 127)}


class TooFewTokens(ValueError):
    """The number of tokens is below what the tokenizer needs.

    Attributes:
        floor: the smallest number.
    """

    def __init__(self, size: int, floor: int, reason: str) -> None:
        super().__init__(
            "a tokenizer of {} tokens is too small: the floor is {} ({})".format(
                size, floor, reason
            )
        )
        self.floor = floor


class Vocabulary:
    """The tokens of a tokenizer's model and what each is for.

    Attributes:
        ids: the number of each token, in their order.
        letters: the tokens of which any text can be built: each byte.
        characters: the other tokens of one character, the plain ones first.
    """

    def __init__(self, model: dict[str, Any]) -> None:
        self.model = model
        self.ids = _numbered(model)
        self._prefix = str(model.get("continuing_subword_prefix") or "")
        self._suffix = str(model.get("end_of_word_suffix") or "")
        self.letters = self._alphabet()
        single = [each for each in self.ids if self._is_character(each)]
        rest = [each for each in single if each not in self.letters]
        self.plain = [each for each in rest if self._bare(each) in _PLAIN]
        self.characters = [each for each in rest if self._bare(each) not in _PLAIN]

    def needed(self) -> set[str]:
        """Return the tokens without which no text, or no unknown one, has any numbers."""
        unknown = self.unknown()
        needed = set(self.letters) | ({_SPACE} & {*self.ids})
        if unknown is not None:
            needed.add(unknown)
        elif self.model.get("type") == "Unigram" and not self.letters:
            needed.update(self.plain, self.characters)  # it can't skip what it doesn't know
        return needed

    def unknown(self) -> str | None:
        """Return the token that stands for what the vocabulary doesn't have."""
        named = self.model.get("unk_token")
        position = self.model.get("unk_id")
        if isinstance(position, int):
            named = self.model["vocab"][position][0]
        return named if named in self.ids else None

    def chosen(self, needed: Iterable[str], size: int) -> list[str]:
        """Return the tokens that stay, in their order: at most ``size``, the needed ones among them."""
        kept = set(needed) | self.needed()
        _fill(kept, self.plain, size)
        room = size - len(kept)
        if not self.letters:
            _fill(kept, self.characters, size - (room + 1) // 2)
        _fill(kept, self._longer(kept), size)
        _fill(kept, self.characters, size)
        return [each for each in self.ids if each in kept]

    def cut(self, kept: list[str]) -> dict[str, Any]:
        """Return the model with these tokens alone, numbered in their order."""
        model = dict(self.model)
        if model.get("type") == "Unigram":
            scores = dict(reversed(model["vocab"]))
            model["vocab"] = [[each, scores[each]] for each in kept]
            if model.get("unk_id") is not None:
                model["unk_id"] = kept.index(str(self.unknown()))
            return model
        model["vocab"] = {token: number for number, token in enumerate(kept)}
        if "merges" in model:
            among = model["vocab"]
            model["merges"] = [
                merge
                for merge, parts, result in self._merges()
                if result in among and all(part in among for part in parts)
            ]
        return model

    def _alphabet(self) -> list[str]:
        if self.model.get("byte_fallback"):
            fallback = [each for each in self.ids if _FALLBACK_BYTE.match(each)]
            if len(fallback) == _BYTES:
                return fallback
        letters = byte_letters()
        if self.model.get("type") != "BPE" or not letters <= {*self.ids}:
            return []
        ending = {each + self._suffix for each in letters}
        return [each for each in self.ids if each in letters or each in ending]

    def _bare(self, token: str) -> str:
        if self._prefix and token.startswith(self._prefix):
            token = token[len(self._prefix) :]
        if self._suffix and token.endswith(self._suffix):
            token = token[: -len(self._suffix)]
        return token

    def _is_character(self, token: str) -> bool:
        return len(token) == 1 or len(self._bare(token)) == 1

    def _longer(self, kept: set[str]) -> Iterator[str]:
        """Yield the tokens of several characters, the most frequent first, as ``kept`` grows."""
        if "merges" in self.model:
            for _, parts, result in self._merges():
                if result in self.ids and all(part in kept for part in parts):
                    yield result
            return
        tokens = [each for each in self.ids if not self._is_character(each)]
        if self.model.get("type") == "Unigram":
            scores = dict(self.model["vocab"])
            tokens.sort(key=lambda each: -scores[each])
        # `[unused12]` and the like are for nobody's text.
        tokens.sort(key=lambda each: _BRACKETS.match(each) is not None)
        yield from tokens

    def _merges(self) -> Iterator[tuple[Any, tuple[str, str], str]]:
        for merge in self.model["merges"]:
            left, right = merge.split(" ", 1) if isinstance(merge, str) else merge
            end = right[len(self._prefix) :] if right.startswith(self._prefix) else right
            yield merge, (left, right), left + end


def byte_letters() -> set[str]:
    """Return the characters that stand for the 256 bytes in a vocabulary on the level of bytes."""
    shown = {*range(33, 127), *range(161, 173), *range(174, 256)}
    hidden = range(_BYTES - len(shown))
    return {chr(code) for code in shown} | {chr(_BYTES + number) for number in hidden}


def _numbered(model: dict[str, Any]) -> dict[str, int]:
    vocabulary = model["vocab"]
    if is_array(vocabulary):
        numbered: dict[str, int] = {}
        for number, (token, _) in enumerate(vocabulary):
            numbered.setdefault(token, number)
        return numbered
    return dict(sorted(vocabulary.items(), key=lambda item: item[1]))


def _fill(kept: set[str], tokens: Iterable[str], size: int) -> None:
    if len(kept) >= size:
        return
    for each in tokens:
        kept.add(each)
        if len(kept) >= size:
            return
