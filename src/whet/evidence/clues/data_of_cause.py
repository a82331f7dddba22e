"""What a cause leaves in a payload: data in the failure's message, and the records that clues name."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from whet.core.failure import Failure
from whet.core.observations.clue import Clue

_MOST_BYTES = 4 << 20
_MOST_RECORD, _MOST_SHARE, _FEW_BYTES = 400, 0.25, 400
"""A record that is most of the file, such as one line of JSON, can't be kept as it is."""
_MOST_VALUES = 6
_LEAST_DIGITS = 3
_QUOTED = re.compile(r"'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"|`([^`\n]{1,80})`")
_WORD = re.compile(r"[-+]?\w(?:[\w.,:/@+-]*\w)?")
_COUNTED = re.compile(
    r"\b(?:line|row|record|index|position|char|column|offset|entry|item|step|at|no)\W{0,3}$",
    re.IGNORECASE,
)
"""A number behind such a word is a position, which changes as the file gets smaller."""
_TOKENS = re.compile(r"\w+|[^\w\s]")


def values_of(failure: Failure | None, payload: str) -> tuple[str, ...]:
    """Return the words of a failure's message that are data of a payload, and no positions in it."""
    if failure is None:
        return ()
    message = failure.summary.removeprefix(f"{failure.signature.exception}: ")
    source = _source(failure)
    values: list[str] = []
    for word in _words(message):
        is_data = _stands_in(word, payload) and not _stands_in(word, source)
        if is_data and word not in values:
            values.append(word)
    return tuple(values[:_MOST_VALUES])


def _words(message: str) -> Iterator[str]:
    """Yield what may be data in a message: what it quotes, words, and numbers of some length."""
    for match in _QUOTED.finditer(message):
        yield next(filter(None, match.groups()))
    for match in _WORD.finditer(_QUOTED.sub(" ", message)):
        word = match.group()
        is_number = not any(each.isalpha() for each in word)
        is_short = len(word) < _LEAST_DIGITS
        if not is_short and not (is_number and _COUNTED.search(match.string[: match.start()])):
            yield word


def _stands_in(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _source(failure: Failure) -> str:
    """Return the text of the module that failed: what stands there is the programmer's own."""
    place = failure.place
    with suppress(OSError):
        if place is not None and Path(place.path).stat().st_size <= _MOST_BYTES:
            return Path(place.path).read_text("utf-8", "replace")
    return ""


def records_of(
    clues: Sequence[Clue], path: Path, text: str, cwd: str
) -> Iterator[tuple[int, re.Pattern[bytes]]]:
    """Yield the lines of a payload that clues name, each with a pattern of what is there."""
    lines = text.splitlines()
    for named, number in _places(clues):
        if Path(cwd, named) != path or not 0 < number <= len(lines):
            continue
        record = lines[number - 1].strip().rstrip(",").strip()
        is_large = len(record) > max(_FEW_BYTES, _MOST_SHARE * len(text))
        if not any(map(str.isalnum, record)) or len(record) > _MOST_RECORD or is_large:
            continue
        tokens = r"\s*".join(re.escape(each) for each in _TOKENS.findall(record))
        pattern = rf"(?<!\w){tokens}(?!\w)"
        twins = sum(each.strip().rstrip(",").strip() == record for each in lines)
        # Of a record that stands twice, both are the cause.
        both = pattern if twins == 1 else f"{pattern}[\\s\\S]*?{pattern}"
        yield number, re.compile(both.encode("utf-8", "replace"))


def _places(clues: Sequence[Clue]) -> Iterator[tuple[str, int]]:
    for clue in clues:
        yield clue.path, clue.line
        for step in clue.trail:
            yield from step.record
