"""Whether the process can be copied where it stands.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from whet.agent.site.whet_probe.beside import ANY_ERROR
    from whet.agent.site.whet_stage.forking import openmp, python_threads, threads
    from whet.agent.site.whet_stage.forking.memory import Memory
else:
    from whet_probe.beside import ANY_ERROR

    if sys.version_info >= (3, 9):
        from whet_stage.forking import openmp, python_threads, threads
        from whet_stage.forking.memory import Memory


_PATIENCE, _STEP_SECONDS = 5, 0.002


def why_no_copy() -> str:
    """Return why a copy of this process couldn't run on; empty: it can."""
    cuda: Any = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        return "it uses CUDA"
    if len(os.listdir("/proc/self/task")) == 1:
        return ""
    if sys.version_info < (3, 9):
        return "threads run"
    try:
        return _threads_left()
    except ANY_ERROR as error:
        return "whet can't inspect its threads: {}".format(error)


def _threads_left() -> str:
    """Return whose threads run that would be missing in a copy; empty: they come back."""
    said = python_threads.Threads(lambda _path: True).description()
    if said:
        return str(said)
    if not python_threads.is_first():
        return "the call is in a thread"
    memory = Memory()
    openmp.pause(memory)
    left: list[Any] = []
    for _ in range(_PATIENCE):
        left = [each for each in threads.native_threads(memory) if not each.survives_fork()]
        if not left:
            return ""
        time.sleep(_STEP_SECONDS)
    return str(left[0])
