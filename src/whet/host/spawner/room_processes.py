"""A process namespace for a trial: a first process that keeps it, and the program next to it.

The kernel ends all processes of such a namespace when the first one ends (pid_namespaces(7)). The
first process only collects orphans, and it ends as soon as the spawner does, in any way: it waits at a
pipe that only the spawner holds open. The program isn't the first process, because most signals don't
kill that one, and not every program collects orphans.
"""

import os
import select

from whet.host.kernel import mounts

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import signal
    from typing import NoReturn
else:
    import _signal as signal  # `signal` is this and enums, which add 10 ms

MARK = b"@"
"""Starts the line that reports a program's numbers: its own, and the first process's."""


def divide(reported: int, lifeline: int) -> None:
    """Return in the program-to-be, the second process of the new namespace; this process ends.

    It ends so that the spawner, which is the reaper of what it starts, becomes the parent of both.

    Args:
        reported: where the two numbers are written to, as the caller's namespace knows them.
        lifeline: the end of it is the end of the namespace.

    Raises:
        OSError: if the system refuses it.
    """
    gate, end = os.pipe()
    first = os.fork()
    if first == 0:
        _keep(lifeline)
    program = os.fork()
    if program:
        os.write(reported, b"%s%d %d\n" % (MARK, program, first))
        os._exit(0)
    os.close(end)
    os.read(gate, 1)  # until the caller is gone, and so is the first process's copy of the pipe
    os.close(gate)
    mounts.mount_proc()


def _keep(lifeline: int) -> "NoReturn":
    """Be the first process of the namespace until the spawner ends."""
    try:
        os.setsid()
        os.chdir("/")
        os.closerange(0, lifeline)
        os.closerange(lifeline + 1, os.sysconf("SC_OPEN_MAX"))
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        poll = select.poll()
        poll.register(lifeline, select.POLLIN)
        poll.register(woken, select.POLLIN)
        while lifeline not in [ready for ready, _ in poll.poll()]:
            os.read(woken, 4096)
            _collect()
    finally:
        os._exit(0)


def _collect() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return
