"""What holds most of the memory when it runs out, where it was made, and where it is filled."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from whet.core.observations.clue import Clue, Mention, Placing, Sureness, TrailStep
from whet.core.text.code_lines import module_of
from whet.core.text.quantity import shown_bytes
from whet.core.text.record import JsonObject, boolean, integer, items_of, text
from whet.core.value_class import value_class
from whet.evidence.clues.closer_look import Line, line_of, of_kind

_WHY = "it keeps most of the process's memory; why it grows so far isn't known"
MEMORY_HEADING = "what takes the memory"
_COPY = "keep a copy of what you need: a view keeps all of the buffer that it shows a part of"
_FILLING = {
    "add", "append", "appendleft", "extend", "insert", "push", "put", "put_nowait", "setdefault", "update",
    "write",
}  # fmt: skip
_TAKING = {
    "remove", "pop", "popitem", "popleft", "discard", "clear", "difference_update",
}  # fmt: skip
_LEAST_ITEMS, _TIMES_VIEWED, _MOST_FILLS = 8, 4, 2
_LEAST_GROWTH = 0.04
_MOST_CHARACTERS = 70
_IN_BRACKETS = re.compile(r"\[[^\]]*\]")
_NAME = re.compile(r"[^\W\d]\w*")
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_Assigned = ast.Assign | ast.AnnAssign | ast.AugAssign


@value_class
class _Statement:
    """A line of a program, with the function around it."""

    path: str
    node: ast.stmt
    around: ast.AST

    @property
    def line(self) -> int:
        """Its number."""
        return self.node.lineno


@value_class(kw_only=True)
class HolderLines:
    """The lines of a program that have to do with a holder.

    Attributes:
        made: where it is made; None: at several places, or it isn't known.
        fills: where something is put into it, with the statement.
    """

    made: Line | None
    fills: tuple[tuple[Line, str], ...]


@value_class(kw_only=True)
class Growth:
    """What has grown between two readings of the memory.

    Attributes:
        clue: says so.
        label: how the program names it.
        takes: the lines that may take something out of it.
    """

    clue: Clue
    label: str
    takes: tuple[tuple[str, int], ...]


def holder_lines(label: str, path: str, sources: Mapping[str, str]) -> HolderLines:
    """Return where a holder is made and filled.

    Args:
        label: how the program names it: `cache.entries`.
        path: the file in which the first name of that stands.
        sources: the user's files.
    """
    told: dict[str, object] = {"label": label, "owner": ""}
    trees = {each: _tree(source) for each, source in sources.items()}
    place = Line(path=path, number=0, function="")
    fills = tuple(
        (Line(path=e.path, number=e.line, function=""), _said(e.node, sources[e.path]))
        for e in _fills(told, place, trees)
    )
    return HolderLines(made=_made(told, place, trees), fills=fills)


def memory_clues(
    told: Sequence[JsonObject], at: Placing, source_of: Callable[[str], str]
) -> Iterator[Clue]:
    """Yield what kept most of the memory when there was none left, or when it was seen last."""
    reports = list(of_kind(told, "keeps"))
    ran_out = [each for each in reports if boolean(each, "has_run_out")]
    for last in [*ran_out[:1], *reports[-1:]][:1]:
        before = reports[: reports.index(last)]
        if _is_to_blame(last) and _still_grows(last, before):
            sources = {path: source_of(path) for path in map(str, items_of(last.get("files")))}
            yield _clue_of(last, before, at, sources)


def growth_clues(
    told: Sequence[JsonObject], at: Placing, source_of: Callable[[str], str]
) -> Iterator[Growth]:
    """Yield what has grown most between two readings of the memory.

    Args:
        told: what a run has told in which the program read less memory than it had.
        at: says where a line is.
        source_of: returns the text of a file.
    """
    last = max(of_kind(told, "grows"), key=lambda each: integer(each, "grown"), default=None)
    if last is None or (integer(last, "kept") - integer(last, "was")) * 2 < integer(last, "grown"):
        return
    sources = {path: source_of(path) for path in map(str, items_of(last.get("files")))}
    was: JsonObject = {"label": last.get("label"), "kept": last.get("was")}
    clue = _clue_of(last, [was], at, sources)
    trees = {path: _tree(source) for path, source in sources.items()}
    found = _statements_with(last, line_of(last.get("place")), trees, _lessened)
    takes = tuple((each.path, line) for each in found for line in _deciding(each))
    yield Growth(clue=clue, label=text(last, "label"), takes=takes)


def _deciding(taking: _Statement) -> list[int]:
    """Return the lines of a statement and of the conditions around it in its function."""
    first, last = taking.node.lineno, taking.node.end_lineno or taking.node.lineno
    heads = [
        each.lineno
        for each in ast.walk(taking.around)
        if isinstance(each, ast.If | ast.While) and each.lineno < first <= (each.end_lineno or 0)
    ]
    return [*range(first, last + 1), *heads[::-1]]


def _lessened(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield what a statement takes something out of."""
    if isinstance(statement, ast.Delete):
        yield from (each.value for each in statement.targets if isinstance(each, ast.Subscript))
    if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
        read = {ast.unparse(e) for e in ast.walk(statement.value) if isinstance(e, ast.expr)}
        yield from (each for each in _targets(statement) if ast.unparse(each) in read)
    for node in _head(statement):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _TAKING
        ):
            yield node.func.value


