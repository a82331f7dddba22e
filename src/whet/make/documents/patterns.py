"""A text that a regular expression matches."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

_MOST = 64
_MOST_CHARACTERS = 10_000
_MANY, _MOST_FOR_HARD = 8, 20
"""Of a pattern with more repeats, or with one in another, only texts as short as this are tried."""
_OF_CATEGORY = {
    "DIGIT": "1", "WORD": "a", "SPACE": " ", "NOT_DIGIT": "a", "NOT_WORD": " ", "NOT_SPACE": "a",
}  # fmt: skip


@lru_cache(maxsize=1000)  # a long list asks for each of its items
def text_matching(pattern: str, least: int) -> str | None:
    """Return a text that a pattern matches, of at least so many characters if it can be.

    Returns:
        None if the pattern is none, or too hard.
    """
    parser = getattr(re, "_parser", None)
    if parser is None:
        return None
    try:
        parsed = list(parser.parse(pattern))
        texts = [_text(parsed, repeats) for repeats in (0, 1, min(least, _MOST), *range(2, _MOST))]
    except (re.error, ArithmeticError, ValueError, LookupError, RecursionError):
        return None
    fitting = [each for each in texts if len(each) >= least]
    if fitting and not any(_looks_around(parsed, is_whole=True)):
        return fitting[0]  # it was put together piece by piece
    repeats = [*_repeats(parsed, is_repeated=False)]
    most = _MOST_FOR_HARD if len(repeats) > _MANY or True in repeats else _MOST_CHARACTERS
    tried = (each for each in (*fitting, texts[0].ljust(least, "x")) if len(each) <= most)
    return next((each for each in tried if re.search(pattern, each)), None)


def _looks_around(parsed: "list[Any]", *, is_whole: bool = False) -> Iterator[bool]:
    """Yield true for each piece that asks for what stands beside it; at the ends of the whole that is nothing."""
    for place, (kind, value) in enumerate(parsed):
        if str(kind) in {"AT", "ASSERT_NOT"}:
            yield not (is_whole and place in {0, len(parsed) - 1})
        for inner in _parts(value):
            yield from _looks_around(inner)


def _repeats(parsed: "list[Any]", *, is_repeated: bool) -> Iterator[bool]:
    """Yield for each repeat of no fixed number whether it is in another one: to fail can take forever then."""
    for kind, value in parsed:
        is_open = str(kind) in {"MAX_REPEAT", "MIN_REPEAT"} and value[0] != value[1]
        if is_open:
            yield is_repeated
        for inner in _parts(value):
            yield from _repeats(inner, is_repeated=is_repeated or is_open)


def _parts(value: Any) -> "list[list[Any]]":
    """Return the patterns that a piece holds."""
    pieces: list[Any] = [*value] if value.__class__ is tuple else []
    held: list[Any] = [*pieces, *(pieces[1] if pieces and isinstance(pieces[-1], list) else ())]
    return [list(each) for each in held if type(each).__name__ == "SubPattern"]


def _text(parsed: "list[Any]", repeats: int) -> str:
    return "".join(_piece(str(kind), value, repeats) for kind, value in parsed)


def _piece(kind: str, value: Any, repeats: int) -> str:
    match kind:
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return "a" if value != ord("a") else "b"
        case "ANY":
            return "a"
        case "IN":
            return _one_of(list(value))
        case "BRANCH":
            return _text(list(value[1][0]), repeats)
        case "SUBPATTERN":
            return _text(list(value[-1]), repeats)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            low, high, inner = value
            return _times(_text(list(inner), repeats), int(min(max(low, repeats), high)))
        case "AT" | "ASSERT_NOT":
            return ""
        case _:
            raise ValueError(kind)


def _times(text: str, number: int) -> str:
    if len(text) * number > _MOST_CHARACTERS:
        raise ValueError(number)
    return text * number


def _one_of(choices: "list[tuple[object, Any]]") -> str:
    kinds = [str(kind) for kind, _ in choices]
    if kinds[0] == "NEGATE":
        rest = re.compile(f"[{''.join(map(_as_class, choices))}]")
        return next(each for each in map(chr, range(97, 0x2000)) if rest.fullmatch(each))
    kind, value = kinds[0], choices[0][1]
    if kind == "RANGE":
        return chr(value[0])
    if kind == "CATEGORY":
        return _OF_CATEGORY[str(value).removeprefix("CATEGORY_")]
    return chr(int(value))


def _as_class(choice: "tuple[object, Any]") -> str:
    kind, value = str(choice[0]), choice[1]
    if kind == "NEGATE":
        return "^"
    if kind == "RANGE":
        return f"\\u{value[0]:04x}-\\u{value[1]:04x}"
    if kind == "CATEGORY":
        letter = {"DIGIT": "d", "WORD": "w", "SPACE": "s"}[str(value).rpartition("_")[2]]
        return f"\\{letter.upper() if '_NOT_' in str(value) else letter}"
    return f"\\u{value:04x}"
