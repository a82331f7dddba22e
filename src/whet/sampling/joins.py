"""Related tables sampled together: what the rows of one refer to in another comes along."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from whet.core.errors import BadUsage, KeysDoNotJoin
from whet.core.text.quantity import shown_count
from whet.sampling.arrow_conditions import mask_of_keys
from whet.sampling.columns import close_names
from whet.sampling.selection import Selection, Wish, select
from whet.sampling.table import Link, RowFilter, Table
from whet.sampling.values import key_text

_MOST_ROUNDS = 1000
"""Rows that refer to others of their own table are followed this far."""

_EXAMPLES = 3


def link_of(text: str, tables: Mapping[str, Table]) -> Link:
    """Read ``orders.customer=customers.id``.

    Raises:
        BadUsage: if it has another form, or names a table that isn't there.
        ColumnMissing: if a column isn't there.
    """
    left, equals, right = text.partition("=")
    table, column = _place_of(left.strip(), text if equals else "", tables)
    other, other_column = _place_of(right.lstrip("=").strip(), text, tables)
    tables[table].check((column,))
    tables[other].check((other_column,))
    return Link(table, (column,), other, (other_column,))


def _place_of(text: str, whole: str, tables: Mapping[str, Table]) -> tuple[str, str]:
    names = [name for name in tables if text.startswith(f"{name}.") and len(text) > len(name) + 1]
    if names:
        name = max(names, key=len)
        return name, text[len(name) + 1 :]
    if not whole or "." not in text:
        raise BadUsage(
            f"`--keys {whole or text}` doesn't say which columns join",
            hint="write `--keys orders.customer=customers.id`",
        )
    name = text.partition(".")[0]
    raise BadUsage(
        f"`--keys {whole}` names a table `{name}` that isn't there",
        hint=close_names(name, tables),
    )


@dataclass(slots=True)
class Joined:
    """The rows that are taken of each table.

    Attributes:
        selections: how the first rows were chosen, by table.
        places: where all rows are, by table.
        orphans: what refers to nothing, in words.
    """

    selections: dict[str, Selection] = field(default_factory=dict[str, Selection])
    places: dict[str, set[int]] = field(default_factory=dict[str, "set[int]"])
    orphans: list[str] = field(default_factory=list[str])


def join(
    tables: Mapping[str, Table],
    links: Sequence[Link],
    wish_for: Callable[[Table], Wish],
    asked: Iterable[Link] = (),
    most_rounds: int = _MOST_ROUNDS,
) -> Joined:
    """Choose rows of the tables that refer to others, then the rows that these refer to.

    Args:
        tables: by name.
        links: how they refer to each other.
        wish_for: what is wanted of a table that leads.
        asked: the links that the user named: of these some values have to join.
        most_rounds: rows that refer to others of their own table are followed this far.

    Raises:
        KeysDoNotJoin: if no value does.
        ColumnMissing, SampleTooSmall: as `select`.
    """
    joined = Joined()
    for name in leaders(tables, links):
        selection = select(tables[name], wish_for(tables[name]))
        joined.selections[name] = selection
        joined.places[name] = set(selection.places)
    for name in tables:
        joined.places.setdefault(name, set())
    followed: dict[Link, set[tuple[str, ...]]] = {link: set() for link in links}
    waiting = [link for link in links if joined.places[link.table]]
    for _ in range(most_rounds):
        if not waiting:
            break
        link = waiting.pop(0)
        if _follow(link, tables, joined, followed[link], must_join=link in asked):
            waiting += [each for each in links if each.table == link.other and each not in waiting]
    if waiting:
        tables_left = " and ".join(dict.fromkeys(f"`{link.table}`" for link in waiting))
        joined.orphans.append(
            f"rows of {tables_left} refer to rows that aren't in the sample:"
            f" whet follows {most_rounds:,} steps from row to row"
        )
    return joined


def leaders(tables: Mapping[str, Table], links: Sequence[Link]) -> list[str]:
    """Return the tables that nothing refers to; of a circle of them, the first one."""
    reached: set[str] = set()
    found: list[str] = []
    referred = {link.other for link in links if link.other != link.table}
    for name in (*(each for each in tables if each not in referred), *tables):
        if name in reached:
            continue
        found.append(name)
        waiting = [name]
        while waiting:
            each = waiting.pop()
            if each not in reached:
                reached.add(each)
                waiting += [link.other for link in links if link.table == each]
    return sorted(found, key=list(tables).index)


def _follow(
    link: Link,
    tables: Mapping[str, Table],
    joined: Joined,
    known: set[tuple[str, ...]],
    *,
    must_join: bool,
) -> bool:
    """Add the rows that one table's rows refer to in another; return whether there were new ones."""
    places = joined.places[link.table]
    wanted = _keys_at(tables[link.table], link.columns, places) - known
    if not wanted:
        return False
    is_first = not known
    known |= wanted
    rows, found = _rows_with(tables[link.other], link.other_columns, wanted)
    if must_join and is_first and not found:
        raise _do_not_join(link, wanted, tables[link.other])
    if len(found) < len(wanted):
        missing = shown_count(len(wanted) - len(found), "value")
        joined.orphans.append(
            f"{missing} of {len(wanted)} in `{link.text.partition('=')[0]}`"
            f" refer to no row of `{link.other}`, as in the original"
        )
    before = len(joined.places[link.other])
    joined.places[link.other] |= rows
    return len(joined.places[link.other]) > before


