"""Which uses of an iterator, a file or a cursor share its position, and the changes that separate them."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise

from whet.core.observations.clue import Placing
from whet.core.value_class import value_class
from whet.evidence.experiments.changes import Change, edit_at, name_of, place_of
from whet.evidence.experiments.shared_otherwise import (
    LOOP,
    QUERIES,
    READS,
    TURNS,
    each_with_a_copy,
    thrown_away_in,
    uses_in,
    with_own_cursor,
)
from whet.evidence.provenance.run.recording import Recording, Step
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.trace.walk import Walk

_WITH_POSITION = re.compile(
    r"generator|map|filter|zip|enumerate|reversed|_csv\.reader|csv\.DictReader|itertools\..*"
    r"|_io\..*|.*iterator|.*Cursor"
)
_GOING_THROUGH = frozenset(
    {"all", "any", "dict", "list", "max", "min", "next", "set", "sorted", "sum", "tuple"}
)
_WHOLE = frozenset({"dict", "list", "set", "sorted", "split", "splitlines", "str", "tuple"})
_DISPLAYS = (
    ast.Constant, ast.Dict, ast.DictComp, ast.JoinedStr, ast.List, ast.ListComp, ast.Set, ast.SetComp, ast.Tuple,
)  # fmt: skip
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_MOST_STEPS = 200
_MOST_PAIRS = 6


@value_class(eq=False)
class _Use:
    """A use of an object.

    Attributes:
        path: the file.
        node: what the program calls the object there.
        method: what is called of it, or `LOOP`.
        kind: its type.
    """

    path: str
    node: ast.expr
    method: str
    kind: str

    @property
    def source(self) -> str:
        return ast.unparse(self.node)


@value_class(eq=False)
class _UseInRun(_Use):
    """A use of an object at a step of a recorded run."""

    step: Step

    def is_rebound_for(self, other: "_UseInRun") -> bool:
        """Whether another use sees what this one's expression is given meanwhile."""
        if isinstance(self.node, ast.Attribute) and isinstance(other.node, ast.Attribute):
            return self.node.attr == other.node.attr
        is_same = self.source == other.source and self.path == other.path
        is_module = (
            self.step.frame.code.is_module or self.source not in self.step.frame.code.variables
        )
        return is_same and (is_module or self.step.frame is other.step.frame)


def shared_changes(recording: Recording, at: Placing) -> list[tuple[str, Change]]:
    """Return the changes that give one of two uses of the same object an object of its own."""
    sources = Sources()
    found: dict[tuple[object, ...], tuple[str, Change]] = {}
    for uses in _uses(recording, sources).values():
        for first, second in _pairs(uses):
            for path, change in _separated(first, second, sources, at):
                found.setdefault((path, change.what, change.instead), (path, change))
    return list(found.values())[:_MOST_PAIRS]


def likely_changes(paths: Iterable[str], at: Placing) -> list[tuple[str, Change]]:
    """Return such changes for what a function uses twice, of a run that wasn't recorded.

    With an object that has no position, nothing is other than before.
    """
    sources = Sources()
    found = [
        next(_separated(first, second, sources, at))
        for path in paths
        for first, second in _pairs_in(path, sources[path].tree)
    ]
    return found[:_MOST_PAIRS]


def _pairs_in(path: str, tree: ast.AST) -> Iterator[tuple[_Use, _Use]]:
    """Yield what a function uses with its next use, if one of both goes through it."""
    for function in ast.walk(tree):
        if not isinstance(function, _FUNCTIONS):
            continue
        inner = [each for each in ast.walk(function) if isinstance(each, _FUNCTIONS)][1:]
        others = {id(node) for each in inner for node in ast.walk(each)}
        own = [node for node in ast.walk(function) if id(node) not in others]
        handed, known = {id(each) for each in _handed_on(own)}, set(_held_whole(own))
        by_name: dict[str, list[ast.expr]] = {}
        for node, method in uses_in(function):
            if id(node) not in others and method in {"", LOOP, *TURNS - READS}:
                by_name.setdefault(ast.unparse(node), []).append(node)
        for name, nodes in by_name.items():
            nodes.sort(key=lambda each: (each.lineno, each.col_offset))
            for first, second in pairwise(nodes):
                if name not in known and not {id(first), id(second)} <= handed:
                    yield _Use(path, first, "", "iterator"), _Use(path, second, "", "iterator")


