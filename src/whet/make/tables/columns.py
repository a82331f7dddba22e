"""The columns of a table, as one writes them on a command line, and the values in them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import cycle, islice
from random import Random
from typing import TypeAlias

from whet.core.errors import BadUsage
from whet.core.value_class import value_class
from whet.make.edges import BYTES, DATES, TEXTS, TIMES
from whet.make.elements.dtypes import DTYPES, Dtype, Number, dtype_named
from whet.make.elements.fills import FILLS, Filling, edges_of, numbers_of
from whet.make.elements.guards import FIRST, LAST, guard_bits
from whet.make.memory import check_memory
from whet.make.words import unknown_word

Value: TypeAlias = Number | str | bytes | date | None

OTHER_TYPES = ("str", "date", "datetime", "bytes")
_NUMBER_TYPES = [each.name for each in DTYPES.values() if each.sort != "complex" and each.code]
TYPES = (*_NUMBER_TYPES, *OTHER_TYPES)
"""What a column may hold."""

_ALIASES = {
    "string": "str",
    "text": "str",
    "object": "str",
    "timestamp": "datetime",
    "binary": "bytes",
}
_FORM = re.compile(r"(?P<name>.+?)(:(?P<type>\w+)(?P<null>\?)?)?")
_BYTES_OF_A_VALUE = 64
_EACH_NULL = 3
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_FIRST_DAY, _FIRST_SECOND = date(2024, 1, 1), datetime.fromisoformat("2024-01-01T00:00:00")
_DAYS, _LENGTH = 10_000, 8


@value_class(kw_only=True)
class Column:
    """A column.

    Attributes:
        name: its name.
        type: one of `TYPES`.
        is_nullable: every third value is missing.
        real: what it holds in the file that it is like, if that is none of `TYPES`, such as a list.
    """

    name: str
    type: str
    is_nullable: bool = False
    real: str = ""

    def __str__(self) -> str:
        return f"{self.name}:{self.type}{'?' if self.is_nullable else ''}"

    @property
    def dtype(self) -> Dtype | None:
        """The type of its numbers; None: it holds something else."""
        return None if self.type in OTHER_TYPES else DTYPES[self.type]


def columns_named(text: str) -> list[Column]:
    """Return the columns of a text such as ``id:int64,name:str?``.

    Raises:
        BadUsage: if a type isn't known, a name comes twice, or there is none.
    """
    columns = [_column(word.strip()) for word in text.split(",") if word.strip()]
    names = [each.name for each in columns]
    twice = next((each for each in names if names.count(each) > 1), None)
    if not columns or twice is not None:
        raise BadUsage(
            "a table needs a column" if twice is None else f"there are two columns `{twice}`",
            hint="name them: `--columns id:int64,name:str?`",
        )
    return columns


def _column(word: str) -> Column:
    match = _FORM.fullmatch(word)
    assert match is not None, "a word isn't empty"
    return Column(
        name=match["name"],
        type=type_named(match["type"] or "int64"),
        is_nullable=bool(match["null"]),
    )


def type_named(name: str) -> str:
    """Return the type of a column by one of its names.

    Raises:
        BadUsage: if there is none, with the closest names.
    """
    word = _ALIASES.get(name, name)
    if word in TYPES:
        return word
    try:
        known = dtype_named(word).name
    except BadUsage:
        known = ""
    if known not in TYPES:
        raise unknown_word("type of a column", name, TYPES)
    return known


@value_class(kw_only=True)
class FilledTable:
    """A table that was made.

    Attributes:
        columns: its columns.
        values: theirs, in the same order, each as long as the table.
    """

    columns: Sequence[Column]
    values: Sequence[Sequence[Value]]

    @property
    def rows(self) -> "list[tuple[Value, ...]]":
        """Its rows."""
        return list(zip(*self.values, strict=True))

    def beginning(self, rows: int) -> "FilledTable":
        """Return its first rows."""
        return replace(self, values=[column[:rows] for column in self.values])

    def without(self, text: str) -> "FilledTable":
        """Return it with an empty text for each of some kind, for a library that can't hold it."""
        values = [["" if each == text else each for each in column] for column in self.values]
        return replace(self, values=values)


