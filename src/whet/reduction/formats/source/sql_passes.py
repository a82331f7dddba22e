"""What can be made smaller in SQL beside what can in any language."""

import re
from itertools import pairwise

from whet.reduction.edit import Change, Edit, make_changes, only
from whet.reduction.formats.source.source_offers import cuts_of
from whet.reduction.formats.source.source_tree import SourceNode, SourceTree
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

_TABLE = re.compile(
    rb"""
    (?:CREATE\s+(?:TEMP(?:ORARY)?\s+)?TABLE(?:\s+IF\s+NOT\s+EXISTS)?|INSERT\s+INTO)
    \s*(?P<name>(?:"[^"]*"|`[^`]*`|\[[^]]*\]|[^\s("`[]+)+)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NAME_QUOTES = b'"`[]'

_JOIN_HEAD = len(b"NATURAL LEFT OUTER JOIN")


def _delete_columns(tree: SourceTree) -> PassSearch:
    """Cut a column from the table, from what is inserted into it, and from each row."""
    columns: dict[tuple[bytes, bytes], list[Edit]] = {}
    order: dict[bytes, list[bytes]] = {}
    for statement in tree.nodes[0].children:
        found = _TABLE.match(tree.payload, statement.start, statement.end)
        if found is None:
            continue
        groups = _groups(statement)
        rows = [each for clause in statement.children for each in _groups(clause)]
        listed = groups[0] if groups else None
        table = _bare(found["name"])
        names = order.get(table, []) if listed is None else _names(tree, listed)
        if statement.kind.startswith("CREATE"):
            order[table] = names
        for group in (*groups[:1], *(row for row in rows if row is not listed)):
            for name, edit in zip(names, cuts_of(tree, group.children), strict=False):
                columns.setdefault((table, name), []).append(edit)
    changes: list[Change] = [sorted(each, key=_start) for each in columns.values()]
    return only(make_changes(tree.payload, changes), tree.parses)


def _lift_joins(tree: SourceTree) -> PassSearch:
    """Put the table of a join instead of what it is joined to."""
    changes: list[Change] = []
    for scope in tree.nodes:
        for clause, following in pairwise(scope.children):
            is_joined = (
                "JOIN"
                in tree.payload[following.start : following.start + _JOIN_HEAD]
                .decode("latin-1")
                .upper()
            )
            if is_joined and clause.children and following.children:
                changes.append([Edit(clause.children[0].start, following.children[0].start)])
    return only(make_changes(tree.payload, changes), tree.parses)


def _join_inserts(tree: SourceTree) -> PassSearch:
    """Put the rows of a statement behind those of the one before it, into the same table."""
    changes: list[Change] = []
    for one, two in pairwise(tree.nodes[0].children):
        rows, more = _rows(one), _rows(two)
        if not rows or not more:
            continue
        head = tree.payload[one.start : rows[0].start].split()
        is_alike = head == tree.payload[two.start : more[0].start].split()
        if is_alike and tree.payload[rows[-1].end : two.start].strip() == b";":
            changes.append([Edit(rows[-1].end, more[0].start, b",")])
    return only(make_changes(tree.payload, changes), tree.parses)


def _rows(statement: SourceNode) -> list[SourceNode]:
    """Return what an INSERT puts into its table."""
    last = statement.children[-1] if statement.children else statement
    is_insert = statement.kind == "INSERT statement" and last.kind == "VALUES"
    return _groups(last) if is_insert else []


def _groups(node: SourceNode) -> list[SourceNode]:
    """Return the brackets in the items of a statement or clause."""
    return [
        inner
        for item in node.children
        if item.kind == "item"
        for inner in item.children
        if inner.kind == "group"
    ]


def _names(tree: SourceTree, group: SourceNode) -> list[bytes]:
    return [_bare(tree.text(item).split()[0]) for item in group.children]


def _bare(name: bytes) -> bytes:
    """Return a name as it is compared: dumps quote it in one statement and not in another."""
    return name.translate(None, _NAME_QUOTES).lower()


def _start(edit: Edit) -> int:
    return edit.start


SQL_ONLY_PASSES = (
    ReductionPass(name="delete sql columns", stage=Stage.STRUCTURE, search=_delete_columns),
    ReductionPass(name="join sql inserts", stage=Stage.STRUCTURE, search=_join_inserts),
    ReductionPass(name="lift sql joins", stage=Stage.STRUCTURE, search=_lift_joins),
)
