"""The lines that a bad value passed through, nearest to the failure first."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace

from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import EXIT, Failing, decided, tested_in
from whet.evidence.provenance.run.recording import CONTAINER, Raised, Recording, Step, Value
from whet.evidence.provenance.run.source import Sources, called_name
from whet.evidence.provenance.trace.trail import SIMPLE
from whet.evidence.provenance.trace.walk import Walk
from whet.host.inspect.stacks import is_user_code

_MOST_ROUNDS = 3
_MOST_SOURCES = 6
_PLAIN = {"str", "int", "float"}


_EQUAL = (
    "assertequal", "assert_equal", "assertlistequal", "assertdictequal", "assertcountequal",
    "assertalmostequal", "assert_almost_equal", "assert_allclose", "isclose", "allclose",
)  # fmt: skip
_NEAR = {"approx"}
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
_LARGE = 100
_LEAST_CHARACTERS, _LEAST_PARTS = 6, 2
_ABSENCES = frozenset({
    "KeyError", "IndexError", "AttributeError", "FileNotFoundError", "StopIteration",
    "StopAsyncIteration", "GeneratorExit", "Empty",
})  # fmt: skip
_DISPLAY = (ast.List, ast.Tuple, ast.Set, ast.Dict)


@value_class
class Check:
    """What was tested when the program failed.

    Attributes:
        path, line: where the test stands.
        last_line: of the statement that tests.
        times: how often the failing run came to it.
        is_exact: it states the value that it wants.
        is_specific: and a program seldom comes to that value by chance: it is no small count,
            nothing empty, and neither true nor false.
        rounds: files and first lines of the loops that the value came through.
        is_equal: it wants two values to be the same, or near each other.
        errors: how many errors of each type the failing run raised.
    """

    path: str
    line: int
    times: int
    is_exact: bool
    is_specific: bool
    rounds: tuple[tuple[str, int], ...] = ()
    is_equal: bool = False
    errors: Mapping[str, int] = field(default_factory=dict[str, int])
    last_line: int = 0

    def raises_more(self, recording: Recording) -> bool:
        """Whether another run raised more errors of a type: it may pass because work is refused.

        An error that says that something isn't there, such as a result that wasn't kept, doesn't count,
        nor does the one by which a program ends that has passed.
        """
        found = errors_of(recording)
        names = found.keys() - _ABSENCES - {EXIT}
        return any(found[name] > self.errors.get(name, 0) for name in names)

    def is_made_in(
        self,
        recording: Recording,
        *,
        edited: str,
        after: int,
        more_lines: int,
        but_last: bool = False,
    ) -> bool:
        """Whether another run has come to the test at least as often, and into each of the loops.

        Args:
            recording: of that run.
            edited: the file that it ran with a change.
            after: the line of the change.
            more_lines: how many lines the change has added.
            but_last: the time of the failure doesn't count.
        """

        def times(path: str, line: int, last_line: int = 0) -> int:
            by = more_lines if edited == path and after < line else 0
            return times_of(recording, path, line + by, last_line + by if last_line else 0)

        has_gone_round = all(times(*each) for each in self.rounds)
        return (
            has_gone_round and times(self.path, self.line, self.last_line) >= self.times - but_last
        )


def errors_of(recording: Recording) -> Counter[str]:
    """Return how many errors of each type a run raised; one goes through several calls."""
    found: Counter[str] = Counter()
    before: Raised | None = None
    for each in recording.errors:
        # A later error may get the number of one that is gone.
        goes_on = before is not None and (before.type, before.number) == (each.type, each.number)
        if before is None or not (goes_on and each.call in before.call.around):
            found[each.type] += 1
        before = each
    return found


@value_class
class Way:
    """The lines that may have made a value bad.

    Attributes:
        places: files and lines: those that it was followed through, then what else was run there,
            then what else was run, the latest first.
        active: the lines of the calls that were under way at the failure, by file.
        failing: the file and the line of the failure.
        check: what was tested when it failed.
        kind_of: returns the type that an expression on a line of a file had; empty: not known.
        followed: those of the places that the value itself came by.
    """

    places: tuple[tuple[str, int], ...]
    active: Mapping[str, AbstractSet[int]]
    failing: tuple[str, int]
    check: Check
    kind_of: Callable[[str, ast.expr, int], str]
    followed: frozenset[tuple[str, int]] = frozenset()


def way_of(failing: Failing, recording: Recording, sources: Sources, walk: Walk) -> Way:
    """Return the way of the value of a failure, after it was followed."""
    failing = decided(failing, sources, walk)
    path, moment = failing.call.code.path, failing.error.moment
    active: dict[str, set[int]] = {path: {failing.error.line}}
    for call in failing.call.around:
        step = call.step_at(moment)
        if step is not None:
            active.setdefault(call.code.path, set()).add(step.line)
    common = _of_both_sides(failing, sources, walk)
    # With another answer passed on it would pass whatever is tested.
    unlikely = common | set(failing.passed_on)
    followed = {e: None for e in walk.passed if is_user_code(e[0]) and e not in common}
    of_functions = {
        (step.frame.code.path, step.frame.code.name)
        for step in recording.steps
        if (step.frame.code.path, step.line) in followed
    }
    rest = [
        (step.frame.code.path, step.line, step.frame.code.name)
        for step in reversed(recording.steps)
        if step.begin < moment and step.result is None and is_user_code(step.frame.code.path)
    ]
    near = {(p, line): None for p, line, name in rest if (p, name) in of_functions}
    far = {(p, line): None for p, line, _ in rest}
    return Way(
        places=tuple(each for each in {**followed, **near, **far} if each not in unlikely),
        active=active,
        failing=(path, failing.error.line),
        check=replace(
            check_of(failing, recording, sources, walk),
            rounds=tuple(_rounds(followed, recording, sources)),
        ),
        kind_of=_Kinds(recording, walk),
        followed=frozenset(followed),
    )


def _rounds(
    followed: Iterable[tuple[str, int]], recording: Recording, sources: Sources
) -> Iterator[tuple[str, int]]:
    """Yield the first lines of the loops around lines, as far as they have run."""
    by_path: dict[str, set[int]] = {}
    for path, line in followed:
        by_path.setdefault(path, set()).add(line)
    for path, lines in by_path.items():
        for node in ast.walk(sources[path].tree):
            if not isinstance(node, ast.For | ast.AsyncFor | ast.While):
                continue
            first = node.body[0].lineno
            inside = range(first, (node.body[-1].end_lineno or first) + 1)
            if any(line in inside for line in lines) and times_of(recording, path, first):
                yield path, first


def _of_both_sides(failing: Failing, sources: Sources, walk: Walk) -> set[tuple[str, int]]:
    """Return the lines that both sides of a comparison come from: a change there moves both."""
    test, step = tested_in(failing, sources)
    if not isinstance(test, ast.Compare):
        return set()
    every, sides = walk.passed, list[set[tuple[str, int]]]()
    for side in (test.left, *test.comparators):
        walk.passed = {}
        for expr, value in walk.now.operands(ast.Expr(side), failing.call, step):
            waiting = [walk.back(expr, failing.call, step, value, None)]
            for _ in range(_MOST_SOURCES):
                made = waiting.pop(0) if waiting else None
                if made is None or made.expression is None or made.call is None:
                    break
                if made.step is not None:
                    whole = ast.Expr(made.expression)
                    for part, was in list(walk.now.operands(whole, made.call, made.step)):
                        waiting.append(walk.back(part, made.call, made.step, was, None))
        sides.append(set(walk.passed))
    walk.passed = {**every, **{place: None for side in sides for place in side}}
    return sides[0].intersection(*sides[1:])


class _Kinds:
    """Tells the types of expressions by the last times that their lines were run."""

    def __init__(self, recording: Recording, walk: Walk) -> None:
        self._walk = walk
        self._steps: dict[tuple[str, int], list[Step]] = {}
        for step in reversed(recording.steps):
            known = self._steps.setdefault((step.frame.code.path, step.line), [])
            if step.result is None and len(known) < _MOST_ROUNDS:
                known.append(step)

    def __call__(self, path: str, expr: ast.expr, line: int) -> str:
        """Return a type; empty: it isn't known."""
        for step in self._steps.get((path, line), ()):
            value: Value | None = self._walk.now.value(expr, step.frame, step)
            if value is not None:
                return value.type
        return ""


