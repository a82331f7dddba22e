"""Errors that came before the one that was told, and that somebody has caught or dropped."""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from whet.core.clue import Clue, Placing
from whet.core.failure import Failure
from whet.core.record import JsonObject, integer, text
from whet.evidence.closer_look import Line, line_of

_WHY = "the error that is told may only follow from one that was caught, or that nobody waited for"
_BROAD = frozenset({"", "Exception", "BaseException"})
_MOST = 2
# Whoever expects that a file may not be there does not expect that there is no room for it.
_SHORTAGE = re.compile(r"No space left|Too many open files|Cannot allocate memory|quota exceeded")


@dataclass(slots=True, kw_only=True)
class _Raised:
    """An error on its way through the user's functions."""

    pid: int
    type: str
    message: str
    at: Line
    last: Line
    thread: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Handler:
    """What has caught an error: its line, whether it takes anything, whether it raises another."""

    line: int
    is_broad: bool
    raises: bool


def raised_clues(
    told: Sequence[JsonObject],
    failure: Failure | None,
    at: Placing,
    source_of: Callable[[str], str],
) -> list[Clue]:
    """Return the errors that came before the failure and that it does not tell of, the last first."""
    raised = list(_raised(told))
    place = None if failure is None else failure.place
    kind = "" if failure is None else failure.signature.exception.rpartition(".")[2]
    final = next(
        (
            number
            for number, each in enumerate(raised)
            if place is not None
            and (each.at.path, each.at.number) == (place.path, place.line)
            and kind in {"", each.type}
        ),
        len(raised),
    )
    found: list[Clue] = []
    for each in reversed(raised[:final]):
        clue = _clue(each, at, source_of)
        if clue is not None and len(found) < _MOST:
            found.append(clue)
    return found


def _raised(told: Sequence[JsonObject]) -> Iterator[_Raised]:
    found: dict[tuple[int, int], _Raised] = {}
    for each in told:
        if each.get("kind") not in {"raised", "passed"}:
            continue
        key, here = (integer(each, "pid"), integer(each, "number")), line_of(each.get("place"))
        if here is None:
            continue
        if each["kind"] == "raised":
            found[key] = _Raised(
                pid=key[0], type=text(each, "type"), message=text(each, "message"),
                at=here, last=here, thread=text(each, "thread"),
            )  # fmt: skip
        elif key in found:
            found[key].last = here
    return iter(found.values())


def _clue(raised: _Raised, at: Placing, source_of: Callable[[str], str]) -> Clue | None:
    caught = _handler(source_of(raised.last.path), raised.last, raised.type)
    words = f"{raised.type}: {raised.message}" if raised.message else raised.type
    where = f"{at(raised.at.path, raised.at.number)} in `{raised.at.function}`"
    thread = f", in thread `{raised.thread}`" if raised.thread else ""
    if caught is None:
        if raised.last.function == "<module>":
            return None  # it has gone all the way up, and was told
        what = "nobody in your code has caught it"
    elif caught.raises or caught.is_broad or _SHORTAGE.search(raised.message):
        deed = "turned into another error" if caught.raises else "caught and dropped"
        what = f"{deed} at {at(raised.last.path, caught.line)}"
    else:
        return None  # it was expected there
    return Clue(
        says=f"before it, {words} was raised at {where}{thread}: {what}",
        why=_WHY,
        path=raised.at.path,
        line=raised.at.number,
    )


def _handler(source: str, last: Line, kind: str) -> _Handler | None:
    """Return the handler that the innermost `try` around a line has for an error, by its name."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found: _Handler | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Try):
            continue
        first, end = node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno
        if first <= last.number <= end and node.handlers:
            found = _matching(node.handlers, kind) or found
    return found


def _matching(handlers: Sequence[ast.ExceptHandler], kind: str) -> _Handler | None:
    for each in handlers:
        names = _names(each.type)
        if kind in names or names & _BROAD or len(handlers) == 1:
            return _Handler(
                line=each.lineno,
                is_broad=bool(names & _BROAD) and not _uses(each),
                raises=any(isinstance(node, ast.Raise) and node.exc for node in ast.walk(each)),
            )
    return None


def _uses(handler: ast.ExceptHandler) -> bool:
    """Whether a handler passes the error on: it names it, and returns or keeps it."""
    return handler.name is not None and any(
        isinstance(node, ast.Return) for node in ast.walk(handler)
    )


def _names(kind: ast.expr | None) -> frozenset[str]:
    if kind is None:
        return frozenset({""})
    parts = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return frozenset(ast.unparse(each).rpartition(".")[2] for each in parts)
