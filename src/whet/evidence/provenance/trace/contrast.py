"""What sets a record apart from the others of its file: a field that is empty, no number, or far too large."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from whet.core.text.quantity import shown_count
from whet.core.text.record import MalformedRecordError, as_record
from whet.evidence.provenance.trace.oddness import odd_in

_LEAST_OTHERS, _MOST_OTHERS = 5, 5000
_DELIMITERS = (",", ";", "\t", "|")
_MOST_SHOWN = 40
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGITS = re.compile(r"\d+")


def contrast(lines: Sequence[str], line: int, about: Sequence[str] = ()) -> str:
    """Say what sets a line apart from the others of its file; empty: nothing does, or too much.

    Args:
        lines: of the file.
        line: the number of the line.
        about: values that the failure is about: a field with one of these comes first.
    """
    records = _records(lines[:_MOST_OTHERS])
    own = records.pop(line, None)
    if own is None or len(records) < _LEAST_OTHERS:
        return ""
    counts = Counter(len(each) for each in records.values())
    (usual, times), *_ = counts.most_common(1)
    if times == len(records) and len(own) != usual:
        return f"it has {shown_count(len(own), 'field')}; the other {times:,} have {usual:,}"
    others = [each for each in records.values() if each.keys() == own.keys()]
    if len(others) < _LEAST_OTHERS:
        return ""
    found = {
        name: said
        for name, value in own.items()
        if (said := _apart(name, value, [each[name] for each in others]))
    }
    asked = [said for name, said in found.items() if own[name] in about]
    told = asked or list(found.values())
    return told[0] if len(told) == 1 else ""


def no_numbers(lines: Sequence[str], name: str) -> list[int]:
    """Return the lines in which a column holds no number, if it does in at least five and in most."""
    cells = {n: each.get(f"`{name}`") for n, each in _records(lines[:_MOST_OTHERS]).items()}
    known = {n: each for n, each in cells.items() if each is not None and each.strip()}
    odd = [n for n, each in known.items() if _number(each) is None]
    return odd if len(known) - len(odd) >= max(_LEAST_OTHERS, len(odd)) else []


def _apart(name: str, value: str, others: Sequence[str]) -> str:
    """Say how a field of one record differs from that of all others."""
    count, said = f"the other {len(others):,}", f"`{value[:_MOST_SHOWN]}`"
    if not value.strip():
        full = all(each.strip() for each in others)
        return f"{name} is empty; none of {count} is" if full else ""
    numbers = [_number(each) for each in others]
    known = [each for each in numbers if each is not None]
    own = _number(value)
    if len(known) < len(others):
        shapes = {_shape(each) for each in others}
        is_other = len(shapes) == 1 and _shape(value) not in shapes and len(set(others)) > 1
        return f"{name} is {said}; {count} are like `{others[0]}`" if is_other else ""
    if own is None:
        return f"{name} is {said}, which is no number; {count} are numbers"
    odd = odd_in([*known, own])
    if odd is None or odd.place != len(known):
        return ""
    return f"{name} is {own:,.12g}; {count} lie between {odd.least:,.12g} and {odd.most:,.12g}"


def _shape(text: str) -> str:
    return _DIGITS.sub("9", _LETTERS.sub("a", text))


def _number(text: str) -> float | None:
    with suppress(ValueError):
        number = float(text)
        return number if abs(number) < float("inf") else None
    return None


def _records(lines: Sequence[str]) -> dict[int, Mapping[str, str]]:
    """Return the records of a table or of lines of JSON, by their lines."""
    filled = {n: text for n, text in enumerate(lines, 1) if text.strip()}
    objects = dict(_objects(filled))
    if len(objects) > _LEAST_OTHERS:
        return objects
    delimiter = max(_DELIMITERS, key=lambda each: sum(each in text for text in filled.values()))
    table = {n: text for n, text in filled.items() if delimiter in text and text[:1] != "#"}
    try:
        cells = {
            n: next(csv.reader([text], delimiter=delimiter), list[str]())
            for n, text in table.items()
        }
    except csv.Error:  # a cell that is too long, or a line with another end in it
        return {}
    if not cells:
        return {}
    first, *_ = cells
    rows = {n: each for n, each in cells.items() if n != first}
    names = cells[first]
    is_header = not any(_number(each) is not None for each in names) and any(
        _number(each) is not None for row in rows.values() for each in row
    )
    if not is_header or len(set(names)) != len(names):
        rows, names = cells, []
    return {
        n: {
            (f"`{names[place]}`" if place < len(names) else f"field {place + 1}"): cell.strip()
            for place, cell in enumerate(row)
        }
        for n, row in rows.items()
    }


def _objects(lines: Mapping[int, str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    for number, line in lines.items():
        with suppress(ValueError, RecursionError, MalformedRecordError):
            if line.lstrip()[:1] == "{":
                found = as_record(json.loads(line.strip().rstrip(",")), "line")
                yield number, {f"`{name}`": _plain(each) for name, each in found.items()}


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
