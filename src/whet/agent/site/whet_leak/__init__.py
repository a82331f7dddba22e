"""Measures what a repeated piece of the program leaves behind each time.

A piece is a loop of the user's that runs anyway, of which each round is measured (`rounds.py`), a section
(`runs.py`), or a function that is called again and again where it was called first (`repeats.py`).

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import json
import os
import sys

BEFORE = frozenset(sys.modules)  # what is imported here, the program gets again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from whet.agent.site.whet_leak.runs import Runs
    from whet.agent.site.whet_probe.loading import Loading


def begin(folder: str, wish: str) -> Loading | Runs | None:
    """Measure from here on; return what compiles modules, if anything is to.

    Args:
        folder: where the numbers are left for whet.
        wish: as of `whet.workbench.leak.wish`: what is repeated, as JSON.
    """
    from .report import LeakReport

    look_out: Callable[..., Loading | None] = __import__("whet_probe").look_out
    told = json.loads(wish)
    report = LeakReport(folder, len(told["probes"]))
    report.tell({"begins": os.getpid(), "argv": list(getattr(sys, "argv", []))[:3]})
    if told["piece"] == "call":
        from .repeats import Repeats

        return look_out(Repeats(folder, wish, report), BEFORE)
    if told["section"]:
        from .runs import Runs

        return Runs(folder, wish, report)
    from .rounds import Rounds

    return look_out(Rounds(folder, wish, report), BEFORE)
