"""A cut tokenizer beside the real one, by the libraries that are installed: the same texts come back."""

from __future__ import annotations

import importlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

TEXTS = (
    "Hello, world!",
    "The quick brown fox jumps over the lazy dog.",
    "two  spaces, a\ttab,\nlines\r\n\n    and an indent ",
    "def f(x):\n    return x ** 2 + [i for i in range(3)][0]\n",
    "3.14159 1,000,000 -7 1e-9 0x1F",
    "café naïve straße Ωμέγα Привет שלום مرحبا",
    "日本語のテキスト 한국어 中文",
    "🙂 👩‍👩‍👧 🇪🇺 e\u0301 \u00a0 \u200b \ufeff",
    "https://example.org/a?b=c&d=%20#e <tag attr='x'> C:\\path",
    "",
)
_CHAT = (
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi."},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Bye."},
)
_SHOWN = 3
_ANYTHING = (Exception,)
"""What the libraries raise about a file or a template."""


def checked(reference: str, small: str, size: int, added: list[str]) -> dict[str, Any]:
    """Compare a small tokenizer with the real one.

    Args:
        reference: the folder of the real one.
        small: the folder of the small one.
        size: how many tokens it has.
        added: its added tokens.

    Returns:
        The library that read both, how many texts came back, in how many there is something that the
        small one doesn't know, and what is wrong.
    """
    try:
        library, pair = _loaded(reference, small)
    except ImportError:
        return {"library": None, "texts": 0, "unknown": 0, "wrong": []}
    except _ANYTHING as error:
        return {"library": "", "texts": 0, "unknown": 0, "wrong": [_brief(error)]}
    wrong = list(pair.wrong(size, added))
    back, unknown = 0, 0
    for text in TEXTS:
        if pair.small.knows(text):
            back += 1
            wrong += pair.differences(text)
        else:
            unknown += 1
    return {"library": library, "texts": back, "unknown": unknown, "wrong": wrong[:_SHOWN]}


class _Reader:
    """A tokenizer by one of the two libraries: `tokenizers`, or `transformers` with that inside."""

    def __init__(self, inner: Any, whole: Any = None) -> None:
        self.inner = inner
        self.whole = whole
        unknown = getattr(whole, "unk_token_id", None) if whole is not None else None
        if unknown is None:
            unknown = inner.token_to_id(getattr(inner.model, "unk_token", None) or "<unk>")
        self.unknown = unknown

    def size(self) -> int:
        return len(self.whole) if self.whole is not None else self.inner.get_vocab_size()

    def ids(self, text: str, second: str | None = None) -> list[int]:
        if self.whole is not None:
            ids: list[int] = self.whole(text, second)["input_ids"]
            return ids
        return list(self.inner.encode(text, second).ids)

    def text(self, ids: list[int]) -> str:
        if self.whole is not None:
            return str(self.whole.decode(ids))
        return str(self.inner.decode(ids, skip_special_tokens=False))

    def knows(self, text: str) -> bool:
        return self.unknown not in self.ids(text)

    def special(self, text: str, second: str | None = None) -> list[str]:
        """Return the special tokens that the post-processor adds."""
        own = {
            number: each.content for number, each in self.inner.get_added_tokens_decoder().items()
        }
        return [own[each] for each in self.ids(text, second) if each in own]

    def chat(self) -> str | None:
        if getattr(self.whole, "chat_template", None) is None:
            return None
        try:
            return str(self.whole.apply_chat_template(list(_CHAT), tokenize=False))
        except _ANYTHING as error:  # a template may refuse a role; both must then
            return _brief(error)


class _Pair:
    def __init__(self, real: _Reader, small: _Reader) -> None:
        self.real = real
        self.small = small

    def wrong(self, size: int, added: list[str]) -> Iterator[str]:
        """Yield what differs that has nothing to do with a text."""
        if self.small.size() != size:
            yield "{} tokens are loaded and not {}".format(self.small.size(), size)
        for each in added:
            number = self.small.inner.token_to_id(each)
            if number is None or not 0 <= number < size:
                yield "{} has the number {}".format(each, number)
            elif self._times(self.small, each) != self._times(self.real, each):
                yield "{} in a text is split".format(each)
        yield from self._same(_named)
        yield from self._same(lambda each: each.special("a"))
        yield from self._same(lambda each: each.special("a", "b"))
        yield from self._same(_Reader.chat)

    def differences(self, text: str) -> Iterator[str]:
        """Yield in what a text comes back differently."""
        real, small = (each.text(each.ids(text)) for each in (self.real, self.small))
        if real != small:
            yield "{!r} comes back as {!r}, and from the real one as {!r}".format(text, small, real)

    def _times(self, reader: _Reader, token: str) -> int:
        return reader.ids("a{}b".format(token)).count(reader.inner.token_to_id(token))

    def _same(self, question: Callable[[_Reader], object]) -> Iterator[str]:
        real, small = question(self.real), question(self.small)
        if real != small:
            yield "{!r} and not {!r}".format(small, real)


def _named(reader: _Reader) -> object:
    named: dict[str, Any] = getattr(reader.whole, "special_tokens_map", None) or {}
    return {key: value for key, value in named.items() if isinstance(value, str)}


def _loaded(reference: str, small: str) -> tuple[str, _Pair]:
    try:
        auto = importlib.import_module("transformers").AutoTokenizer
    except ImportError:
        reader = importlib.import_module("tokenizers").Tokenizer
        files = [os.path.join(each, "tokenizer.json") for each in (reference, small)]
        if not os.path.isfile(files[0]):
            raise
        real, cut = (_Reader(reader.from_file(each)) for each in files)
        return "tokenizers", _Pair(real, cut)
    loaded = [auto.from_pretrained(each, local_files_only=True) for each in (reference, small)]
    real, cut = (_Reader(each.backend_tokenizer, each) for each in loaded)
    return "transformers", _Pair(real, cut)


def _brief(error: Exception) -> str:
    return "{}: {}".format(type(error).__name__, str(error).strip().split("\n")[0][:200])
