"""Has a program whose steps are recorded write down what there is, before it is killed."""

import os
import time
from contextlib import suppress
from pathlib import Path

from whet.host.inspect.stacks import is_listening
from whet.host.process.process_tree import cpu_ticks_of, descendants_of, state_of

STEPS_SIGNAL = 59
"""On this signal the recorder in a program (`whet_closer.recording.steps`) writes down its steps so far."""

_BEGINS_SECONDS, _ENDS_SECONDS, _BETWEEN_SECONDS = 1.0, 10.0, 0.02
"""A main thread in a call into C doesn't get to it; one that has begun is given time, and so is one that
waits for a processor."""
_LEAST_TICKS = int(os.sysconf("SC_CLK_TCK") * _BEGINS_SECONDS / 2)


def ask_for_steps(root: int, agent_folder: Path) -> None:
    """Have the first process of a tree that is recorded write its steps, if none has written any."""
    if next(agent_folder.glob("*.steps"), None) is not None:
        return
    for pid in (root, *descendants_of(root)):
        if is_listening(pid, STEPS_SIGNAL):
            _ask(pid, agent_folder / f"{pid}.steps")
            return


def _ask(pid: int, path: Path) -> None:
    """Ask a process, and once more where that came at a moment at which it could not answer."""
    began, ticks = time.monotonic(), cpu_ticks_of(pid)
    under_way = path.with_suffix(".steps.part")
    while not path.exists():
        is_begun, seconds = under_way.exists(), time.monotonic() - began
        is_starved = state_of(pid) == "R" and cpu_ticks_of(pid) - ticks < _LEAST_TICKS
        if seconds > (_ENDS_SECONDS if is_begun or is_starved else _BEGINS_SECONDS):
            return
        if not is_begun and is_listening(pid, STEPS_SIGNAL):
            with suppress(OSError):
                os.kill(pid, STEPS_SIGNAL)
        time.sleep(_BETWEEN_SECONDS)
