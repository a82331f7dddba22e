"""The changes by which times are added and subtracted by what passes, where a run did so by the clock."""

import ast

from whet.evidence.experiments.changes import Change
from whet.evidence.experiments.timed_otherwise import by_time_passed, sums_in
from whet.evidence.provenance.run.recording import Recording
from whet.evidence.provenance.run.source import Source, Sources
from whet.evidence.provenance.trace.moments import Moments

_TIME = "datetime.datetime"
_MOST_CHANGES = 6


def clock_changes(recording: Recording) -> list[tuple[str, Change]]:
    """Return the changes of lines that had a time to add to or to subtract from."""
    sources = Sources()
    now = Moments(recording, sources)
    found: list[tuple[str, Change]] = []
    sums: dict[str, dict[int, list[ast.BinOp]]] = {}
    seen = set[int]()
    for step in recording.steps:
        path = step.frame.code.path
        if path not in sums:
            sums[path] = {}
            for node in sums_in(sources[path].tree):
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    sums[path].setdefault(line, []).append(node)
        for node in sums[path].get(step.line, ()):
            left = now.value(node.left, step.frame, step) if id(node) not in seen else None
            if left is not None and left.type == _TIME:
                seen.add(id(node))
                found.append((path, _change(node, sources[path])))
    return found[:_MOST_CHANGES]


def _change(node: ast.BinOp, source: Source) -> Change:
    return Change(
        node=node, what=f"`{source.said(node)}` goes by the clock, which was changed between those times",
        instead="it counted in UTC", edit=lambda _: None, is_checked=True, is_weighed=True,
        text=by_time_passed(source.text, node), advice="by converting times to UTC before",
    )  # fmt: skip