def _is_to_blame(last: JsonObject) -> bool:
    """Whether a holder keeps the most part of the memory, and more than what was still free."""
    kept = integer(last, "kept")
    is_one = not text(last, "item")  # a text or an array that is made anew
    is_container = integer(last, "count") >= _LEAST_ITEMS
    is_most = kept * 2 >= integer(last, "resident")
    would_do = not boolean(last, "has_run_out") or kept > integer(last, "free")
    return (is_one or is_container) and is_most and would_do


def _still_grows(last: JsonObject, before: Sequence[JsonObject]) -> bool:
    """Whether most of what the process has grown by lately is kept by it; whet looks from time to time."""
    resident = integer(last, "resident")
    for each in reversed(before):
        grown = resident - integer(each, "resident")
        if grown > resident * _LEAST_GROWTH and each.get("pid") == last.get("pid"):
            was = integer(each, "kept") if _name(each) == _name(last) else 0
            return (integer(last, "kept") - was) * 2 >= grown
    return False


def _name(report: JsonObject) -> str:
    """Return the last name of a holder, without what it is an item of."""
    names = _NAME.findall(_IN_BRACKETS.sub("", text(report, "label")))
    return names[-1] if names else ""


def _owner(report: JsonObject) -> str:
    """Return what a holder is an attribute of, as far as is known, or what it is an item of is one of."""
    is_within = "." in _IN_BRACKETS.sub("", text(report, "label"))
    return text(report, "owner") or ("object" if is_within else "")


def _clue_of(
    last: JsonObject, before: Sequence[JsonObject], at: Placing, sources: Mapping[str, str]
) -> Clue:
    trees = {path: _tree(source) for path, source in sources.items()}
    place = line_of(last.get("place"))
    fills, made = list(_fills(last, place, trees)), _made(last, place, trees)
    kept, count = integer(last, "kept"), integer(last, "count")
    label, most = text(last, "label"), max(integer(last, "resident"), integer(last, "counted"))
    was = next((integer(e, "kept") for e in before if _name(e) == _name(last)), 0)
    kind = "a function's cache" if last.get("made") else text(last, "type")
    facts = [kind, *([f"{count} items"] if text(last, "item") else [])]
    facts += [f"made at {at(made.path, made.number)}"] if made is not None else []
    grown = f", and has grown from {shown_bytes(was)}" if was else ""
    here = [
        f"{at(e.path, e.line)} (`{_said(e.node, sources[e.path])}`)" for e in fills[:_MOST_FILLS]
    ]
    filled = f"; it is filled at {' and '.join(here)}" if here else ""
    item = _item_of(last, fills, at)
    spot = (
        Line(path=fills[0].path, number=fills[0].line, function="")
        if len(fills) == 1
        else made or place
    )
    taken = [each for one in fills[:1] for each in _taken(one)]
    return Clue(
        says=f"`{label}` ({', '.join(facts)}) keeps {shown_bytes(kept)} of the process's"
        f" {shown_bytes(most)} alive{grown}{item}{filled}",
        why=_WHY,
        path="" if spot is None else spot.path,
        line=0 if spot is None else spot.number,
        sureness=Sureness.SEEN,
        next_step=_COPY if "view" in item else _next_step(fills, at),
        heading=MEMORY_HEADING,
        mentions=frozenset({Mention.MEMORY}),
        trail=tuple(
            TrailStep(says=says, place=at(each.path, each.line), source=_said(each.node, sources[each.path]))
            for says, steps in (("made what is kept", taken), ("kept it", fills[:_MOST_FILLS]))
            for each in steps
        ),
    )  # fmt: skip


def _next_step(fills: Sequence[_Statement], at: Placing) -> str:
    """Say what to look for where there are lines that fill it; empty: none is known."""
    where = " and ".join(at(each.path, each.line) for each in fills[:_MOST_FILLS])
    return f"See why so many items come to {where}, and whether all must be kept." if where else ""