def _keys_at(table: Table, columns: Sequence[str], places: set[int]) -> set[tuple[str, ...]]:
    """Return the keys in some rows of a table; one with a missing part is none."""
    found: set[tuple[str, ...]] = set()
    last = max(places)
    for batch in table.batches(columns):
        values = [batch.column(name) for name in columns]
        for row, place in enumerate(batch.places):
            if place in places:
                key = _key([column[row] for column in values])
                if key is not None:
                    found.add(key)
        if len(batch.places) and batch.places[-1] >= last:
            break
    return found


def _rows_with(
    table: Table, columns: Sequence[str], keys: set[tuple[str, ...]]
) -> tuple[set[int], set[tuple[str, ...]]]:
    """Return the rows that have one of the keys, and which of the keys they have."""
    rows: set[int] = set()
    found: set[tuple[str, ...]] = set()
    wanted = RowFilter(
        tuple(columns),
        lambda row: _key([row[name] for name in columns]) in keys,
        partial(mask_of_keys, columns=tuple(columns), keys=keys),
    )
    for whole in table.batches(columns):
        batch = whole.filtered(wanted)
        values = [batch.column(name) for name in columns]
        for row, place in enumerate(batch.places):
            key = _key([column[row] for column in values])
            if key is not None:
                rows.add(place)
                found.add(key)
    return rows, found


def _key(values: Sequence[object]) -> tuple[str, ...] | None:
    texts = [text for text in map(key_text, values) if text is not None]
    return tuple(texts) if len(texts) == len(values) else None


def _do_not_join(link: Link, wanted: set[tuple[str, ...]], other: Table) -> KeysDoNotJoin:
    left, _, right = link.text.partition("=")
    there: list[str] = []
    for batch in other.batches(link.other_columns):
        keys = (_key([each]) for each in batch.column(link.other_columns[0])[:_EXAMPLES])
        there = [", ".join(key) for key in keys if key is not None]
        break
    mine = [", ".join(key) for key in sorted(wanted)[:_EXAMPLES]]
    return KeysDoNotJoin(
        f"no value of `{left}` is in `{right}`: {_quoted(mine)} on one side,"
        f" {_quoted(there) if there else 'none'} on the other",
        hint="name the column that holds the same identifiers",
    )


def _quoted(texts: Sequence[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts)
