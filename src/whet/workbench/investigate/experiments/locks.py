"""The changes by which what made a lock of its own shares it, where several calls ran that line."""

import ast
from collections.abc import Iterable

from whet.evidence.experiments.changes import Change
from whet.evidence.experiments.locked_otherwise import held_in, own_locks
from whet.evidence.provenance.run.recording import Recording
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.trace.moments import Moments

_SEVERAL = 2
_MOST_CHANGES = 4


def lock_changes(paths: Iterable[str], recording: Recording | None) -> list[tuple[str, Change]]:
    """Return the changes, those of locks that nothing shares first.

    Args:
        paths: the program's modules.
        recording: the failing run; None: it wasn't recorded.
    """
    sources, found = Sources(), list[tuple[bool, str, Change]]()
    for path in paths:
        source = sources[path]
        for each in own_locks(source.tree):
            if recording is not None and _times(recording, path, each.made) < _SEVERAL:
                continue
            held = [] if each.is_let_go else list(held_in(source.tree, each.name))
            # Without a recording, two places that take it may be for two threads.
            is_taken = (
                len(held) >= _SEVERAL
                if recording is None
                else _is_taken_by_several(recording, path, held, sources)
            )
            change = Change(
                node=each.made, what=each.says, instead=each.instead, edit=lambda _: None,
                text=each.text_of(source.text), advice=f"by sharing {each.instead}",
                is_telling=not is_taken, turned=each.text_of(source.text, turned=True),
            )  # fmt: skip
            found.append((not each.is_let_go, path, change))
    ordered = sorted(found, key=lambda each: each[0])
    return [(path, change) for _, path, change in ordered][:_MOST_CHANGES]


def _is_taken_by_several(
    recording: Recording, path: str, held: Iterable[ast.expr], sources: Sources
) -> bool:
    """Whether several threads took the same one: then they have waited for each other, as was meant."""
    now, takers = Moments(recording, sources), dict[int, set[int]]()
    places = {each.lineno: each for each in held}
    for step in recording.steps:
        node = places.get(step.line) if step.frame.code.path == path else None
        value = None if node is None else now.value(node, step.frame, step)
        if value is not None and value.number:
            *_, outermost = step.frame.around  # a thread's number may be that of one that has ended
            takers.setdefault(value.number, set()).add(outermost.index)
    return any(len(each) >= _SEVERAL for each in takers.values())


def _times(recording: Recording, path: str, made: ast.expr) -> int:
    lines = range(made.lineno, (made.end_lineno or made.lineno) + 1)
    times = {
        each.frame.index
        for each in recording.steps
        if each.line in lines and each.frame.code.path == path and each.result is None
    }
    return len(times)
