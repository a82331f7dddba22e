"""Calls that are as deep as they can be: which functions call each other, and what they are given each time."""

import ast
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise, takewhile
from pathlib import Path

from whet.core.observations.clue import Clue, Placing, Sureness, TrailStep
from whet.core.text.quantity import listed
from whet.core.value_class import value_class
from whet.evidence.clues.records_in import DataRecord, records_in
from whet.evidence.variables.kept_failure import KeptError, KeptFailure, KeptFrame
from whet.evidence.variables.kept_value import value_line

_WHY = "whet compared what the last calls were given"
_INSIDE = frozenset({"<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"})
_MOST_CALLS, _MOST_ROUNDS = 12, 12
"""How many calls a round may have, and after how many rounds the same objects may come back."""
_LEAST_ROUNDS = 4
_MOST_STRAY = 8
"""The error may come up in calls that the last round makes besides."""
_SHOWN, _WIDTH = 3, 24
_MOST_SHOWN, _MOST_TEXT = 6, 80
_PLAIN = re.compile(r"\d+|'\w+'")
_WORD = re.compile(r"\w+")
_BRANCHES = (
    ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar,
    ast.Match, ast.comprehension,
)  # fmt: skip


@value_class(kw_only=True)
class _Rounds:
    """Calls that come again and again; the innermost comes first.

    Attributes:
        calls: those of the last round.
        frames: those of all rounds.
    """

    calls: Sequence[KeptFrame]
    frames: Sequence[KeptFrame]

    @property
    def until_same(self) -> int:
        """After how many rounds each call has the same objects again; 0: that doesn't happen."""
        for rounds in range(1, _MOST_ROUNDS + 1):
            distance = rounds * len(self.calls)
            pairs = list(zip(self.frames, self.frames[distance:], strict=False))
            is_enough = len(pairs) >= distance * (_LEAST_ROUNDS - 1)
            if is_enough and all(one.parameters == other.parameters for one, other in pairs):
                return rounds
        return 0

    @property
    def changing(self) -> list[str]:
        """The parameters of the innermost call that are other objects in other rounds."""
        every = [dict(each.parameters) for each in self.frames[:: len(self.calls)]]
        return [name for name in every[0] if len({each.get(name) for each in every}) > 1]

    def last(self, name: str, rounds: int) -> list[str]:
        """Return what a parameter was in the last rounds, the last one last."""
        found: list[str] = []
        for each in self.frames[:: len(self.calls)][:rounds]:
            values = [one.value for one in each.variables or () if one.name == name]
            found += [value_line(value, _WIDTH) for value in values]
        return found[::-1]

    def circle(self) -> tuple[str, list[str]]:
        """Return a parameter that is a number or a text in each round, and what it was until it came again."""
        rounds = self.until_same
        for name, _ in self.calls[0].parameters if 1 < rounds < _MOST_SHOWN else ():
            found = self.last(name, rounds + 1)
            is_plain = len(found) == rounds + 1 and all(map(_PLAIN.fullmatch, found))
            if is_plain and found[0] == found[-1] and len(set(found)) == rounds:
                return name, found
        return "", []


