"""Which rows a sample takes: the first or random ones, one of each value, the extremes; in one pass."""

import heapq
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from whet.core.errors import SampleTooSmall
from whet.core.text.quantity import shown_count
from whet.core.value_class import value_class
from whet.sampling.table import Batch, RowFilter, Table
from whet.sampling.values import Measure

DEFAULT_ROWS = 100

_MOST_VALUES = 10_000
"""Without ``-n``, a column with more values than this is refused: it has one in each row."""


@value_class(kw_only=True)
class Wish:
    """What a sample is to hold.

    Attributes:
        rows: how many rows; None: 100, or what ``each`` and ``extremes`` need.
        seed: of random rows; None: the first rows.
        each: columns of which each value is to be there.
        extremes: whether the extremes of each column are to be there.
        where: what a row has to be; None: any.
        is_whole: take every row that counts.
        skip: leave out so many of the rows that would be taken first, unless they are needed.
    """

    rows: int | None = None
    seed: int | None = None
    each: tuple[str, ...] = ()
    extremes: bool = False
    where: RowFilter | None = None
    is_whole: bool = False
    skip: int = 0

    @property
    def needs(self) -> bool:
        """Whether some rows have to be there."""
        return bool(self.each) or self.extremes

    @property
    def fills(self) -> int | None:
        """How many rows to take at least, where there are so many; None: all."""
        if self.is_whole:
            return None
        return (0 if self.needs else DEFAULT_ROWS) if self.rows is None else self.rows

    @property
    def most(self) -> int:
        """More rows than this aren't needed by anything."""
        return _MOST_VALUES if self.rows is None else self.rows


@value_class(kw_only=True)
class Selection:
    """The rows that a sample takes.

    Attributes:
        places: where they are, in the order of the file.
        of: among how many rows; None: whet didn't read to the end.
        matching: how many of these match ``where``; None: there is no such condition, or as above.
        each: for each column, how many rows stand for its values.
        extremes: how many rows are extremes.
    """

    places: Sequence[int]
    of: int | None
    matching: int | None = None
    each: tuple[int, ...] = ()
    extremes: int = 0


def select(table: Table, wish: Wish) -> Selection:
    """Choose the rows of a table, in one pass over the columns that this needs.

    Raises:
        ColumnMissing: if a column isn't there.
        SampleTooSmall: if more rows are needed than were asked for.
    """
    asked = (*wish.each, *(wish.where.columns if wish.where else ()))
    table.check(asked)
    fills = wish.fills
    if table.count is not None and not wish.needs and wish.where is None:
        return _by_number(table.count, fills, wish)
    names = None if wish.extremes else tuple(dict.fromkeys(asked))
    picking = _Picking(table, wish)
    for batch in table.batches(names):
        if picking.is_full:
            break
        picking.take(batch)
    else:
        return picking.selection(is_whole=True)
    return picking.selection(is_whole=False)


def _by_number(count: int, rows: int | None, wish: Wish) -> Selection:
    """Choose among rows of which the number is known, without reading them."""
    rows = count if rows is None else min(rows, count)
    if wish.seed is None or (rows == count and not wish.skip):
        return Selection(places=range(wish.skip, rows), of=count)
    places = drawn(count, rows, wish.seed) - drawn(count, wish.skip, wish.seed)
    return Selection(places=sorted(places), of=count)


def drawn(count: int, rows: int, seed: int) -> set[int]:
    """Return some of the first numbers; with more rows it returns the same ones and others."""
    random = Random(seed)
    found: set[int] = set()
    while len(found) < rows:
        found.add(random.randrange(count))
    return found


