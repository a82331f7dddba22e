"""Transcripts of agents: JSON with messages, each of a role, with calls of tools and their results.

They may stand in a list somewhere in a document, or be the lines of a file. A result goes with its
call, and no role follows another that it never followed before: programs that replay a transcript
refuse it otherwise.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias, cast

from whet.core.value_class import value_class
from whet.reduction.edit import Change, make_changes, siblings
from whet.reduction.formats.documents.json_tree import JsonNode, JsonTree
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

Path: TypeAlias = tuple[str | int, ...]

_ANSWERING_ROLES = {"assistant", "model", "ai"}
_BEFORE_ALL = {"system", "developer"}
_CALLS = ("function", "tool_use", "tool_call")
_NAMED_CALLS = ("function_call", "custom_tool_call")
_NAMED_RESULTS = ("function_call_output", "custom_tool_call_output")
_REFERENCES = ("tool_call_id", "tool_use_id")
_LONGEST = 24
"""The most messages to examine for the fewest that can go together."""

_DEEPEST = 4
"""Messages stand no deeper in a document; as deep as that a message tells of its role."""


@value_class
class Message:
    """What of a message others depend on.

    Attributes:
        role: who says it.
        calls: names of the calls in it.
        results: names of the calls whose results it tells.
        shape: of which type its content is, and which names of calls it must have.
    """

    role: str
    calls: frozenset[str]
    results: frozenset[str]
    shape: str


@value_class
class Rules:
    """What holds for a transcript, and for all that is made of it.

    Attributes:
        path: where the list of messages stands; empty and several values: they are the values.
        first: the role of the first message that is no instruction.
        neighbours: the roles that follow each other.
        shapes: those that the messages of each role have.
        is_answered: each call has a result, but for those of the last message.
    """

    path: Path
    first: str
    neighbours: frozenset[tuple[str, str]]
    shapes: frozenset[tuple[str, str]]
    is_answered: bool

    def allow(self, messages: Sequence[Message]) -> bool:
        """Return whether messages keep the rules."""
        if not messages or _first_of(messages) not in ("", self.first):
            return False
        roles = [each.role for each in messages]
        is_alike = self.neighbours.issuperset(pairwise(roles)) and self.shapes >= _shapes_of(
            messages
        )
        return is_alike and self._keeps_calls(messages)

    def _keeps_calls(self, messages: Sequence[Message]) -> bool:
        known = set[str]()
        has_calls = True
        for each in messages:
            known |= each.calls
            has_calls = has_calls and each.results <= known
        return has_calls and (not self.is_answered or _is_answered(messages))

    def check(self, payload: bytes) -> None:
        """Refuse what is no such transcript.

        Raises:
            ValueError: then.
        """
        values = _values_of(payload)
        messages = _messages_at(values, self.path)
        if messages is None or not self.allow(messages):
            raise ValueError("it is another kind of transcript")


def _first_of(messages: Sequence[Message]) -> str:
    return next((each.role for each in messages if each.role not in _BEFORE_ALL), "")


def _shapes_of(messages: Sequence[Message]) -> frozenset[tuple[str, str]]:
    return frozenset((each.role, each.shape) for each in messages)


def _is_answered(messages: Sequence[Message]) -> bool:
    results = frozenset[str]().union(*(each.results for each in messages))
    return all(each.calls <= results for each in messages[:-1])


def _values_of(payload: bytes) -> list[object]:
    try:
        return [json.loads(payload)]
    except ValueError:
        return [json.loads(line) for line in payload.splitlines() if line.strip()]


def _objects(value: object, depth: int = _DEEPEST) -> Iterator[dict[str, object]]:
    """Yield the objects in a value, itself the first."""
    if isinstance(value, dict):
        found = cast("dict[str, object]", value)
        yield found
        inner = list(found.values())
    else:
        inner = cast("list[object]", value) if isinstance(value, list) else []
    for each in inner if depth else ():
        yield from _objects(each, depth - 1)


def _role_of(value: dict[str, object]) -> str:
    if value.get("type") in (*_NAMED_CALLS, *_NAMED_RESULTS):
        return str(value["type"])
    inner = value.get("message")
    role = value.get("role") or (
        cast("dict[str, object]", inner).get("role") if isinstance(inner, dict) else None
    )
    return role if isinstance(role, str) else ""


def _message_of(value: object) -> Message | None:
    found = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    role = _role_of(found)
    objects = list(_objects(found))
    calls = {name for each in objects for name in _call_in(each)}
    results = {name for each in objects for name in _result_in(each)}
    names = (key for key in ("role", "call_id", "tool_call_id") if key in found)
    shape = " ".join((type(found.get("content")).__name__, *names))
    return Message(role, frozenset(calls), frozenset(results), shape) if role else None


def _call_in(value: dict[str, object]) -> Iterator[str]:
    if value.get("type") in _CALLS and "id" in value:
        yield str(value["id"])
    if value.get("type") in _NAMED_CALLS and "call_id" in value:
        yield str(value["call_id"])


def _result_in(value: dict[str, object]) -> Iterator[str]:
    yield from (str(value[key]) for key in _REFERENCES if key in value)
    if value.get("type") in _NAMED_RESULTS and "call_id" in value:
        yield str(value["call_id"])


def _messages_in(values: Sequence[object]) -> list[Message] | None:
    messages = [_message_of(each) for each in values]
    found = [each for each in messages if each is not None]
    return found if len(found) == len(messages) else None


def _messages_at(values: Sequence[object], path: Path) -> list[Message] | None:
    value: object = list(values)
    for step in path:
        try:
            value = cast("dict[str | int, object]", value)[step]
        except (KeyError, IndexError, TypeError):
            return None
    return _messages_in(cast("list[object]", value)) if isinstance(value, list) else None


def _lists(value: object, path: Path) -> Iterator[tuple[Path, list[object]]]:
    if isinstance(value, list):
        items = cast("list[object]", value)
        yield path, items
        inner = list[tuple[str | int, object]](enumerate(items[:1]))
    else:
        found = cast("dict[str | int, object]", value) if isinstance(value, dict) else {}
        inner = list(found.items())
    for step, each in inner if len(path) < _DEEPEST else ():
        yield from _lists(each, (*path, step))


def rules_of(payload: bytes) -> Rules | None:
    """Return what holds for a transcript; None: it is none."""
    if b'"role"' not in payload:
        return None
    try:
        values = _values_of(payload)
    except (ValueError, RecursionError):
        return None
    found = [
        (path, messages)
        for path, items in _lists(cast("object", values), ())
        if len(items) > 1 and (messages := _messages_in(items)) is not None
    ]
    if not found:
        return None
    path, messages = max(found, key=lambda each: len(each[1]))
    roles = [each.role for each in messages]
    if _ANSWERING_ROLES.isdisjoint(roles):
        return None
    rules = Rules(
        path=path,
        first=_first_of(messages),
        neighbours=frozenset(pairwise(roles)),
        shapes=_shapes_of(messages),
        is_answered=_is_answered(messages),
    )
    return rules if rules.allow(messages) else None


# ---- what goes together ----


def _node_at(tree: JsonTree, path: Path) -> Sequence[JsonNode]:
    """Return the nodes of the messages."""
    nodes: Sequence[JsonNode] = tree.roots
    for step in path:
        if isinstance(step, int):
            node = nodes[step]
        else:
            node = next(
                each
                for each in nodes
                if json.loads(tree.payload[each.outer_start : each.start].rstrip(b" \t\r\n:"))
                == step
            )
        nodes = node.children
    return nodes


def _ranges(rules: Rules, messages: Sequence[Message]) -> Iterator[range]:
    """Yield from each message on the fewest that can go together."""
    spans = _spans(messages)
    for start in range(len(messages)):
        ends = range(start + 1, min(start + _LONGEST, len(messages)) + 1)
        ranges = (range(start, end) for end in ends)
        found = next((each for each in ranges if _can_go(rules, messages, each, spans)), None)
        if found is not None:
            yield found


def _spans(messages: Sequence[Message]) -> dict[str, tuple[int, int]]:
    """Return the first and the last place of each call and its results."""
    spans: dict[str, tuple[int, int]] = {}
    for place, message in enumerate(messages):
        for name in message.calls | message.results:
            spans[name] = (spans.get(name, (place, place))[0], place)
    return spans


def _can_go(
    rules: Rules, messages: Sequence[Message], gone: range, spans: Mapping[str, tuple[int, int]]
) -> bool:
    before, behind = messages[: gone.start][-1:], messages[gone.stop : gone.stop + 1]
    inner = messages[gone.start : gone.stop]
    names = frozenset[str]().union(*(each.calls | each.results for each in inner))
    return (
        bool(before or behind)
        and all(name in gone for key in names for name in spans[key])
        and rules.neighbours.issuperset(pairwise([each.role for each in (*before, *behind)]))
        and _first_of([*messages[: min(gone.start, _LONGEST)], *behind]) in ("", rules.first)
    )


def _exchanges(rules: Rules, messages: Sequence[Message]) -> list[range]:
    """Return which messages go together, one such range behind the other."""
    found: list[range] = []
    for each in _ranges(rules, messages):
        if not found or each.start >= found[-1].stop:
            found.append(each)
    return found


def _turns(rules: Rules, messages: Sequence[Message]) -> list[range]:
    """Return the same, the shortest first where two overlap."""
    found: list[range] = []
    for each in sorted(_ranges(rules, messages), key=len):
        if all(each.stop <= other.start or other.stop <= each.start for other in found):
            found.append(each)
    return sorted(found, key=lambda each: each.start)


def _deleting(
    choose: Callable[[Rules, Sequence[Message]], list[range]],
) -> Callable[[JsonTree], PassSearch]:
    def search(tree: JsonTree) -> PassSearch:
        rules = rules_of(tree.payload)
        messages = None if rules is None else _messages_at(_values_of(tree.payload), rules.path)
        if rules is None or messages is None:
            return tree.payload
        nodes = _node_at(tree, rules.path)
        edits = siblings([(each.outer_start, each.end) for each in nodes])
        changes: list[Change] = [edits[each.start : each.stop] for each in choose(rules, messages)]
        return (yield from make_changes(tree.payload, changes))

    return search


TRANSCRIPT_PASSES = (
    ReductionPass(
        name="delete exchanges",
        stage=Stage.STRUCTURE,
        search=_deleting(_exchanges),
        unit="exchanges",
    ),
    ReductionPass(
        name="delete turns", stage=Stage.STRUCTURE, search=_deleting(_turns), unit="turns"
    ),
)
