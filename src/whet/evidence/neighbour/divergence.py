"""Where a failing run left the path of all passing runs, and at which condition."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from whet.core.value_class import value_class
from whet.evidence.neighbour.stretch import Function, Line, Stretch, function_of
from whet.evidence.provenance.run.control import is_in
from whet.evidence.provenance.run.recording import Code, Raised, Step
from whet.evidence.provenance.run.source import Sources

Fork = ast.If | ast.While | ast.For | ast.AsyncFor | ast.ExceptHandler


@value_class
class Divergence:
    """A place where the ways part.

    Attributes:
        function: where.
        line: the first line that one side alone has run.
        is_extra: the failing run has run it, and no passing one; else the passing ones alone.
        fork: what decides between the two ways.
        at: the line of that.
        step: when the failing run came to that, before it went its own way.
        calls: functions that the failing run called from there, and no passing run at all.
    """

    function: Function
    line: int
    is_extra: bool
    fork: Fork
    at: int
    step: Step
    calls: tuple[str, ...] = ()

    @property
    def was(self) -> bool:
        """How the test came out in the failing run, where the passing ones went the other way."""
        return is_in(self.fork.body, self.line) == self.is_extra


def divergences(
    failing: Stretch, passing: Sequence[Stretch], error: Raised, sources: Sources
) -> list[Divergence]:
    """Return where the ways part, the first one first; none that leads to the failing line alone.

    Args:
        failing: what the failing run did.
        passing: what each of those did that passed.
        error: how it failed.
        sources: the program.
    """
    if not passing:
        return []
    any_ran = {line for each in passing for line in each.lines}
    all_ran = {line for line in any_ran if all(line in each.lines for each in passing)}
    functions = frozenset(each for one in passing for each in one.functions)
    sides = (
        (set(failing.lines) - any_ran, any_ran, True),
        (all_ran - set(failing.lines), set(failing.lines), False),
    )
    stack = list(_stack_of(error))
    by_line: dict[tuple[Function, int], Divergence] = {}
    for lines, others, is_extra in sides:
        for line in sorted(lines):
            if line[0] not in functions & failing.functions:
                continue
            divergence = _made(line, others, failing, sources, is_extra=is_extra)
            if divergence is not None and not _leads_there(divergence, stack):
                by_line.setdefault((divergence.function, divergence.at), divergence)
    with_calls = (_with_calls(each, failing, functions) for each in by_line.values())
    return sorted(with_calls, key=lambda each: each.step.begin)


def _made(
    line: Line, others: Iterable[Line], failing: Stretch, sources: Sources, *, is_extra: bool
) -> Divergence | None:
    """Return the parting of the ways that leads to a line; None: it is inside of another one."""
    function, number = line
    for fork in _forks(function, number, sources):
        at = fork.lineno
        if (function, at) in others or isinstance(fork, ast.ExceptHandler):
            own = failing.lines.get(line if is_extra else (function, at))
            if own is not None:
                step = _before(own, at)
                divergence = Divergence(function, number, is_extra, fork, at, step)
                return (
                    divergence
                    if is_extra or _went(fork, step) is not (not divergence.was)
                    else None
                )
        return None
    return None


def _forks(function: Function, line: int, sources: Sources) -> Iterator[Fork]:
    """Yield what decides whether a line of a function is run, the innermost first."""
    path, name, first = function
    source = sources[path]
    own = source.node_of(Code(path, name, first, frozenset())) or source.tree
    around = [
        node
        for node in ast.walk(own)
        if isinstance(node, Fork) and (is_in(node.body, line) or is_in(_orelse(node), line))
    ]
    yield from reversed(around)  # `walk` meets the outer ones first


def _before(own: Step, at: int) -> Step:
    """Return the last time that a line was run before another one of the same call."""
    steps = own.frame.steps
    return next(
        (each for each in reversed(steps) if each.line == at and each.begin <= own.begin), own
    )


def _went(fork: Fork, step: Step) -> bool | None:
    """Return whether a run went into the body of what decides; None: nothing shows it."""
    if isinstance(fork, ast.ExceptHandler) or fork.body[0].lineno == fork.lineno:
        return None
    head = range(fork.lineno, fork.body[0].lineno)
    later = (each.line for each in step.frame.steps if each.begin > step.begin)
    after = next((line for line in later if line not in head), None)
    return None if after is None else is_in(fork.body, after)


def _stack_of(error: Raised) -> Iterator[Line]:
    """Yield the lines that were under way when an error came up."""
    line = error.line
    for call in error.call.around:
        yield function_of(call.code), line
        line = call.line


def _leads_there(found: Divergence, stack: Sequence[Line]) -> bool:
    """Whether the way that the failing run took is the one that the traceback shows anyhow."""
    fork = found.fork
    for function, line in stack:
        if function != found.function:
            continue
        if line in (found.line, found.at):
            return True
        is_in_body = is_in(fork.body, line)
        if found.was and is_in_body:
            return True
        if not found.was and is_in(_orelse(fork), line):
            return True
        if not found.is_extra and line >= found.line and is_in_body:
            return True
    return False


def _with_calls(found: Divergence, failing: Stretch, known: frozenset[Function]) -> Divergence:
    """Return it with the functions that were called on the failing run's own way alone."""
    names: dict[str, None] = {}
    branch = found.fork.body if found.was else _orelse(found.fork)
    for (function, _), step in failing.lines.items():
        parent = step.frame.parent
        if function in known or parent is None or function_of(parent.code) != found.function:
            continue
        if is_in(branch, step.frame.line):
            names.setdefault(step.frame.code.name)
    return replace(found, calls=tuple(names))


def _orelse(node: Fork) -> list[ast.stmt]:
    return [] if isinstance(node, ast.ExceptHandler) else node.orelse
