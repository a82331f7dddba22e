"""Records of CSV that Arrow has read: the same texts as Python finds, in a fraction of the time."""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

from whet.core.value_class import value_class
from whet.sampling.arrow_library import compute, csv_reader, pyarrow
from whet.sampling.column_values import EXACT, extreme_numbers, numbers_among
from whet.sampling.record_groups import Group
from whet.sampling.table import RowFilter, Rows
from whet.sampling.values import MISSING, Measure, may_be_number, measure_of

WORTH_BYTES = 16 << 20
"""A smaller file is read before pyarrow is even loaded."""

_BOM = b"\xef\xbb\xbf"
_SPACE = r"\x09-\x0d\x1c-\x20"
_MAY_BE_NUMBER = rf"(?i)^[{_SPACE}]*[+-]?([0-9.]+(e[+-]?[0-9]+)?|inf|infinity|nan)[{_SPACE}]*$"
_STARTS_NUMBER = rf"^[+\-.0-9nNiI{_SPACE}\x{{85}}\pZ]"
"""A text that is a number for Python and has characters beyond ASCII begins like this."""


@value_class
class ArrowTexts:
    """A batch of texts; a `Batch`.

    Attributes:
        places: where each row is.
        columns: the texts of each column; an empty one is a missing value.
    """

    places: Sequence[int]
    columns: Mapping[str, Any]

    @property
    def names(self) -> Iterable[str]:
        """The columns that were read."""
        return self.columns

    def filtered(self, wanted: RowFilter) -> "ArrowTexts":
        """Return the rows that count."""
        cells = {name: self.column(name) for name in wanted.columns}
        rows = Rows(range(len(self.places)), cells).filtered(wanted).places
        if len(rows) == len(self.places):
            return self
        pa = pyarrow()
        kept = pa.array(rows, pa.int64())
        columns = {name: column.take(kept) for name, column in self.columns.items()}
        return ArrowTexts([self.places[row] for row in rows], columns)

    def column(self, name: str) -> Sequence[object]:
        """Return the values of a column, as Python has them."""
        return [text or None for text in self.columns[name].to_pylist()]

    def firsts(self, name: str) -> Iterator[tuple[object, int]]:
        """Yield each value of a column with the place of its first row."""
        pa = pyarrow()
        rows: Any = pa.array(range(len(self.places)), pa.int64())
        table: Any = pa.Table.from_arrays([self.columns[name], rows], names=["value", "row"])
        table = table.group_by("value").aggregate([("row", "min")])
        firsts: list[int] = table.column("row_min").to_pylist()
        values: list[str] = table.column("value").to_pylist()
        for value, row in zip(values, firsts, strict=True):
            yield value or None, self.places[row]

    def extremes(self, name: str) -> Iterator[tuple[Measure, int]]:
        """Yield values of a column among which its extremes are, of equal ones the first."""
        pc = compute()
        texts = self.columns[name]
        missing = pc.index(texts, value="").as_py()
        if missing >= 0:
            yield MISSING, self.places[missing]
        for text in _extremes_of(texts if missing < 0 else texts.filter(pc.not_equal(texts, ""))):
            yield measure_of(text), self.places[pc.index(texts, value=text).as_py()]


def _extremes_of(texts: Any) -> Iterator[str]:
    """Yield the numbers and the other texts that are extremes; a few that aren't do no harm."""
    if not len(texts):
        return
    pa = pyarrow()
    pc = compute()
    if may_be_number(texts[0].as_py()):  # a cast that fails takes longer than all else here
        with suppress(pa.ArrowInvalid):
            numbers = pc.cast(texts, pa.float64())
            ends = pc.min_max(numbers).as_py()
            if max(-ends["min"], ends["max"]) < EXACT and not math.isnan(pc.sum(numbers).as_py()):
                for end in ends.values():
                    yield texts[pc.index(numbers, value=end).as_py()].as_py()
                return
    is_ascii = pc.all(pc.string_is_ascii(texts)).as_py()
    candidates = pc.match_substring_regex(texts, _MAY_BE_NUMBER if is_ascii else _STARTS_NUMBER)
    if pc.any(candidates).as_py():
        numeric = numbers_among(pc.unique(texts.filter(candidates)).to_pylist())
        yield from extreme_numbers(numeric)
        texts = texts.filter(pc.invert(pc.is_in(texts, pa.array(numeric, pa.string()))))
    if len(texts):
        lengths = pc.utf8_length(texts)
        for end in pc.min_max(lengths).values():
            yield texts[pc.index(lengths, value=end.as_py()).as_py()].as_py()


def arrow_texts(
    group: Group, names: Sequence[str], *, all_names: Sequence[str], delimiter: bytes
) -> ArrowTexts | None:
    """Return some columns of records; None: Arrow may divide them as Python doesn't.

    Args:
        group: the records.
        names: the columns.
        all_names: the names of all columns, in their order.
        delimiter: what stands between the cells.
    """
    data = b"".join(group.records)
    if not _is_alike(data, group.records, delimiter):
        return None
    pa = pyarrow()
    keys = [str(number) for number in range(len(all_names))]
    wanted = [keys[all_names.index(name)] for name in names]
    reader = csv_reader()
    try:
        table = reader.read_csv(
            pa.py_buffer(data),
            read_options=reader.ReadOptions(
                use_threads=False, column_names=keys, block_size=len(data) + 1
            ),
            parse_options=reader.ParseOptions(
                delimiter=delimiter.decode("ascii"), newlines_in_values=True
            ),
            convert_options=reader.ConvertOptions(
                column_types=dict.fromkeys(keys, pa.string()),
                include_columns=wanted,
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:  # rows of other lengths, or what isn't UTF-8
        return None
    if table.num_rows != len(group.records):
        return None
    columns = {
        name: table.column(key).combine_chunks() for name, key in zip(names, wanted, strict=True)
    }
    return ArrowTexts(group.places, columns)


def _is_alike(data: bytes, records: Sequence[bytes], delimiter: bytes) -> bool:
    """Whether a line end that divides records for Arrow does so for Python, as far as it shows."""
    if data.startswith(_BOM) or b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return False
    if data.count(b"\n") + (not data.endswith(b"\n")) == len(records):
        return True
    rows = partial(csv.reader, delimiter=delimiter.decode("ascii"))
    with suppress(csv.Error, UnicodeDecodeError):
        return all(
            len([*rows(record.decode().splitlines(keepends=True))]) == 1
            for record in records
            if record.count(b"\n") > 1
        )
    return False


@cache
def has_arrow() -> bool:
    """Whether pyarrow is installed beside whet."""
    try:
        csv_reader()
    except ImportError:
        return False
    return True
