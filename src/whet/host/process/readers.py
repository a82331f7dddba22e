"""Noticing that no process reads whet's output any more."""

import os
import select
import signal
from collections.abc import Generator
from contextlib import contextmanager

from whet.host.kernel.daemon_thread import DaemonThread

_NAMELESS = ("pipe:", "socket:")  # one with a name may find another reader


@contextmanager
def interrupted_without_reader(stream: int = 1) -> Generator[None, None, None]:
    """Interrupt whet, as Ctrl-C does, once the program at the other end of a pipe has gone.

    A write would notice it, but whet may write nothing for hours.
    Where SIGINT is ignored (`&` in a script) it is SIGTERM.
    """
    if not _is_nameless(stream):
        yield
        return
    over, end = os.pipe()
    thread = DaemonThread(target=_look, args=(stream, over), name="whet-readers")
    try:
        thread.start()
    except RuntimeError:  # no more threads are allowed: the next write notices it
        os.close(over)
        os.close(end)
        yield
        return
    try:
        yield
    finally:
        os.close(end)
        thread.join()
        os.close(over)


def _is_nameless(stream: int) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{stream}").startswith(_NAMELESS)
    except OSError:  # it is closed: `>&-`
        return False


def _look(stream: int, over: int) -> None:
    poll = select.poll()
    poll.register(over, select.POLLIN)
    poll.register(stream, 0)  # errors and hang-ups are always told
    ready = {descriptor for descriptor, _ in poll.poll()}
    if over not in ready:
        ignores = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        os.kill(os.getpid(), signal.SIGTERM if ignores else signal.SIGINT)
