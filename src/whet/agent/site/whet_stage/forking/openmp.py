"""Ends the threads of OpenMP runtimes before a fork; they come back with the next parallel region.

In a copy that was forked while they were there, the next parallel region waits forever.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os

from ..hiding.private import private_import
from .threads import OPENMP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Memory

_HARD = 2  # omp_pause_hard: OpenMP 5.0, 3.2.44


def pause(memory: Memory) -> None:
    """Ask each runtime, and each copy of one that a wheel brings, to free its threads.

    Whether they did is to be seen from the threads: one that has not been used says no, too.
    """
    paths = [path for path in memory.libraries() if os.path.basename(path).startswith(OPENMP)]
    if not paths:
        return
    ctypes = private_import("_ctypes")
    for path in paths:
        try:
            library: int = ctypes.dlopen(path, os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            continue
        try:
            function: int = ctypes.dlsym(library, "omp_pause_resource_all")
            ctypes.call_function(function, (_HARD,))
        except OSError:
            pass
        finally:
            ctypes.dlclose(library)