def endless_clues(
    failure: KeptFailure, error: KeptError, at: Placing, data: Sequence[tuple[Path, str]] = ()
) -> list[Clue]:
    """Return what a `RecursionError` comes from, if the same calls come again and again.

    Args:
        failure: the failure.
        error: the error.
        at: says where a line is.
        data: the files of data that the command names, with their texts.
    """
    # Of very many frames some are left out, between the first and the last.
    frames = error.frames[len(error.frames) // 2 :] if error.skipped else error.frames
    own = [
        each for each in reversed(frames) if each.frame.in_user_code and each.name not in _INSIDE
    ]
    # Only such an error tells of parameters.
    found = _rounds_of(own) if any(each.parameters for each in own) else None
    if found is None:
        return []
    clue = _clue(failure, found, at)
    name, circle = found.circle()
    if not name:
        return [clue]
    clue = replace(clue, says=f"{clue.says}: `{name}` is {', then '.join(circle)} again")
    hops = [{each.strip("'") for each in hop} for hop in pairwise(circle)]
    for path, text in data:
        records = [each for each in records_in(path.name, text) if _is_a_hop(each, hops)]
        if len(records) == len(circle) - 1:
            return [_in_data(clue, path, records, at)]
    return [clue]


def _is_a_hop(record: DataRecord, hops: Sequence[set[str]]) -> bool:
    """Whether a record leads from one value of a circle to the next, or back."""
    words = set(_WORD.findall(record.text))
    return any(hop <= words for hop in hops)


def _in_data(clue: Clue, path: Path, records: Sequence[DataRecord], at: Placing) -> Clue:
    """Return the clue with the only records that have two values of the circle."""
    places = [at(str(path), each.line) for each in records]
    steps = [
        TrailStep(says="a record", place=place, source=each.text[:_MOST_TEXT])
        for place, each in zip(places, records, strict=True)
    ]
    return replace(
        clue,
        says=f"{clue.says}; only the records at {listed(places)} have two of these that follow"
        " each other",
        trail=tuple(steps),
        next_step=f"Check {listed(places)}: the data may lead back to itself there.",
    )


def _rounds_of(frames: Sequence[KeptFrame]) -> _Rounds | None:
    for stray in range(_MOST_STRAY):
        rest = frames[stray:]
        for size in range(1, _MOST_CALLS + 1):
            pairs = zip(rest, rest[size:], strict=False)
            same = sum(1 for _ in takewhile(lambda two: two[0].frame == two[1].frame, pairs))
            if same >= size * (_LEAST_ROUNDS - 1):
                return _Rounds(calls=rest[:size], frames=rest[: same + size])
    return None


def _clue(failure: KeptFailure, found: _Rounds, at: Placing) -> Clue:
    last, rounds = found.calls[0], found.until_same
    names = [f"`{name}`" for name, _ in last.parameters]
    is_alone = rounds == 1 and all(_hands_on(failure, each) for each in found.calls)
    if rounds == 1:
        given = f"with the same {listed(names)} each time" if names else "again and again"
        step = "Check what that line hands on, and the condition that should end the calls."
    elif rounds:
        given = f"with the same {listed(names)} again after {rounds} rounds"
        step = "Find where the data leads back to itself."
    else:
        name = found.changing[0] if found.changing else ""
        last_values = ", ".join(found.last(name, _SHOWN))
        given = f"with another `{name}` each time" if name else "again and again"
        given += f" (at last {last_values})" if last_values else ""
        step = "Check the condition that should end it."
    if is_alone:
        step = "Check what that line should call instead, or what it should hand on."
    return Clue(
        says=f"{_calls(found, at)} {given}",
        why=_WHY,
        path=last.frame.path,
        line=last.frame.line,
        sureness=Sureness.SEEN if is_alone else Sureness.POSSIBLE,
        next_step=step,
    )


def _calls(found: _Rounds, at: Placing) -> str:
    """Return which function calls which, in words."""
    last, *others = found.calls
    place = at(last.frame.path, last.frame.line)
    if not others:
        return f"`{last.name}` calls itself at {place}"
    # The innermost calls the outermost of its round.
    chain = [
        f"which calls `{below.name}` at {at(each.frame.path, each.frame.line)}"
        for each, below in zip(others[::-1], [*others[::-1][1:], last], strict=True)
    ]
    return f"`{last.name}` calls `{others[-1].name}` at {place}, {', '.join(chain)},"


def _hands_on(failure: KeptFailure, call: KeptFrame) -> bool:
    """Whether a function that doesn't branch hands on nothing but what it was given: it can't end.

    One that branches may have been meant to end by what an argument has come to hold.
    """
    if call.position is None:
        return False
    source = failure.sources.get(call.frame.path, "")
    names = {name for name, _ in call.parameters}
    with suppress(SyntaxError, ValueError, RecursionError):
        tree = ast.parse(source)
        own = [
            each
            for each in ast.walk(tree)
            if isinstance(each, ast.expr) and _position(each) == call.position
        ]
        around = [
            each
            for each in ast.walk(tree)
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            and each.name == call.name
            and each.lineno <= call.frame.line <= (each.end_lineno or 0)
        ]
        if own and around:
            stored = {
                each.id
                for each in ast.walk(around[-1])
                if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
            }
            branches = any(isinstance(each, _BRANCHES) for each in ast.walk(around[-1]))
            return not branches and not names & stored and _is_plain(own[0], names)
    return False


def _position(node: ast.expr) -> tuple[int, int | None, int, int | None]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _is_plain(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression calls, compares, formats or reads an attribute of parameters alone."""
    called = {id(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript):
            return False
        if isinstance(each, ast.Attribute) and each is not node and id(each) not in called:
            return False
        if isinstance(each, ast.Name) and each.id not in names and id(each) not in called:
            return False
    return True
