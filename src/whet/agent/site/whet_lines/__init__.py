"""Counts and times the statements of one file: each one, deterministically, and nothing else.

The file is compiled with calls between its statements (`weaving.py`); what they see goes into a
table that whet reads (`timing.py`). No line moves, and the file isn't edited.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

BEFORE = frozenset(sys.modules)  # what is imported here, the program gets again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from whet.agent.site.whet_probe.loading import Loading


def begin(folder: str, wish: str) -> Loading | None:
    """Count from here on; return what compiles the file.

    Args:
        folder: where what was counted is left for whet.
        wish: as of `whet_probe.begin`, with one probe for the file, and with ``lines``: how many
            statements it has, and the first and the last line that are asked for.
    """
    from .counting import Counting

    counting = Counting(folder, wish, BEFORE)
    counting.begin()
    return counting
