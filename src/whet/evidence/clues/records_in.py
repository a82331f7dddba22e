"""The records of a data file as spans of its text: lines, or the items of its longest JSON list."""

import json
from collections import Counter
from contextlib import suppress

from whet.core.value_class import value_class

_TABLES = (".csv", ".tsv")
SETTINGS = (".toml", ".ini", ".cfg", ".conf")
"""How the names of files of settings end."""

_NO_SETTING = ("[", "#", ";")
"""A line without its section's head stands in another section: that leaves out no setting."""

_BLANK = " \t\r\n"


@value_class
class DataRecord:
    """A record.

    Attributes:
        begin, end: its span in the text, with what separates it from the next.
        line: the number of its first line.
        text: what it says.
        column: the number of its first character, where other records are in that line too; else 0.
        stands_out: by what, among the others; empty: that wasn't looked at, or it doesn't.
    """

    begin: int
    end: int
    line: int
    text: str
    column: int = 0
    stands_out: str = ""


def records_in(name: str, text: str) -> list[DataRecord]:
    """Return the records of a file, as far as whet can tell; a head of a table or section isn't one."""
    stripped = text.lstrip("\ufeff" + _BLANK)
    if stripped[:1] in {"[", "{"}:
        with suppress(ValueError, RecursionError):
            json.loads(text.removeprefix("\ufeff"))
            return _items(text)
    lines: list[DataRecord] = []
    no_record = _NO_SETTING if name.lower().endswith(SETTINGS) else ()
    begin = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        end = begin + len(line)
        is_head = number == 1 and name.lower().endswith(_TABLES)
        if line.strip() and not is_head and not line.lstrip().startswith(no_record):
            lines.append(DataRecord(begin, end, number, line.strip()))
        begin = end
    return lines


def without(text: str, record: DataRecord) -> str:
    """Return a text without one of its records."""
    return text[: record.begin] + text[record.end :]


def _items(text: str) -> list[DataRecord]:
    """Return the items of the longest list, each with the comma behind it, of the last before it."""
    decoder = json.JSONDecoder()
    longest: list[tuple[int, int]] = []
    at = text.find("[")
    while at >= 0:
        spans = _spans(text, at, decoder)
        if len(spans) > len(longest):
            longest = spans
        at = text.find("[", spans[-1][1] if spans else at + 1)
    lines = [text.count("\n", 0, begin) + 1 for begin, _ in longest]
    in_line = Counter(lines)
    items: list[DataRecord] = []
    for number, (begin, end) in enumerate(longest):
        cut_begin, cut_end = begin, end
        if number + 1 < len(longest):
            cut_end = longest[number + 1][0]
        elif number:
            cut_begin = longest[number - 1][1]
        excerpt = " ".join(text[begin:end].split())
        line = lines[number]
        column = begin - text.rfind("\n", 0, begin) if in_line[line] > 1 else 0
        items.append(DataRecord(cut_begin, cut_end, line, excerpt, column))
    return items


def _spans(text: str, at: int, decoder: json.JSONDecoder) -> list[tuple[int, int]]:
    """Return the spans of a list's items; nothing if it isn't a list, such as inside a text."""
    spans: list[tuple[int, int]] = []
    place = at + 1
    with suppress(ValueError, RecursionError):
        while True:
            while text[place : place + 1] in set(_BLANK):
                place += 1
            _, end = decoder.raw_decode(text, place)
            spans.append((place, end))
            place = end
            while text[place : place + 1] in set(_BLANK):
                place += 1
            if text[place : place + 1] != ",":
                return spans if text[place : place + 1] == "]" else []
            place += 1
    return []