def times_of(recording: Recording, path: str, line: int, last_line: int = 0) -> int:
    """Return how often a run came to a line, or to a statement, whose lines it may go through several times."""
    lines, before, times = range(line, max(line, last_line) + 1), dict[int, int](), 0
    for each in recording.steps:
        if each.result is None and each.frame.code.path == path:
            is_new = len(lines) == 1 or before.get(id(each.frame), 0) not in lines
            times += each.line in lines and is_new
            before[id(each.frame)] = each.line
    return times


def check_of(failing: Failing, recording: Recording, sources: Sources, walk: Walk) -> Check:
    """Return the check of a failure."""
    path = failing.call.code.path
    statement = sources[path].statement(failing.error.line)
    _, step = tested_in(failing, sources)
    test: ast.AST | None = statement if isinstance(statement, ast.Assert | ast.Expr) else None
    wants_same = True
    if isinstance(statement, ast.Raise):  # `if wanted != found: raise`
        test, wants_same = tested_in(failing, sources)[0], False
    pairs = [
        [(side, walk.now.value(side, failing.call, failing.step)) for side in sides]
        for node in (ast.walk(test) if test is not None else ())
        for sides in _sides(node, wants_same=wants_same)
    ]
    last_line = 0
    if isinstance(statement, ast.Assert | ast.Expr) and step.line == statement.lineno:
        last_line = statement.end_lineno or 0
    return Check(
        path=path,
        line=step.line,
        last_line=last_line,
        times=times_of(recording, path, step.line, last_line),
        is_exact=any(_is_stated(*each) for pair in pairs for each in pair),
        is_specific=any(_is_specific(pair, recording) for pair in pairs),
        is_equal=bool(pairs),
        errors=errors_of(recording),
    )


