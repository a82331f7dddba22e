"""In which other order a failing run had the same items, and the changes that put them in that order."""

from collections.abc import Iterator

from whet.core.observations.clue import Placing
from whet.evidence.experiments.changes import Change
from whet.evidence.experiments.ordered_otherwise import orderings_in
from whet.evidence.provenance.run.recording import CONTAINER, SCALAR, Recording, Value
from whet.evidence.provenance.run.source import Sources

_MOST_ITEMS = 200
_MOST_CHANGES = 8
_LISTS = frozenset({"list", "tuple", "dict"})
Order = tuple[str, ...]


def order_changes(recording: Recording, at: Placing) -> list[tuple[str, Change]]:
    """Return the changes of lines that put items in an order."""
    sources = Sources()
    lines = {(each.frame.code.path, each.line) for each in recording.steps}
    paths = dict.fromkeys(each.code.path for each in recording.calls)
    orders = _other_orders(recording, at)
    found: list[tuple[str, Change]] = []
    for path in paths:
        for each in orderings_in(sources[path].tree):
            if (path, each.node.lineno) in lines:
                found += ((path, each.as_in(items, whose)) for items, whose in orders.items())
                found += [(path, each.as_before())] if each.sorts else []
    return found[:_MOST_CHANGES]


def _other_orders(recording: Recording, at: Placing) -> dict[Order, str]:
    """Return the orders of items that were also there in another one, with who had them so."""
    groups: dict[Order, dict[Order, str]] = {}
    for value, whose in _named(recording, at):
        items = _items(value, recording)
        if 1 < len(set(items)) == len(items):
            groups.setdefault(tuple(sorted(items)), {}).setdefault(items, whose)
    several = [group for group in groups.values() if len(group) > 1]
    return {items: whose for group in several for items, whose in group.items()}


def _named(recording: Recording, at: Placing) -> Iterator[tuple[Value, str]]:
    for call in recording.calls:
        path = call.code.path
        for name, held in call.held.items():
            for moment, value in held:
                step = call.step_at(moment)
                if value is not None and step is not None:
                    yield value, f"`{name}` ({at(path, step.line)})"
        for step in call.results:
            if step.result is not None:
                yield step.result, f"what `{call.code.short}` returns ({at(path, step.line)})"


def _items(value: Value, recording: Recording) -> Order:
    """Return the items of a list, or the keys of a dict, as they are written."""
    if (
        value.kind != CONTAINER
        or value.type not in _LISTS
        or not value.is_whole
        or value.size > _MOST_ITEMS
    ):
        return ()
    if value.type == "dict":
        return tuple(value.parts)
    parts = [each for _, each in recording.parts(value)]
    return tuple(each.words for each in parts) if all(each.kind == SCALAR for each in parts) else ()
