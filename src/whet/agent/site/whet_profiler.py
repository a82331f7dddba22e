"""Begins the profiler that is asked for inside this Python.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Guards = dict[str, Callable[[dict[str, object]], None]]
    Tell = Callable[[str, bytes], None]


def begin(folder: str, tell: Tell, wish: str) -> Guards:
    """Begin; return what is called with certain modules when they have been run.

    Args:
        folder: where records go.
        tell: writes to a file of this process, by the end of its name.
        wish: ``memory``, ``gpu`` or ``gpu_memory``.
    """
    name = {"memory": "whet_memory", "gpu_memory": "whet_allocations"}.get(wish, "whet_frameworks")
    own = __import__(name)
    try:
        guards: Guards = own.begin(folder, tell)
    finally:
        sys.modules.pop(name, None)
    return guards
