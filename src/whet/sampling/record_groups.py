"""Records of a text file, many at a time: the lines of a block are split by C, and few of them looked at."""

import re
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import BinaryIO, TypeAlias

from whet.core.value_class import value_class

BLOCK_BYTES = 1 << 18
_LEAST_BYTES = 1 << 16
_MOST_END_BYTES = 2  # CR LF

MOST_QUOTED_BYTES = 16 << 20
"""A quoted cell is no longer: its closing quote is missing."""


@value_class
class Group:
    """Records that follow each other.

    Attributes:
        places: where each begins.
        records: the bytes of each, with its line end.
        end: where the last one ends.
    """

    places: list[int]
    records: list[bytes]
    end: int

    def only(self, counts: Callable[[bytes], bool]) -> "Group":
        """Return the records that count."""
        chosen = [number for number, record in enumerate(self.records) if counts(record)]
        if len(chosen) == len(self.records):
            return self
        places = [self.places[number] for number in chosen]
        return Group(places, [self.records[number] for number in chosen], self.end)


Blocks: TypeAlias = Callable[[BinaryIO, int], Iterator[list[bytes]]]
"""Yields the lines of a stream from where it stands, about so many bytes at once."""

Groups: TypeAlias = Callable[[BinaryIO, int], Iterator[Group]]
"""Yields the records of a stream from where it stands, about so many bytes at once."""


def _by_newline(stream: BinaryIO, size: int) -> Iterator[list[bytes]]:
    """Yield lines that LF or CR LF ends."""
    while lines := stream.readlines(size):
        yield lines


def _by_return(stream: BinaryIO, size: int) -> Iterator[list[bytes]]:
    """Yield lines that CR alone ends."""
    rest = b""
    while block := stream.read(max(size, _LEAST_BYTES)):
        *whole, rest = (rest + block).split(b"\r")
        yield [line + b"\r" for line in whole]
    if rest:
        yield [rest]


def blocks_like(head: bytes) -> Blocks:
    """Return what splits a file that begins like this into lines."""
    return _by_return if b"\r" in head and b"\n" not in head else _by_newline


def line_groups(stream: BinaryIO, size: int, *, blocks: Blocks) -> Iterator[Group]:
    """Yield the lines."""
    place = stream.tell()
    for lines in blocks(stream, size):
        group = _placed(place, lines)
        yield group
        place = group.end


def json_groups(stream: BinaryIO, size: int, *, blocks: Blocks) -> Iterator[Group]:
    """Yield the lines that aren't blank."""
    for group in line_groups(stream, size, blocks=blocks):
        yield group.only(lambda record: not record.isspace())


def csv_groups(stream: BinaryIO, size: int, *, blocks: Blocks, delimiter: bytes) -> Iterator[Group]:
    """Yield the records of a CSV file; a quoted cell may hold line ends."""
    bar = re.escape(delimiter)
    cell = re.compile(
        rb'(?:"[^"]*(?:""[^"]*)*"[^"\r\n' + bar + rb']*|[^"\r\n' + bar + rb"][^\r\n" + bar + rb"]*|)"
        rb"(?:" + bar + rb"|\r?\n|\r|\Z)"
    )  # fmt: skip
    place = stream.tell()
    following = blocks(stream, size)
    for lines in following:
        group = _placed(place, _joined(lines, following, cell))
        place = group.end
        is_dense = min(map(len, group.records), default=0) > _MOST_END_BYTES
        yield group if is_dense else group.only(_is_filled)


def _placed(place: int, records: list[bytes]) -> Group:
    *places, end = accumulate(map(len, records), initial=place)
    return Group(places, records, end)


def _is_filled(record: bytes) -> bool:
    return bool(record.strip(b"\r\n"))


def _joined(
    lines: list[bytes], following: Iterator[list[bytes]], cell: re.Pattern[bytes]
) -> list[bytes]:
    """Return the records of some lines, with further ones if a quoted cell is open at their end."""
    odd = _with_odd_quotes(lines, 0)
    records: list[bytes] = []
    begin = number = 0
    while number < len(odd):
        first = odd[number]
        number += 1
        if not _is_open(lines[first], cell):
            continue
        _read_on(lines, odd, number, following)
        if number < len(odd) and _is_near(lines, first, odd[number]):
            end = odd[number] + 1
            records += lines[begin:first]
            records.append(b"".join(lines[first:end]))
            begin = end
            number += 1
    records += lines[begin:] if begin else lines
    return records


def _with_odd_quotes(lines: list[bytes], begin: int) -> list[int]:
    return [number for number in range(begin, len(lines)) if lines[number].count(b'"') % 2]


def _read_on(
    lines: list[bytes], odd: list[int], number: int, following: Iterator[list[bytes]]
) -> None:
    """Add lines until there is one more with an odd number of quotes, or they are too many."""
    added = 0
    while number >= len(odd) and added < MOST_QUOTED_BYTES:
        more = next(following, None)
        if more is None:
            return
        added += sum(map(len, more))
        begin = len(lines)
        lines += more
        odd += _with_odd_quotes(lines, begin)


def _is_near(lines: list[bytes], first: int, last: int) -> bool:
    """Whether what a quoted cell holds isn't too long for one."""
    return sum(map(len, lines[first + 1 : last])) < MOST_QUOTED_BYTES


def _is_open(line: bytes, cell: re.Pattern[bytes]) -> bool:
    """Whether a quoted cell of a line isn't closed in it."""
    position = 0
    while position < len(line):
        found = cell.match(line, position)
        if found is None or found.end() == position:
            return line[position : position + 1] == b'"'
        position = found.end()
    return False
