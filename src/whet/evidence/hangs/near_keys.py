"""A call that waits for what lies under a key, where another key differs from it by its spelling alone."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from whet.core.observations.clue import Clue, Sureness
from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import CONTAINER, SCALAR, Call, Step, Value
from whet.evidence.provenance.run.source import head
from whet.evidence.provenance.sentences.wording import Wording, cut
from whet.evidence.provenance.trace.alike import difference, plain
from whet.evidence.provenance.trace.moments import Moments

_WHY = "whet recorded each step of a run until its time was up"
_MAKING = "setdefault"
_GETTING = {"get", _MAKING}
_MAKES_KEYS = "defaultdict"


@value_class
class _Asked:
    """A key that a line asks for.

    Attributes:
        holder: the expression of what has the keys.
        held: what it was.
        key: the key.
        is_made: the line makes the key where it isn't there.
    """

    holder: ast.expr
    held: Value
    key: Value
    is_made: bool


@dataclass(slots=True)
class NearKeys(Wording):
    """Reports keys with a twin, at the lines where the threads of a hang stand."""

    now: Moments = field(init=False)

    def __post_init__(self) -> None:
        """Make ready what looks values up."""
        self.now = Moments(self.recording, self.sources)

    def clues(self) -> list[Clue]:
        """Return what is known of the first such key."""
        for standing in self.recording.standing or ():
            line = standing.line
            for call in standing.call.around:
                at = Step(call, line, standing.moment, 0, None, frozenset())
                for asked in self._asked(call, at):
                    near = _near(asked.key, asked.held)
                    if near:
                        return [self._clue_of(call, line, asked, near)]
                line = call.line
        return []

    def _asked(self, call: Call, at: Step) -> Iterator[_Asked]:
        statement = self.sources[call.code.path].statement(at.line)
        for node in head(statement):
            match node:
                case ast.Subscript(value=holder, slice=index):
                    attr = ""
                case ast.Call(func=ast.Attribute(value=holder, attr=attr), args=[index, *_]) if (
                    attr in _GETTING
                ):
                    pass
                case _:
                    continue
            held, key = self.now.value(holder, call, at), self.now.value(index, call, at)
            if held is None or key is None or held.kind != CONTAINER or key.kind != SCALAR:
                continue
            is_made = attr == _MAKING or held.type.endswith(_MAKES_KEYS)
            yield _Asked(holder, held, key, is_made)

    def _clue_of(self, call: Call, line: int, asked: _Asked, near: str) -> Clue:
        path = call.code.path
        holder, key = self.said(asked.holder, call), asked.key.words
        # The line itself has made the key: nobody else knows it.
        made = ", which this line itself makes" if asked.is_made else ""
        clue = self.clue(
            f"`{call.code.short}` waits at {self.at(path, line)} for what `{holder}` has under"
            f" {cut(key)}{made}; `{holder}` also has {cut(near)}: the two keys differ in their"
            f" {difference(key, near)} only",
            path, line, Sureness.SEEN if asked.is_made else Sureness.POSSIBLE, (),
        )  # fmt: skip
        return replace(
            clue,
            why=_WHY,
            next_step=f"spell the key alike where it is written and at {self.at(path, line)}",
        )


def _near(key: Value, held: Value) -> str:
    """Return a key that differs by its spelling or its type alone; empty: there is none."""
    wanted = plain(key.words)
    others = [each for each in held.parts if each != key.words]
    return next((each for each in others if wanted and plain(each) == wanted), "")
