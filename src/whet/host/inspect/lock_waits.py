"""Which threads of a process wait for which locks, as its agent reports them (`whet_locks`)."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from whet.core.observations.stack import ThreadWait
from whet.core.text.quantity import bounded
from whet.host.inspect.stacks import is_listening, told_at, unescaped

LOCKS_SIGNAL = 60
"""On this signal the agent reports the locks; it listens once the program imports threading."""

_PARTS = 7
_PATIENCE_SECONDS = 0.1
_FUTEX = {"202", "98"}
"""On x86-64 and on aarch64."""


def waits_of(pid: int, agent_folder: Path | None) -> tuple[ThreadWait, ...]:
    """Return the threads of a process that wait for one another; none, too, if it doesn't answer.

    It is asked only while its main thread waits for a lock: the signal interrupts any other call.

    Args:
        pid: the process.
        agent_folder: where its agent writes; None: where its environment says.
    """
    gives_up_at = time.monotonic() + _PATIENCE_SECONDS
    while not _waits_for_lock(pid):
        if time.monotonic() > gives_up_at:
            return ()
        time.sleep(0.002)  # an earlier look has just let it continue
    return tuple(_waits(told_at(LOCKS_SIGNAL, pid, agent_folder, "locks") or ""))


def _waits_for_lock(pid: int) -> bool:
    """Whether the main thread does, and would answer now."""
    with suppress(OSError):
        call = Path(f"/proc/{pid}/task/{pid}/syscall").read_text("ascii", "replace")
        return call.partition(" ")[0] in _FUTEX and is_listening(pid, LOCKS_SIGNAL)
    return False


def _waits(told: str) -> Iterator[ThreadWait]:
    for line in told.splitlines():
        parts = line.split("\t")
        if len(parts) == _PARTS:
            yield ThreadWait(
                thread=bounded(parts[1]), name=unescaped(parts[2]), lock=unescaped(parts[3]),
                holder=bounded(parts[4]), path=unescaped(parts[5]), line=bounded(parts[6]),
            )  # fmt: skip