def compared_in(test: ast.AST) -> Iterator[list[ast.expr]]:
    """Yield what a test compares, in whichever way."""
    for node in ast.walk(test):
        near = next(
            (pair for same in (True, False) for pair in _sides(node, wants_same=same)), None
        )
        if near is not None:
            yield near
        elif isinstance(node, ast.Compare):
            yield [node.left, *node.comparators]


def _sides(node: ast.AST, *, wants_same: bool) -> Iterator[list[ast.expr]]:
    """Yield what a check compares with what it wants, both to be the same or near each other."""
    same, near = (ast.Eq, (ast.Lt, ast.LtE)) if wants_same else (ast.NotEq, (ast.Gt, ast.GtE))
    match node:
        case ast.Compare(
            left=ast.Call(
                func=ast.Name(id="abs"), args=[ast.BinOp(left=left, op=ast.Sub(), right=right)]
            ),
            ops=[operator],
        ) if isinstance(operator, near):
            yield [left, right]
        case ast.Compare(left=left, ops=[operator, *_], comparators=others) if isinstance(
            operator, same
        ):
            yield [_unwrapped(each) for each in (left, *others)]
        case ast.Call(args=args) if called_name(node).lower().startswith(_EQUAL):
            yield [_unwrapped(each) for each in args]
        case _:
            return


def _unwrapped(side: ast.expr) -> ast.expr:
    is_near = isinstance(side, ast.Call) and called_name(side) in _NEAR and side.args
    return side.args[0] if is_near and isinstance(side, ast.Call) else side


def _is_stated(side: ast.expr, value: Value | None) -> bool:
    is_written = isinstance(side, (ast.Constant, *_DISPLAY))
    is_plain = value is not None and value.words in SIMPLE
    return (value is not None or is_written) and not is_plain


def _is_specific(pair: list[tuple[ast.expr, Value | None]], recording: Recording) -> bool:
    """Whether what is wanted is not what many values are, and is hardly met by chance."""
    written = [each for each in pair if isinstance(each[0], (ast.Constant, *_DISPLAY))]
    if any(_is_empty(*each) or _is_held(each[0], recording) for each in written or pair):
        return False
    return any(
        _is_telling(side, recording) or (value is not None and _is_seldom(value, recording))
        for side, value in pair
    )


def _is_held(side: ast.expr, recording: Recording) -> bool:
    """Whether the failing run had a value that is written in the check: it may have picked another."""
    if not isinstance(side, ast.Constant):
        return False
    said = repr(side.value)
    return any(each.words == said for each in recording.values)


def _is_empty(side: ast.expr, value: Value | None) -> bool:
    if value is not None:
        return value.words in SIMPLE or (value.kind == CONTAINER and not value.size)
    return isinstance(side, _DISPLAY) and not _elements(side)


def _is_telling(side: ast.expr, recording: Recording) -> bool:
    """Whether what is written in the check is hardly met by chance."""
    if isinstance(side, _DISPLAY):
        return sum(_is_telling(each, recording) for each in _elements(side)) >= _LEAST_PARTS
    if not isinstance(side, ast.Constant):
        return False
    number = side.value if isinstance(side.value, int | float) else None
    is_long = isinstance(side.value, str) and len(side.value) >= _LEAST_CHARACTERS
    return (is_long or (number is not None and _is_odd(number))) and not _is_held(side, recording)


def _elements(side: ast.expr) -> Sequence[ast.expr]:
    match side:
        case ast.Dict(values=found) | ast.List(elts=found) | ast.Tuple(elts=found):
            return found
        case ast.Set(elts=found):
            return found
        case _:
            return ()


def _is_seldom(value: Value, recording: Recording) -> bool:
    """Whether a value is a number, or holds numbers, that a program seldom comes to."""
    if value.kind == CONTAINER:
        parts = (part for _, part in recording.parts(value))
        return sum(_is_seldom(each, recording) for each in parts) >= _LEAST_PARTS
    number = _NUMBER.search(value.words) if value.is_number else None
    return number is not None and _is_odd(float(number[0]))


def _is_odd(number: float) -> bool:
    return abs(number) >= _LARGE or not float(number).is_integer()
