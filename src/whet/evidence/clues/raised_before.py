"""Errors before the reported one that the program caught or dropped."""

import ast
import builtins
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from whet.core.failure import Failure, FailureKind
from whet.core.observations.clue import Clue, Mention, Placing, Sureness
from whet.core.text.code_lines import module_of
from whet.core.text.record import JsonObject, integer, optional_integer, text
from whet.core.value_class import value_class
from whet.evidence.clues.closer_look import Line, line_of

_WHY = "the reported error may follow from one that the program caught or ignored"
_WHY_AGAIN = "a later try is made only because of this error, and reports its own"
_SKIPS = frozenset({"Skipped", "SkipTest"})
"""pytest and unittest skip a test with these."""

_NO_FAULT = frozenset({"", "0"})
"""Arguments of `sys.exit` that mean success."""

_PROTOCOLS = {
    "__getitem__": {"IndexError", "KeyError"}, "__next__": {"StopIteration"},
    "__anext__": {"StopAsyncIteration"}, "__getattr__": {"AttributeError"},
    "__getattribute__": {"AttributeError"},
}  # fmt: skip
"""Python catches these errors of a method itself: they end a loop, or answer `in` and `hasattr`."""

GIVEN_UP = frozenset({"TimeoutError", "Empty", "Full"})
"""They say that a wait timed out, but not why."""

_LOOPS = ast.For | ast.AsyncFor | ast.While
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_BROAD = frozenset({"", "Exception", "BaseException"})
_MOST = 2
# Code that expects a missing file doesn't expect a full disk.
_SHORTAGE = re.compile(r"No space left|Too many open files|Cannot allocate memory|quota exceeded")


@dataclass(slots=True, kw_only=True)
class _Raised:
    """An error on its way through the user's functions: the calls that it came by, by number."""

    pid: int
    type: str
    message: str
    at: Line
    last: Line
    thread: str
    last_call: int
    calls: set[int]


@value_class(kw_only=True)
class _Handler:
    """What has caught an error: its line, whether it takes anything, whether it raises another.

    A line of 0: it was caught, and as it had to be. It is in a loop that `tries_again` until that succeeds.
    """

    line: int
    end: int
    is_broad: bool
    raises: bool
    tries_again: bool = False


_EXPECTED = _Handler(line=0, end=0, is_broad=False, raises=False)
_TAKES = "suppress"
"""The context manager that catches what it is given."""

_WANTS = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
"""Those of pytest and unittest for what has to come."""


def raised_clues(
    told: Sequence[JsonObject],
    failure: Failure | None,
    at: Placing,
    source_of: Callable[[str], str],
) -> list[Clue]:
    """Return the errors before the failure that it doesn't mention, the last first.

    Of those that a loop met which tries the same again, the first comes first: it brought the others.
    """
    errors = list(_raised(told))
    place = None if failure is None else failure.place
    kind = "" if failure is None else failure.signature.exception.rpartition(".")[2]
    final = next(
        (
            number
            for number, each in enumerate(errors)
            if place is not None
            # pytest names a file from where it was started.
            and each.at.number == place.line
            and each.at.path == os.path.normpath(Path(at.folder, place.path))
            and kind in {"", each.type}
        ),
        len(errors),
    )
    is_test = failure is not None and failure.kind is FailureKind.TEST_FAILURE
    reported = errors[final] if final < len(errors) else None
    by_handler: dict[tuple[str, int, str], list[Clue]] = {}
    for number, each in enumerate(reversed(errors[:final])):
        handler = _handler(source_of(each.last.path), each.last, each.type)
        clue = _clue(each, handler, at, source_of, is_test=is_test, final=reported)
        if clue is not None and each.type not in _SKIPS:
            line = handler.line if handler is not None and handler.tries_again else -number
            key = (each.last.path, line, each.thread)
            by_handler.setdefault(key, []).insert(0, clue)
    return [clue for clues in by_handler.values() for clue in clues][:_MOST]


