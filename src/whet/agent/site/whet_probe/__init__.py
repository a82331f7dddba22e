"""Does what was asked for where the program comes to a line, a function or an error.

No file of the user's is edited. From Python 3.12 on the interpreter itself tells (`sys.monitoring`,
`monitor.py`); before that the modules in question are compiled with a call more (`instrument.py`,
`loading.py`). Code that nobody asks about runs as it would without.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

BEFORE = frozenset(sys.modules)  # what this package imports itself, the program gets again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .hits import Hits
    from .loading import Loading


def begin(folder: str, wish: str) -> Loading | None:
    """Look out for what is asked for; return what compiles modules, if anything is to.

    Args:
        folder: where what was seen is left for whet.
        wish: as of `whet.core.probe`: what is asked for, as JSON.
    """
    from .hits import Hits

    return look_out(Hits(folder, wish), BEFORE)


def look_out(hits: Hits, before: frozenset[str]) -> Loading | None:
    """Have it told what is met; return what compiles modules, if anything is to.

    Args:
        hits: acts on what is met.
        before: modules that were there before whet's own.
    """
    if not hits.probes:
        return None
    if sys.version_info >= (3, 12):
        from .monitor import Monitor

        if Monitor(hits).begin():
            for probe in hits.probes:
                if hits.is_held(probe, before):
                    hits.loads(probe.path, probe.module, [probe])
            return None
    from .loading import Loading

    loading = Loading(hits, before)
    loading.begin()
    return loading
