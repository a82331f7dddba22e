"""Processes that keep processors busy during a trial, so that the kernel interrupts it more often."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from whet.core.limits import LimitMet
from whet.host.limits.enforcer import End, Order
from whet.host.process.cleanup_journal import CleanupJournal

# It ends when its standard input does, so also when whet is killed.
_BUSY = """
from select import select
while not select([0], [], [], 0)[0]:
    for _ in range(100_000): pass
"""


@dataclass(slots=True, kw_only=True)
class Load:
    """Busy processes around one trial.

    Attributes:
        processes: they.
        cleanup_journal: where they are written down.
    """

    processes: "Sequence[subprocess.Popen[bytes]]"
    cleanup_journal: CleanupJournal
    way: str = "busy processes"
    steps: tuple[Order, ...] = ()
    probes: tuple[Order, ...] = ()
    watches: tuple[Order, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()

    def met(self, _end: End, /) -> tuple[LimitMet, ...]:
        """Return nothing: it isn't a limit."""
        return ()

    def close(self) -> None:
        """End them."""
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.close()
            process.kill()
        for process in self.processes:
            process.wait()
            self.cleanup_journal.forget(str(process.pid))


def keep_busy(count: int, cleanup_journal: CleanupJournal) -> Load:
    """Start this number of processes that compute; they end with the trial."""
    processes: list[subprocess.Popen[bytes]] = []
    load = Load(processes=processes, cleanup_journal=cleanup_journal)
    try:
        for _ in range(count):
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BUSY],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # no Ctrl-C of the terminal reaches it
            )
            processes.append(process)
            cleanup_journal.adopt("process", str(process.pid))
    except BaseException:
        load.close()
        raise
    return load