def is_given_up(told: JsonObject) -> bool:
    """Whether the reported error is a timeout of a wait."""
    return told.get("kind") == "raised" and told.get("type") in GIVEN_UP


def _raised(told: Sequence[JsonObject]) -> Iterator[_Raised]:
    errors: dict[tuple[int, int], _Raised] = {}
    for each in told:
        if each.get("kind") not in {"raised", "passed"}:
            continue
        key, here = (integer(each, "pid"), integer(each, "number")), line_of(each.get("place"))
        if here is None:
            continue
        if each["kind"] == "raised":
            errors[key] = _Raised(
                pid=key[0], type=text(each, "type"), message=text(each, "message"),
                at=here, last=here, thread=text(each, "thread"), last_call=0, calls=set(),
            )  # fmt: skip
        elif key not in errors:
            continue
        error, call = errors[key], optional_integer(each, "call") or 0
        error.last, error.last_call = here, call
        error.calls |= {call} - {0}
    return iter(errors.values())


def _clue(
    raised: _Raised,
    handler: _Handler | None,
    at: Placing,
    source_of: Callable[[str], str],
    *,
    is_test: bool,
    final: _Raised | None,
) -> Clue | None:
    words = f"{raised.type}: {raised.message}" if raised.message else raised.type
    where = f"{at(raised.at.path, raised.at.number)} in `{raised.at.function}`"
    thread = f", in thread `{raised.thread}`" if raised.thread else ""
    if handler is None:
        last = raised.last.function.rpartition(".")[2]
        if raised.type in _PROTOCOLS.get(last, ()):
            return None
        if last == "<module>" or (is_test and last.startswith("test") and not raised.thread):
            return None  # it went all the way up, and was reported
        if raised.type == "SystemExit" and raised.message in _NO_FAULT:
            return None  # a child process or a thread that ended well
        manager = _manager(source_of(raised.last.path), raised.last.number)
        may = f"; the `with` at {at(raised.last.path, manager)} may have" if manager else ""
        what = f"no `except` in your code has caught it{may}"
    elif handler is _EXPECTED:
        return None
    elif handler.raises or handler.is_broad or _SHORTAGE.search(raised.message):
        deed = "turned into another error" if handler.raises else "caught and dropped"
        what = f"{deed} at {at(raised.last.path, handler.line)}"
    else:
        return None  # it was expected there
    ended = {Mention.UNCAUGHT} if handler is None else set[Mention]()
    brought_again = _brought_again(handler, raised, final)
    if brought_again:
        what += ", which then tried again; the reported error is of a later try"
    return Clue(
        says=f"before it, {words} was raised at {where}{thread}: {what}",
        why=_WHY_AGAIN if brought_again else _WHY,
        mentions=frozenset(() if brought_again else {Mention.CAUGHT, *ended}),
        path=raised.at.path,
        line=raised.at.number,
        sureness=Sureness.SEEN
        if brought_again or _became(handler, raised, final)
        else Sureness.POSSIBLE,
    )


def _became(caught: _Handler | None, raised: _Raised, final: _Raised | None) -> bool:
    """Whether what has caught an error is what raised the failure."""
    return (
        caught is not None
        and final is not None
        and raised.type not in GIVEN_UP
        and caught.raises
        and final.at.path == raised.last.path
        and caught.line <= final.at.number <= caught.end
    )


def _brought_again(caught: _Handler | None, raised: _Raised, final: _Raised | None) -> bool:
    """Whether the failure came up in a call that tried again only because of this error."""
    return (
        caught is not None
        and final is not None
        and raised.type not in GIVEN_UP
        and caught.tries_again
        and raised.pid == final.pid
        and raised.last_call in final.calls
    )


