"""Compiles the file whose statements are counted.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import json

from .timing import Timing
from .weaving import Weaver

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast

    from whet.agent.site.whet_probe.hits import Hits, Probe
    from whet.agent.site.whet_probe.loading import Loading
    from whet.agent.site.whet_probe.report import Report
else:
    from whet_probe.hits import Hits
    from whet_probe.loading import Loading
    from whet_probe.report import Report


class _Events(Report):
    """What one process tells of loading the file; in files that aren't those of probes."""

    def path(self, suffix: str) -> str:
        return super().path(suffix.replace("probe", "line-event"))


class Counting(Loading):
    """Compiles one file with marks between its statements."""

    def __init__(self, folder: str, wish: str, early: frozenset[str]) -> None:
        """Make it ready; arguments as of `whet_lines.begin`."""
        super().__init__(Hits(folder, wish, _Events(folder, 1)), early)
        lines = json.loads(wish)["lines"]
        self._first, self._last = lines["first"], lines["last"]
        self._timing = Timing(folder, lines["count"])

    def _put_marks(self, tree: ast.Module, path: str, probes: list[Probe], *, raises: bool) -> None:
        del path, probes, raises
        Weaver(tree, lambda line: self._first <= line <= self._last).weave()

    def _mark(self, text: str) -> object:
        kind, _, number = text.partition(":")
        return self._timing.mark(kind, int(number))
