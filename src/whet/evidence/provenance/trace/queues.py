"""What was put into a queue for the value that a line took out of it: first in, first out."""

import ast

from whet.evidence.provenance.run.recording import Recording, Step, Value
from whet.evidence.provenance.run.source import Sources, head
from whet.evidence.provenance.trace.moments import Moments

_TAKING, _PUTTING = {"get", "get_nowait", "popleft"}, {"put", "put_nowait", "append"}
_QUEUES = {
    "queue.Queue", "_queue.SimpleQueue", "asyncio.queues.Queue", "collections.deque",
}  # fmt: skip
"""In which the first comes first: no heap, and no stack."""


def put_for(
    expr: ast.expr, step: Step, target: Value | None, recording: Recording, sources: Sources
) -> tuple[ast.expr, Step] | None:
    """Return what was put into a queue as that which a line took out; None: that isn't sure.

    Args:
        expr: the line's call.
        step: the line.
        target: what it took.
        recording: the run.
        sources: the program.
    """
    now = Moments(recording, sources)
    call = expr.value if isinstance(expr, ast.Await) else expr
    match call:
        case ast.Call(func=ast.Attribute(value=holder, attr=name)) if name in _TAKING:
            queue = now.value(holder, step.frame, step)
        case _:
            return None
    known = None
    if queue is not None and queue.type in _QUEUES:
        known = _history(queue, step, recording, sources, now)
    if known is None or known[0] >= len(known[1]):
        return None
    given, at = known[1][known[0]]
    value = now.value(given, at.frame, at)
    is_other = value is not None and target is not None and not value.is_same(target)
    return None if is_other else (given, at)


def _history(
    queue: Value, until: Step, recording: Recording, sources: Sources, now: Moments
) -> tuple[int, list[tuple[ast.expr, Step]]] | None:
    """Return how many were taken out before a line, and all that was put in; None: not all was recorded."""
    taken, puts = 0, list[tuple[ast.expr, Step]]()
    for each in recording.steps:
        if each.begin >= until.begin:
            break
        for method, node in () if each.result is not None else _used(each, queue, now, sources):
            seen = len(recording.at_line(each.frame.code, each.line))
            if recording.times_of(each.frame.code, each.line).times > seen:
                return None
            if method in _TAKING:
                taken += 1
            elif len(node.args) == 1:
                puts.append((node.args[0], each))
    return taken, puts


def _used(step: Step, queue: Value, now: Moments, sources: Sources) -> list[tuple[str, ast.Call]]:
    """Return the calls of a line that put something into a queue, or take something out."""
    found: list[tuple[str, ast.Call]] = []
    for node in head(sources[step.frame.code.path].statement(step.line)):
        match node:
            case ast.Call(func=ast.Attribute(value=holder, attr=name)) if (
                name in _TAKING | _PUTTING
            ):
                if queue.is_same(now.value(holder, step.frame, step)):
                    found.append((name, node))
            case _:
                pass
    return found