def _handler(source: str, last: Line, kind: str) -> _Handler | None:
    """Return what the innermost `try` or `with` around a line has for an error, by its name."""
    try:
        tree = module_of(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    handler: _Handler | None = None
    loop: ast.For | ast.AsyncFor | ast.While | None = None
    for node in ast.walk(tree):  # what is further in comes later
        if isinstance(node, _LOOPS | _FUNCTIONS) and _spans(node.body, last.number):
            loop = node if isinstance(node, _LOOPS) else None
        if not isinstance(node, ast.Try | ast.TryStar | ast.With | ast.AsyncWith):
            continue
        if not _spans(node.body, last.number):
            continue
        if isinstance(node, ast.With | ast.AsyncWith):
            handler = _taken(node, kind) or handler
        elif isinstance(node, ast.TryStar) and kind.endswith("Group"):
            handler = _EXPECTED  # the errors in the group aren't reported
        else:
            matching = _matching(node.handlers, kind)
            if matching is not None and loop is not None and _tries_again(loop, node):
                matching = replace(matching, tries_again=True)
            handler = matching or _left(node.finalbody) or handler
    return handler


def _spans(body: Sequence[ast.stmt], number: int) -> bool:
    return body[0].lineno <= number <= (body[-1].end_lineno or body[-1].lineno)


def _tries_again(loop: ast.For | ast.AsyncFor | ast.While, tried: ast.Try | ast.TryStar) -> bool:
    """Whether each round of a loop does the same, until that succeeds: its variable plays no part."""
    done = [node for each in (*tried.body, *tried.orelse) for node in ast.walk(each)]
    used = {node.id for node in done if isinstance(node, ast.Name)}
    target = () if isinstance(loop, ast.While) else ast.walk(loop.target)
    varied = {node.id for node in target if isinstance(node, ast.Name)}
    return any(isinstance(node, ast.Return | ast.Break) for node in done) and not varied & used


def _manager(source: str, number: int) -> int:
    """Return the line of the innermost `with` around a line; 0: there is none."""
    line = 0
    with suppress(SyntaxError, ValueError, RecursionError):
        for node in ast.walk(module_of(source)):
            if isinstance(node, ast.With | ast.AsyncWith) and _spans(node.body, number):
                line = node.lineno
    return line


def _left(final: Sequence[ast.stmt]) -> _Handler | None:
    """Return what drops an error on its way: a `finally` that returns."""
    for each in final:
        if isinstance(each, ast.Return):
            return _Handler(
                line=each.lineno, end=each.end_lineno or each.lineno, is_broad=True, raises=False
            )
    return None


def _matching(handlers: Sequence[ast.ExceptHandler], kind: str) -> _Handler | None:
    answers = [(each, _catches(_names(each.type), kind)) for each in handlers]
    for each, is_caught in answers:
        if is_caught or (is_caught is None and len(handlers) == 1):
            return _Handler(
                line=each.lineno,
                end=each.end_lineno or each.lineno,
                is_broad=bool(_names(each.type) & _BROAD) and not _uses(each),
                raises=any(isinstance(node, ast.Raise) and node.exc for node in ast.walk(each)),
            )
    # It may have been any of them, or none.
    return _EXPECTED if any(is_caught is None for _, is_caught in answers) else None


def _taken(node: ast.With | ast.AsyncWith, kind: str) -> _Handler | None:
    """Return what a `with` does with an error, where it is one that is meant for errors."""
    for item in node.items:
        call = item.context_expr
        if not isinstance(call, ast.Call):
            continue
        name = ast.unparse(call.func).rpartition(".")[2]
        names = frozenset[str]().union(*map(_names, call.args))
        if name in _WANTS:
            return _EXPECTED
        if name == _TAKES and _catches(names, kind) is not False:
            return _Handler(
                line=node.lineno, end=node.lineno, is_broad=bool(names & _BROAD), raises=False
            )
    return None


def _catches(names: frozenset[str], kind: str) -> bool | None:
    """Whether a handler of some names takes an error of a type; None: the names don't say."""
    if kind in names or names & _BROAD:
        return True
    error = getattr(builtins, kind, None)
    classes = [getattr(builtins, name, None) for name in names]
    if not isinstance(error, type) or not all(isinstance(each, type) for each in classes):
        return None
    return issubclass(error, tuple(each for each in classes if isinstance(each, type)))


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