def filled_table(columns: Sequence[Column], rows: int, filling: Filling) -> FilledTable:
    """Return a new table.

    Args:
        columns: its columns.
        rows: how many rows it has.
        filling: with what it is filled: numbers as an array of that shape is; guards are the first
            and the last row, in each column that has room for them.

    Raises:
        BadUsage: if there is no such fill, or a table can't have it.
        NotEnoughMemory: if it is larger than what the machine has left.
    """
    if filling.name not in FILLS:
        raise unknown_word("fill of a table", filling.name, FILLS)
    if rows < 0:
        raise BadUsage(f"a table can't have {rows} rows", hint="0 rows or more")
    check_memory(rows * len(columns) * _BYTES_OF_A_VALUE, f"a table of {rows} rows")
    shape = (rows, len(columns))
    values = [_values(column, at, shape, filling) for at, column in enumerate(columns)]
    if filling.name == "deadbeef":
        for column, made in zip(columns, values, strict=True):
            _put_guards(column, made)
    return FilledTable(columns=columns, values=values)


def _values(column: Column, at: int, shape: tuple[int, int], filling: Filling) -> list[Value]:
    rows, width = shape
    dtype = column.dtype
    made: Iterable[Value]
    if filling.name == "edge":
        made = islice(cycle(_EDGES[column.type] if dtype is None else edges_of(dtype)), rows)
    elif dtype is not None:
        made = islice(_numbers(filling, shape, dtype), at, None, width)
    elif filling.name == "random":
        made = islice(_RANDOM[column.type](Random(f"{filling.seed} {at}")), rows)
    elif column.type == "str" and filling.name == "constant":
        made = [str(filling.value)] * rows
    elif column.type == "str" and filling.name == "coordinates":
        made = map(str, islice(_numbers(filling, shape, DTYPES["int64"]), at, None, width))
    else:
        made = map(_COUNTED[column.type], range(1, rows + 1), [column.name] * rows)
    if dtype is not None and dtype.sort == "bool":
        made = (bool(each) for each in made)
    if not column.is_nullable:
        return list(made)
    return [None if row % _EACH_NULL == _EACH_NULL - 1 else each for row, each in enumerate(made)]


def _put_guards(column: Column, made: list[Value]) -> None:
    guards: Sequence[Value] = ()
    dtype = column.dtype
    if column.type == "str":
        guards = (FIRST, LAST)
    elif column.type == "bytes":
        guards = (bytes.fromhex(FIRST), bytes.fromhex(LAST))
    elif dtype is not None and dtype.sort != "bool":
        bits = guard_bits(dtype.width)
        guards = dtype.decoded(b"".join(each.to_bytes(dtype.width, "little") for each in bits))
    if guards and made:
        made[-1], made[0] = guards[1], guards[0]


def _numbers(filling: Filling, shape: tuple[int, int], dtype: Dtype) -> Sequence[Number]:
    """Return the numbers of a whole table; where a type can't hold the fill: counted."""
    try:
        content = dtype.encoded(numbers_of(filling, shape, dtype))
    except BadUsage:
        if filling.name == "coordinates" and dtype.sort != "bool":
            raise
        content = dtype.encoded(numbers_of(Filling(), shape, dtype))
    return dtype.decoded(content)


def _words(draw: Random) -> Iterator[Value]:
    while True:
        yield "".join(_LETTERS[int(draw.random() * len(_LETTERS))] for _ in range(_LENGTH))


def _days(draw: Random) -> Iterator[Value]:
    while True:
        yield _FIRST_DAY - timedelta(days=int(draw.random() * _DAYS))


def _seconds(draw: Random) -> Iterator[Value]:
    while True:
        yield _FIRST_SECOND - timedelta(seconds=int(draw.random() * _DAYS * 86400))


def _raw(draw: Random) -> Iterator[Value]:
    while True:
        yield bytes(int(draw.random() * 256) for _ in range(_LENGTH))


_RANDOM: dict[str, Callable[[Random], Iterator[Value]]] = {
    "str": _words, "date": _days, "datetime": _seconds, "bytes": _raw,
}  # fmt: skip
_COUNTED: dict[str, Callable[[int, str], Value]] = {
    "str": lambda place, name: f"{name}{place}",
    "date": lambda place, _name: _FIRST_DAY + timedelta(days=place - 1),
    "datetime": lambda place, _name: _FIRST_SECOND + timedelta(hours=place - 1),
    "bytes": lambda place, _name: place.to_bytes(8, "big").lstrip(b"\x00"),
}
_EDGES: dict[str, Sequence[Value]] = {
    "str": TEXTS,
    "date": DATES,
    "datetime": TIMES,
    "bytes": BYTES,
}
