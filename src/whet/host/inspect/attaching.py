"""Following a running process for a while, and leaving it running."""

import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from whet.core.errors import NoSuchProcess, StackForbidden
from whet.core.observations.system_call import SystemCalls
from whet.host.inspect.call_groups import IsUsual
from whet.host.inspect.follower import Follower
from whet.host.inspect.stacks import agent_folder_of
from whet.host.kernel.ptrace import Tracer
from whet.host.process.process_tree import descendants_of


class TimeIsUpError(Exception):
    """It was followed for as long as was asked."""


def follow_running(
    pid: int, is_usual: IsUsual, *, seconds: float | None, begun: Callable[[], None]
) -> SystemCalls:
    """Follow a process and all below it until they end, the time is up, or Ctrl-C comes.

    In the main thread alone: that is the one that a signal interrupts.

    Args:
        pid: the process.
        is_usual: says which failing calls are only counted.
        seconds: how long; None: until it ends.
        begun: called when it is followed.

    Raises:
        NoSuchProcess: if there is none, or it has ended.
        StackForbidden: if the system doesn't allow it.
    """
    if pid <= 0 or _is_over(pid):
        raise NoSuchProcess(
            f"process {pid} doesn't exist, or has ended",
            hint="`pgrep -af PATTERN` finds processes",
        )
    if pid == os.getpid():
        raise NoSuchProcess(f"process {pid} is whet itself", hint="`pgrep -af PATTERN`")
    follower = Follower(
        is_usual,
        Tracer(is_filtered=False, kills_at_end=False),
        agent_folder=agent_folder_of(pid),
    )
    try:
        with suppress(KeyboardInterrupt, TimeIsUpError), _for(seconds):
            _attach(follower, pid)
            begun()
            follower.follow()
        follower.note_waiting()
    finally:
        follower.detach()
        follower.close()
    return follower.groups.calls()


def _attach(follower: Follower, pid: int) -> None:
    for each in (pid, *descendants_of(pid)):
        try:
            follower.attach(each)
        except (ProcessLookupError, FileNotFoundError):
            if each == pid:
                raise NoSuchProcess(
                    f"process {pid} ended before whet could follow it",
                    hint="start it with whet: `whet syscalls -- COMMAND`",
                ) from None
        except PermissionError as error:
            if each == pid:
                raise _forbidden(pid) from error
            follower.groups.notes.append(f"whet may not follow process {each}")


def _forbidden(pid: int) -> StackForbidden:
    tracer = _line_of(pid, "TracerPid:")
    if tracer not in {"", "0"}:
        return StackForbidden(
            f"process {tracer} (a debugger, strace?) already follows process {pid}",
            hint="end that one first: only one process can follow another",
        )
    return StackForbidden(
        f"the system doesn't let you follow process {pid} (ptrace)",
        hint=f"`sudo $(which whet) syscalls --pid {pid}`, or start it with whet:"
        " `whet syscalls -- COMMAND`",
    )


def _is_over(pid: int) -> bool:
    return _line_of(pid, "State:").startswith(("Z", "X")) or not os.path.exists(f"/proc/{pid}")


def _line_of(pid: int, name: str) -> str:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines():
            if line.startswith(name):
                return line.partition(":")[2].strip()
    return ""


@contextmanager
def _for(seconds: float | None) -> Generator[None]:
    """Raise `TimeIsUpError` when the time is over."""
    if seconds is None:
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> NoReturn:
        raise TimeIsUpError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