def _handed_on(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Yield what is given to calls that may do anything with it."""
    for node in nodes:
        if isinstance(node, ast.Call) and name_of(node.func) not in _GOING_THROUGH:
            yield from [*node.args, *(each.value for each in node.keywords)]


def _held_whole(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names of what has no position."""
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            is_made = isinstance(node.value, ast.Call) and name_of(node.value.func) in _WHOLE
            if is_made or isinstance(node.value, _DISPLAYS):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from map(ast.unparse, targets)


def _pairs(uses: list[_UseInRun]) -> Iterator[tuple[_UseInRun, _UseInRun]]:
    """Yield each use with the next one that begins when it is over."""
    places = set[tuple[object, ...]]()
    for place, use in enumerate(uses):
        second = next((each for each in uses[place + 1 :] if _is_second(use, each)), None)
        if second is not None:
            key = (use.path, place_of(use.node), second.path, place_of(second.node))
            if key not in places:
                places.add(key)
                yield use, second


def _is_second(use: _UseInRun, other: _UseInRun) -> bool:
    if other.step.begin < use.step.over:
        return False
    if {use.method, other.method} <= QUERIES:
        return True
    is_next_round = other.node is use.node and other.step.frame is use.step.frame
    return use.is_rebound_for(other) and not (is_next_round and use.method in {LOOP, *TURNS})


def _separated(
    first: _Use, second: _Use, sources: Sources, at: Placing
) -> Iterator[tuple[str, Change]]:
    here, there = at(first.path, first.node.lineno), at(second.path, second.node.lineno)
    where = (second.path, second.node.lineno)
    if second.method in QUERIES:
        tree = sources[second.path].tree
        yield second.path, Change(
            node=second.node, place=where,
            what=f"`{second.source}` runs a query on the same {second.kind} as {here}, and takes the place of the query there",
            instead="a cursor of its own for this query",
            edit=edit_at(tree, partial(with_own_cursor, place=place_of(second.node))),
        )  # fmt: skip
        return
    tree = sources[first.path].tree
    is_meant = place_of(first.node) in thrown_away_in(tree)
    own = [place_of(first.node)]
    every = [place_of(each) for each, _ in uses_in(tree) if ast.unparse(each) == first.source]
    for places in [own, *([every] if every != own else [])]:
        which = "there" if places is own else f"for each use of `{first.source}`"
        yield first.path, Change(
            node=second.node, place=where,
            what=f"`{second.source}` is the same {second.kind} that {here} has already read from",
            instead=f"a copy of what was left in it {which}" if places is not own else f"a copy of what was left in it for {here}",
            edit=edit_at(tree, partial(each_with_a_copy, places=places)), is_telling=not is_meant, is_weighed=True,
            advice=f"with a list of what `{first.source}` gives, made once, or by opening it anew at {there}",
        )  # fmt: skip


def _uses(recording: Recording, sources: Sources) -> dict[int, list[_UseInRun]]:
    """Return all uses of each object that has a position, by its number, in their order."""
    walk = Walk(recording, sources)
    by_path: dict[str, dict[int, list[tuple[ast.expr, str]]]] = {}
    counts: dict[tuple[str, int], int] = {}
    found: dict[int, list[_UseInRun]] = {}
    for step in recording.steps:
        path, line = step.frame.code.path, step.line
        if path not in by_path:
            by_path[path] = {}
            for each in uses_in(sources[path].tree):
                by_path[path].setdefault(each[0].lineno, []).append(each)
        here = by_path[path].get(line, ()) if step.result is None else ()
        counts[path, line] = counts.get((path, line), 0) + bool(here)
        if counts[path, line] > _MOST_STEPS:
            continue
        for node, method in here:
            value = walk.now.value(node, step.frame, step)
            if value is not None and value.number and _WITH_POSITION.fullmatch(value.type):
                found.setdefault(value.number, []).append(
                    _UseInRun(path, node, method, value.type, step)
                )
    return found
