"""The parent of the spawner: if either of the two is killed, the other one ends the programs.

When the spawner dies, even by SIGKILL, the kernel ends the command itself, but not the command's
children. So there are two *subreapers*, one below the other (prctl(2), PR_SET_CHILD_SUBREAPER):

- when the spawner is killed, the guardian inherits its whole tree and kills it;
- when the guardian is killed, the spawner gets a signal and ends its tree as if whet were gone;
- when whet is killed, the spawner sees the end of its socket.

When all three are killed at one moment, the kernel kills the process groups that the spawner knows
(`whet.host.spawner.tethers`). The next whet kills the processes that left these groups in the last
two hundredths of a second (more where there are many processes).
"""

import ctypes
import os
import time

from whet.agent.site.whet_true_sleep import is_under_faketime, sleep_in_true_time
from whet.host.process.process_tree import descendants_of

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # `signal` is this and enums, which add 10 ms

PARENT_IS_GONE = signal.SIGUSR1
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
_PATIENCE_SECONDS = 5.0  # a killed process that still lives hangs in the kernel (state D)
_LAST_STANDARD = 2


def become_reaper() -> None:
    """Make this process the parent of all below it that lose theirs."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def be_told_of_parents_end(number: int, parent: int) -> bool:
    """Have the kernel send this process a signal when its parent ends; say whether it still lives."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    return os.getppid() == parent


def stand_guard() -> None:
    """Make this process the guardian, and return in its child, which continues as the spawner.

    The child gets `PARENT_IS_GONE` when this process ends before it. Until it reacts to that
    signal the signal ends it, which is as good: it has started nothing yet.
    """
    if is_under_faketime():
        sleep_in_true_time()
    become_reaper()
    parent, spawner = os.getpid(), os.fork()
    if spawner:
        _guard(spawner)
    if not be_told_of_parents_end(PARENT_IS_GONE, parent):
        os._exit(1)


def _guard(spawner: int) -> None:
    status = 1
    try:
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
            signal.signal(number, signal.SIG_IGN)
        os.closerange(_LAST_STANDARD + 1, os.sysconf("SC_OPEN_MAX"))
        os.chdir("/")
        status = os.waitstatus_to_exitcode(os.waitpid(spawner, 0)[1])
        if status:  # else it has seen to its tree itself
            _end_all()
    finally:
        os._exit(status & 0xFF)


def _end_all() -> None:
    """Kill all that has fallen to this process and wait until it is gone."""
    give_up_at, pause = time.monotonic() + _PATIENCE_SECONDS, 0.0002
    while time.monotonic() < give_up_at:
        for pid in descendants_of(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue  # gone, or of another user
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