def _item_of(last: JsonObject, fills: Sequence[_Statement], at: Placing) -> str:
    """Say what each item is, if that tells more than its type."""
    own, behind, kind = (
        integer(last, "item_bytes"),
        integer(last, "behind_bytes"),
        text(last, "item"),
    )
    if behind > own * _TIMES_VIEWED:
        taken = [each for one in fills[:1] for each in _taken(one)]
        where = f", taken at {at(taken[0].path, taken[0].line)}" if taken else ""
        return f": an item is a view of {shown_bytes(own)} into {shown_bytes(behind)}{where}"
    each = integer(last, "kept") // max(integer(last, "count"), 1)
    return f": an item ({kind}) keeps {shown_bytes(each)}" if kind else ""


def _made(last: JsonObject, place: Line | None, trees: Mapping[str, ast.Module]) -> Line | None:
    """Return where a holder was made; None: at several places, or it isn't known."""
    function = line_of(last.get("made"))
    if function is not None:
        return function
    name, owner = _name(last), _owner(last)
    found: list[Line] = []
    for path, tree in trees.items():
        for each in _statements(path, tree):
            targets = (
                _targets(each.node) if isinstance(each.node, ast.Assign | ast.AnnAssign) else []
            )
            whole = [target for target in targets if not isinstance(target, ast.Subscript)]
            is_there = any(_is_it(target, name, owner) for target in whole)
            is_near = owner or (place is not None and place.path == path)
            if is_there and is_near:
                found.append(Line(path=path, number=each.line, function=""))
    return found[0] if len(found) == 1 else None


def _fills(
    last: JsonObject, place: Line | None, trees: Mapping[str, ast.Module]
) -> Iterator[_Statement]:
    """Yield the lines that put something into a holder."""
    lessened = {(e.path, e.line) for e in _statements_with(last, place, trees, _lessened)}
    for each in _statements_with(last, place, trees, _filled):
        if (each.path, each.line) not in lessened:
            yield each


def _statements_with(
    last: JsonObject,
    place: Line | None,
    trees: Mapping[str, ast.Module],
    changed: Callable[[ast.stmt], Iterator[ast.expr]],
) -> Iterator[_Statement]:
    """Yield the lines that do something to a holder."""
    name, owner = _name(last), _owner(last)
    for path, tree in trees.items():
        if not owner and place is not None and path != place.path:
            continue
        for each in _statements(path, tree):
            if any(_is_it(holder, name, owner) for holder in changed(each.node)):
                yield each


def _filled(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield what a statement puts something into."""
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = _targets(statement)
        yield from (each.value for each in targets if isinstance(each, ast.Subscript))
        yield from targets if isinstance(statement, ast.AugAssign) else ()
    for node in _head(statement):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _FILLING
        ):
            yield node.func.value


def _is_it(expr: ast.expr, name: str, owner: str) -> bool:
    while isinstance(expr, ast.Subscript):
        expr = expr.value
    if isinstance(expr, ast.Call) and isinstance(
        expr.func, ast.Attribute
    ):  # such as `d.setdefault(k, [])`
        return _is_it(expr.func.value, name, owner)
    if isinstance(expr, ast.Attribute):
        return expr.attr == name
    return not owner and isinstance(expr, ast.Name) and expr.id == name


def _taken(fill: _Statement) -> Iterator[_Statement]:
    """Yield the line that made what a line puts in, if that is a variable with one such line."""
    names = {
        each.id
        for node in _head(fill.node)
        if isinstance(node, ast.Call)
        for each in node.args
        if isinstance(each, ast.Name)
    }
    if isinstance(fill.node, _Assigned) and isinstance(fill.node.value, ast.Name):
        names.add(fill.node.value.id)
    found = [
        each
        for each in _statements(fill.path, fill.around)
        if isinstance(each.node, ast.Assign | ast.AnnAssign)
        and any(isinstance(one, ast.Name) and one.id in names for one in _targets(each.node))
    ]
    if len(found) == 1:
        yield found[0]


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign | ast.AugAssign) else []


def _head(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement without those of the statements in it."""
    for each in ast.iter_child_nodes(statement):
        if not isinstance(each, ast.stmt | ast.excepthandler):
            yield from ast.walk(each)


def _statements(path: str, around: ast.AST) -> Iterator[_Statement]:
    """Yield the statements inside of a function or a module, each with the function that it is in."""
    for each in ast.iter_child_nodes(around):
        if isinstance(each, ast.stmt):
            yield _Statement(path, each, around)
        inner = each if isinstance(each, _FUNCTIONS) else around
        for one in _statements(path, each):
            yield one if isinstance(one.around, _FUNCTIONS) else _Statement(path, one.node, inner)


def _tree(source: str) -> ast.Module:
    with suppress(SyntaxError, ValueError, RecursionError):
        return module_of(source)
    return ast.Module(body=[], type_ignores=[])


def _said(node: ast.stmt, source: str) -> str:
    return " ".join((ast.get_source_segment(source, node) or "").split())[:_MOST_CHARACTERS]
