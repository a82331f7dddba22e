"""A text that a regular expression matches."""

import re
from functools import lru_cache
from typing import Any

_MOST = 64
_MOST_CHARACTERS = 10_000
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
    padded = texts[0].ljust(least, "x")
    return next(
        (each for each in (*texts, padded) if len(each) >= least and re.search(pattern, each)), None
    )


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
