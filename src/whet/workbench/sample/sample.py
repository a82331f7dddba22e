"""`whet sample`: some of the rows, lines or files of real data, in files of the same kind."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from whet.core.errors import BadUsage, CannotWrite, DiskFull, SampleEmpty
from whet.core.text.quantity import listed, shown_count
from whet.core.value_class import value_class
from whet.host.code.folders import MOST_BYTES, made_beside, pack_folder
from whet.host.files.files import fitting_name
from whet.sampling.arrow_conditions import filter_of
from whet.sampling.datasets_folder import is_saved_data_set
from whet.sampling.joins import Joined, join, leaders, link_of
from whet.sampling.kinds import check_name, open_source
from whet.sampling.row_condition import RowCondition
from whet.sampling.selection import DEFAULT_ROWS, Selection, Wish, select
from whet.sampling.streams import is_compressed, repack, same_compression
from whet.sampling.table import HasGaps, Link, Source, Table
from whet.workbench.files.first_reading import read_table_first_elsewhere
from whet.workbench.files.results import result_error, result_path
from whet.workbench.trials.bench import Workbench


@value_class(kw_only=True)
class SampleOptions:
    """What to sample, and how.

    Attributes:
        files: the data, as the user named it.
        result: where the sample goes; empty: beside the original.
        rows: how many rows; None: 100, or what the other wishes need.
        seed: of random rows; None: the first rows.
        each: columns of which each value is to be there.
        extremes: whether the extremes of each column are to be there.
        where: the condition on rows; empty: none.
        keys: how tables refer to each other, as the user wrote it.
        has_header: the first line of CSV has the names of its columns.
    """

    files: tuple[str, ...]
    result: str = ""
    rows: int | None = None
    seed: int | None = None
    each: tuple[str, ...] = ()
    extremes: bool = False
    where: str = ""
    keys: tuple[str, ...] = ()
    has_header: bool = True


@value_class(kw_only=True)
class Taken:
    """What was taken of one table.

    Attributes:
        table: its name.
        unit: one of its rows, in a word.
        rows: how many rows the sample has.
        of: how many there are; None: whet didn't read to the end.
        how: how they were chosen, in words.
    """

    table: str
    unit: str
    rows: int
    of: int | None
    how: str


@value_class(kw_only=True)
class SampledFile:
    """A file and its sample.

    Attributes:
        original: as the user named it.
        result: where the sample is.
        kind: what it is, such as ``Parquet``.
        before_bytes: size of the original.
        after_bytes: size of the sample.
        taken: what was taken of its tables.
    """

    original: str
    result: str
    kind: str
    before_bytes: int
    after_bytes: int
    taken: tuple[Taken, ...]


@value_class(kw_only=True)
class Samples:
    """All samples of one use.

    Attributes:
        files: each file and its sample.
        remarks: what else there is to say.
    """

    files: tuple[SampledFile, ...]
    remarks: tuple[str, ...] = ()


@dataclass(slots=True)
class Data:
    """One file or folder.

    Attributes:
        shown: as the user named it.
        path: where it is.
        source: what it holds.
        names: its tables' names among all tables, to their names in the file.
    """

    shown: str
    path: Path
    source: Source
    names: dict[str, str] = field(default_factory=dict[str, str])


class Sampler:
    """Samples the same files, as often as asked."""

    def __init__(self, folder: Path, options: SampleOptions) -> None:
        """Open the files.

        Raises:
            BadUsage, ColumnMissing, PayloadMissing, PayloadUnreadable, PayloadEmpty, CannotSample:
                as they say.
        """
        self._options = options
        where = RowCondition.parse(options.where) if options.where else None
        self._where = None if where is None else filter_of(where)
        self._rows, self._skip = options.rows, 0
        self.data: list[Data] = []
        self._tables: dict[str, Table] = {}
        for name in options.files:
            self._open(folder, name)
        self._asked = [link_of(text, self._tables) for text in options.keys]
        own = [self._own_link(data, link) for data in self.data for link in data.source.links()]
        self._links = list(dict.fromkeys((*self._asked, *own)))
        self._check_columns()

    def _open(self, folder: Path, shown: str) -> None:
        path = Path(os.path.abspath(folder / shown))
        if any(path == data.path for data in self.data):
            raise BadUsage(f"`{shown}` is named twice", hint="name each file once")
        if path.is_file() or is_saved_data_set(path):
            read_table_first_elsewhere(path)
        source = open_source(path, shown, has_header=self._options.has_header)
        data = Data(shown, path, source)
        for table in source.tables:
            name = table.name if table.name not in self._tables else f"{shown}:{table.name}"
            data.names[name] = table.name
            self._tables[name] = table
        self.data.append(data)

    def _own_link(self, data: Data, link: Link) -> Link:
        names = {inner: name for name, inner in data.names.items()}
        return replace(link, table=names[link.table], other=names[link.other])

    def _check_columns(self) -> None:
        """Refuse a wish that no table can fulfil."""
        asked = (*self._options.each, *(self._where.columns if self._where else ()))
        if asked and not any(_has(table, asked) for table in self._tables.values()):
            next(iter(self._tables.values())).check(asked)
            if len(self._tables) > 1:
                raise BadUsage(
                    f"no table has all of the columns {listed([f'`{each}`' for each in asked])}",
                    hint=f"the tables are {listed([f'`{each}`' for each in self._tables])}",
                )

    def _wish_for(self, table: Table) -> Wish:
        """Return what is wanted of a table; what names columns goes to the tables that have them."""
        options = self._options
        has_each = bool(options.each) and _has(table, options.each)
        has_where = self._where is not None and _has(table, self._where.columns)
        return Wish(
            rows=self._rows,
            seed=options.seed,
            each=options.each if has_each else (),
            extremes=options.extremes,
            where=self._where if has_where else None,
            skip=self._skip,
        )

    @property
    def rows(self) -> int:
        """How many rows were asked for."""
        return DEFAULT_ROWS if self._options.rows is None else self._options.rows

    @property
    def unit(self) -> str:
        """One row of the first table, in a word."""
        return next(iter(self._tables.values())).unit

    @property
    def needs(self) -> bool:
        """Whether some rows have to be there in a sample of any size."""
        return bool(self._options.each) or self._options.extremes

    def least(self) -> int:
        """Return the fewest rows that a sample may have: those that have to be there, or one."""
        if not self.needs:
            return 1
        joined = self.choose(None)
        return max(len(joined.places[name]) for name in joined.selections)

    def most(self) -> int:
        """Return how many rows count in the largest table that leads."""
        counts = [0]
        for name in leaders(self._tables, self._links):
            where = self._wish_for(self._tables[name]).where
            found = select(self._tables[name], Wish(rows=1, seed=0, where=where))
            counts.append((found.of if found.matching is None else found.matching) or 0)
        return max(counts)

    def choose(self, rows: int | None, skip: int = 0) -> Joined:
        """Choose the rows.

        Args:
            rows: how many.
            skip: how many of these are left out again: those that would be taken first.

        Raises:
            SampleEmpty: if there are none.
            SampleTooSmall, KeysDoNotJoin, ColumnMissing, CannotSample: as they say.
        """
        self._rows, self._skip = rows, skip
        joined = join(self._tables, self._links, self._wish_for, self._asked)
        if not any(joined.places.values()):
            names = listed([f"`{data.shown}`" for data in self.data])
            if self._options.where:
                units = next(iter(self._tables.values())).unit
                raise SampleEmpty(
                    f"no {units} of {names} matches `{self._options.where}`",
                    hint="a missing value matches nothing but `is null`",
                )
            raise SampleEmpty(f"{names} has no rows", hint="name a file with data")
        return joined

    def write(self, data: Data, joined: Joined, target: Path) -> None:
        """Write the sample of one file.

        Args:
            data: the file.
            joined: the rows of all files.
            target: where the sample goes: an empty file or folder.
        """
        chosen = {inner: sorted(joined.places[name]) for name, inner in data.names.items()}
        data.source.write(chosen, target)

    def remarks(self, joined: Joined) -> tuple[str, ...]:
        """Return what there is to say of samples that are written."""
        sources = (data.source for data in self.data)
        gaps = (source.left_out() for source in sources if isinstance(source, HasGaps))
        return (*joined.orphans, *chain.from_iterable(gaps))

    def taken(self, data: Data, joined: Joined) -> tuple[Taken, ...]:
        """Return what was taken of one file, in words."""
        return tuple(
            Taken(
                table=name,
                unit=self._tables[name].unit,
                rows=len(joined.places[name]),
                of=joined.selections[name].of
                if name in joined.selections
                else self._tables[name].count,
                how=self._how(name, joined),
            )
            for name in data.names
        )

    def _how(self, name: str, joined: Joined) -> str:
        selection = joined.selections.get(name)
        if selection is None:
            referring = dict.fromkeys(
                f"`{link.table}`" for link in self._links if link.other == name
            )
            return f"those that the rows of {listed(list(referring))} refer to"
        rows = len(joined.places[name])
        how = how_chosen(self._wish_for(self._tables[name]), selection, rows, self._options.where)
        if rows in {len(selection.places), selection.of}:
            return how
        return f"{how}, and those that other rows refer to"


def how_chosen(wish: Wish, selection: Selection, rows: int, where: str) -> str:
    """Return how rows were chosen, in words."""
    words = [
        f"{shown_count(count, 'value')} of `{name}`"
        for name, count in zip(wish.each, selection.each, strict=True)
    ]
    if wish.extremes:
        words.append(shown_count(selection.extremes, "extreme"))
    needed = f"with {listed(words)}" if words else ""
    fills = wish.fills or 0
    if selection.of is not None and rows == (
        selection.of if selection.matching is None else selection.matching
    ):
        fill = "all of them"
    elif fills and wish.seed is not None:
        fill = f"random, seed {wish.seed}"
    else:
        fill = "the first ones" if fills else ""
    if wish.skip and fill:
        drawn = f"{fill}, " if wish.seed is not None else ""
        fill = f"{drawn}from number {wish.skip + 1:,} on"
    among = ""
    if wish.where is not None:
        count = "" if selection.matching is None else f" ({selection.matching:,} do)"
        among = f"among those that match `{where}`{count}"
    return ", ".join(part for part in (fill, among, needed) if part)


def _has(table: Table, columns: Sequence[str]) -> bool:
    """Whether a table has columns; what may have any says so only when it is read."""
    there: Collection[str] = table.columns
    return all(name in there for name in columns) or table.is_open


def sample(bench: Workbench, options: SampleOptions) -> Samples:
    """Write a sample of each file; the originals stay as they are.

    Raises:
        BadUsage, CannotWrite, ResultInUse: if a sample has no place.
        WhetError: as `Sampler` does.
    """
    sampler = Sampler(bench.project.folder, options)
    results = places_of_results(bench, sampler, options.result)
    joined = sampler.choose(options.rows)
    files = tuple(
        write_sample(bench, sampler, data, joined, results[data.path]) for data in sampler.data
    )
    return Samples(files=files, remarks=sampler.remarks(joined))


def places_of_results(bench: Workbench, sampler: Sampler, output: str) -> Mapping[Path, Path]:
    """Return where the sample of each file goes.

    Raises:
        BadUsage, CannotWrite, ResultInUse: if one has no place.
    """
    results: dict[Path, Path] = {}
    for data in sampler.data:
        if output and data.path.is_file() and not Path(output).is_dir():
            check_name(data.source, Path(output), f"-o {output}")
        results[data.path] = result_path(
            bench, data.path, output,
            other_results=[*results.values()], is_alone=len(sampler.data) == 1, called=_sample_name,
        )  # fmt: skip
    return results


def write_sample(
    bench: Workbench, sampler: Sampler, data: Data, joined: Joined, result: Path
) -> SampledFile:
    """Write the sample of one file.

    Raises:
        CannotWrite, DiskFull: if it can't be written: whatever was there is as it was.
    """
    try:
        with made_beside(result, bench.cleanup_journal) as beside:
            fill_beside(sampler, data, joined, beside)
            if data.path.is_file() and not same_compression(data.path.name, result.name):
                with made_beside(beside, bench.cleanup_journal) as packed:
                    repack(beside, packed, result.name)
    except (DiskFull, CannotWrite, OSError) as error:
        raise result_error(error, result) from error
    size = _size_of(result)
    if size <= MOST_BYTES:  # a later sample may replace what the notebook holds too
        content = pack_folder(result) if result.is_dir() else result.read_bytes()
        bench.payload_store.keep(content)
    return SampledFile(
        original=data.shown,
        result=str(result),
        kind=data.source.kind,
        before_bytes=_size_of(data.path),
        after_bytes=size,
        taken=sampler.taken(data, joined),
    )


def fill_beside(sampler: Sampler, data: Data, joined: Joined, path: Path) -> None:
    """Make the sample of one file; who may not read the original may not read it."""
    mode = data.path.stat().st_mode & 0o777
    if data.path.is_dir():
        path.mkdir(mode | 0o700)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode | 0o600))
    sampler.write(data, joined, path)


def _sample_name(original: Path) -> Path:
    """Return ``t.sample.csv`` for ``t.csv``, and ``t.sample.csv.gz`` for ``t.csv.gz``."""
    end = "".join(original.suffixes[-2:]) if is_compressed(original.name) else original.suffix
    stem = original.name.removesuffix(end) if end else original.name
    return original.with_name(fitting_name(stem, f".sample{end}"))


def _size_of(path: Path) -> int:
    if not path.is_dir():
        return path.stat().st_size
    return sum(each.lstat().st_size for each in path.rglob("*") if not each.is_dir())
