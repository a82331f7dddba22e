"""Missing keys for which a default was taken, although a very similar key exists."""

import ast
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import Failing
from whet.evidence.provenance.run.recording import CONTAINER, Recording, Step, Value
from whet.evidence.provenance.run.source import Sources, head
from whet.evidence.provenance.trace.trail import Trail
from whet.evidence.provenance.trace.walk import Walk

_MOST_MORE, _LEAST_ALIKE = 3, 3
"""One of two similar keys may have this many more characters at an end; both have at least this many."""


@value_class
class Default:
    """A default that was taken.

    Attributes:
        holder: the expression that was asked.
        key: the key that it doesn't have.
        other: the key that it has, and that was never asked for there.
        step: when.
        trail: the way of the key.
        is_given: the program has given the default; else it is `None`.
    """

    holder: ast.expr
    key: Value
    other: str
    step: Step
    trail: Trail
    is_given: bool

    @property
    def looks_equal(self) -> bool:
        """Whether the keys look the same, and are of other characters."""
        return _composed(self.key.words) == _composed(self.other)


@dataclass(slots=True)
class _Asked:
    """One `get` of the program: what it was asked for, and when for each for the first time."""

    node: ast.Call
    keys: dict[str, tuple[Value, Step]] = field(default_factory=dict[str, tuple[Value, Step]])
    known: set[str] = field(default_factory=set[str])


def defaults_taken(
    failing: Failing, recording: Recording, sources: Sources, walk: Walk
) -> Iterator[Default]:
    """Yield the defaults that were taken for keys that are hardly others than those that are there."""
    for asked in _asked(failing, recording, sources, walk):
        unasked = [each for each in asked.known if each not in asked.keys]
        for words, (key, step) in asked.keys.items():
            near = [each for each in unasked if _is_near(words, each)]
            if words in asked.known or len(near) != 1:
                continue
            assert isinstance(asked.node.func, ast.Attribute)
            trail = walk.back(asked.node.args[0], step.frame, step, key, None)
            is_given = len(asked.node.args) > 1
            yield Default(asked.node.func.value, key, near[0], step, trail, is_given)


def _asked(
    failing: Failing, recording: Recording, sources: Sources, walk: Walk
) -> Iterator[_Asked]:
    found: dict[int, _Asked] = {}
    for step in recording.steps:
        if step.result is not None or step.begin >= failing.error.moment:
            continue
        for node in head(sources[step.frame.code.path].statement(step.line)):
            match node:
                case ast.Call(func=ast.Attribute(value=inner, attr="get"), args=[given, *_]):
                    holder = walk.now.value(inner, step.frame, step)
                    key = walk.now.value(given, step.frame, step)
                case _:
                    continue
            is_known = holder is not None and holder.kind == CONTAINER and holder.is_whole
            if holder is not None and key is not None and is_known:
                asked = found.setdefault(id(node), _Asked(node))
                asked.keys.setdefault(key.words, (key, step))
                asked.known |= set(holder.parts)
    yield from found.values()


def _is_near(one: str, other: str) -> bool:
    """Whether two texts are one and the same but for their case, blanks, accents or an end."""
    if not (one[:1] == other[:1] == "'"):
        return False
    one, other = (_composed(each).strip("'").strip().casefold() for each in (one, other))
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    is_end = long.startswith(short) or long.endswith(short)
    more = long.removeprefix(short) if long.startswith(short) else long.removesuffix(short)
    return (
        is_end
        and len(short) >= _LEAST_ALIKE
        and len(more) <= _MOST_MORE
        and not any(map(str.isdigit, more))
    )


def _composed(words: str) -> str:
    """Return a text in which a letter and its accent are one character."""
    return unicodedata.normalize("NFC", words)