class _Picking:
    """The rows that were picked so far."""

    def __init__(self, table: Table, wish: Wish) -> None:
        self._table = table
        self._wish = wish
        self._fills = wish.fills
        self._random = None if wish.seed is None else Random(wish.seed)
        self._filling: list[int] = []
        self._lots: list[tuple[float, int]] = []  # the lowest lots, the highest of them first
        self._values: list[dict[object, int]] = [{} for _ in wish.each]
        self._extremes: dict[tuple[str, str, bool], tuple[Measure, int]] = {}
        self._seen = 0
        self._matching = 0

    @property
    def is_full(self) -> bool:
        """Whether no later row can be taken."""
        is_first = self._random is None and not self._wish.needs
        return is_first and self._fills is not None and len(self._filling) >= self._fills

    def take(self, batch: Batch) -> None:
        """Pick rows of a batch."""
        self._seen += len(batch.places)
        if self._wish.where is not None:
            batch = batch.filtered(self._wish.where)
            self._matching += len(batch.places)
        for name, values in zip(self._wish.each, self._values, strict=True):
            self._take_each(name, values, batch)
        if self._wish.extremes:
            for name in batch.names:
                self._take_extremes(name, batch)
        self._fill(batch.places)

    def _take_each(self, name: str, values: dict[object, int], batch: Batch) -> None:
        for value, place in batch.firsts(name):
            if place < values.get(value, place + 1):
                values[value] = place
        if len(values) > self._wish.most:
            asked = f"`-n {self._wish.rows}`" if self._wish.rows is not None else "a sample"
            raise SampleTooSmall(
                f"column `{name}` of `{self._table.name}` has more than {self._wish.most} values:"
                f" {asked} can't hold a row for each",
                hint="name a column with fewer values, or a larger `-n`",
            )

    def _take_extremes(self, name: str, batch: Batch) -> None:
        for measure, place in batch.extremes(name):
            kind, size = measure
            for is_largest in (False, True):
                known = self._extremes.get((name, kind, is_largest))
                if known is None or _is_beyond(size, known[0][1], is_largest=is_largest):
                    self._extremes[name, kind, is_largest] = (measure, place)

    def _fill(self, places: Sequence[int]) -> None:
        if self._random is None:
            left = len(places) if self._fills is None else self._fills - len(self._filling)
            self._filling += places[:left]
            return
        assert self._fills is not None, "no lots are drawn where all rows are taken"
        for place in places:
            lot = self._random.random()
            if len(self._lots) < self._fills:
                heapq.heappush(self._lots, (-lot, place))
            elif self._lots and lot < -self._lots[0][0]:
                heapq.heapreplace(self._lots, (-lot, place))

    def selection(self, *, is_whole: bool) -> Selection:
        """Return what was picked.

        Args:
            is_whole: whether all rows were seen.

        Raises:
            SampleTooSmall: if more rows are needed than were asked for.
        """
        wish = self._wish
        extremes = {place for _, place in self._extremes.values()}
        needed = extremes.union(*(values.values() for values in self._values))
        if wish.rows is not None and len(needed) > wish.rows:
            raise SampleTooSmall(
                f"`-n {wish.rows}` is too few: {self._what_needs()} of `{self._table.name}` need"
                f" {shown_count(len(needed), self._table.unit)}",
                hint=f"`-n {len(needed)}`, or leave `-n` out",
            )
        chosen: set[int] = set(needed)
        filling = [place for place in self._in_turn() if place not in needed]
        left = None if self._fills is None else max(0, self._fills - len(needed))
        chosen.update(filling[wish.skip : left])
        return Selection(
            places=sorted(chosen),
            of=self._seen if is_whole else None,
            matching=self._matching if is_whole and wish.where is not None else None,
            each=tuple(map(len, self._values)),
            extremes=len(extremes),
        )

    def _in_turn(self) -> Iterator[int]:
        """Yield rows to fill up with."""
        yield from self._filling
        for _lot, place in sorted(self._lots, reverse=True):
            yield place

    def _what_needs(self) -> str:
        words = [f"the values of `{name}`" for name in self._wish.each]
        return " and ".join([*words, *(["the extremes"] if self._wish.extremes else [])])


def _is_beyond(one: Any, other: Any, *, is_largest: bool) -> bool:
    """Whether a value is smaller, or larger, than another one of its kind."""
    first, second = (other, one) if is_largest else (one, other)
    return bool(first < second)
