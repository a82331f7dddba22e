"""A process that answers each system call with which a trial's program reads or changes files.

The kernel holds such a call until the *listener* answers (seccomp_unotify(2)). The observer first
records the call (`whet.host.spawner.syscall_decoder`) and then always lets it continue.

The program can notice one thing: if a signal arrives in the microseconds before the observer has
received a call, and its handler doesn't restart system calls (`SA_RESTART`), the call fails with `EINTR`.

The observer is the parent of the spawner. So it can read the memory of all programs even if only
ancestors may (Yama's `ptrace_scope`). The process that whet starts forks into both. If either ends, so
does the other, and held calls then continue or die.
"""

import _thread
import fcntl
import gc
import os
import select
import struct

from whet.host.kernel.syscalls import ARCHITECTURES, machine
from whet.host.process.channel import Channel, as_number, as_numbers, as_texts
from whet.host.process.messages import as_begun
from whet.host.spawner.guardian import PARENT_IS_GONE, be_told_of_parents_end
from whet.host.spawner.syscall_decoder import SyscallDecoder
from whet.host.spawner.tree_accesses import TreeAccesses

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import signal
    from typing import NoReturn
else:
    import _signal as signal  # `signal` is this and enums, which add 10 ms

# linux/seccomp.h
RECEIVE, SEND, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082104
CONTINUE = 1
REQUEST = struct.Struct("=QIIiIQ6Q")  # id, pid, flags, number, architecture, where, arguments
ANSWER = struct.Struct("=QqiI")  # id, value, error, flags
_LAST_STANDARD = 2


def divide() -> Channel:
    """Make this process the observer and return in its child, which continues as the spawner.

    Returns:
        the channel to the observer.
    """
    ours, theirs = Channel.pair()
    parent, child = os.getpid(), os.fork()
    if child:
        _observe(theirs, child)
    if not be_told_of_parents_end(PARENT_IS_GONE, parent):
        os._exit(1)
    theirs.close()
    return ours


def _observe(channel: Channel, spawner: int) -> "NoReturn":
    """Answer until the spawner has ended; end as it did."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _close_all_but(channel.descriptor)
        gc.disable()
        _serve(channel)
        _, exit_status = os.waitpid(spawner, 0)
        status = os.waitstatus_to_exitcode(exit_status)
    finally:
        os._exit(status & 0xFF)


def _close_all_but(descriptor: int) -> None:
    os.closerange(_LAST_STANDARD + 1, descriptor)
    os.closerange(descriptor + 1, os.sysconf("SC_OPEN_MAX"))


def _serve(channel: Channel) -> None:
    noticed, looks = SyscallDecoder(), TreeAccesses()
    attending: list[SyscallDecoder | TreeAccesses] = [noticed]
    while (message := channel.receive()) is not None:
        kind, body, descriptors = message
        if kind == "begin":
            attending[0] = noticed
            noticed.begin(as_begun(body))
        elif kind == "begin looks":
            attending[0] = looks
            top, repository, cwd = as_texts(body)
            looks.begin(top, repository)
            looks.look(cwd)
        elif kind == "looks":
            channel.send("looks", looks.summary())
        elif kind == "listener":
            _thread.start_new_thread(_answer_all, (descriptors[0], attending))
        elif kind == "facts":
            channel.send("facts", noticed.facts(*as_numbers(body)))
        elif kind == "did":
            channel.send("did", noticed.done())
        elif kind == "put back":
            channel.send("put back", noticed.put_back(as_number(body)))
        elif kind == "drop":
            noticed.drop(as_number(body))


def _answer_all(listener: int, attending: "list[SyscallDecoder | TreeAccesses]") -> None:
    """Answer all calls of one program and its copies."""
    is_over = False
    try:
        _set_flags(listener)
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        while poll.poll()[0][1] & select.POLLIN:
            # Always by way of `poll`: only who waits there is woken on the program's own CPU.
            _answer_one(listener, attending[0])
        os.close(listener)
        is_over = True
    finally:
        if not is_over:
            os._exit(1)  # a call that is held forever is worse


def _set_flags(listener: int) -> None:
    try:
        fcntl.ioctl(listener, _SET_FLAGS, 1)
    except OSError:
        return  # before Linux 6.6: each call takes a little longer


def _answer_one(listener: int, noticed: "SyscallDecoder | TreeAccesses") -> None:
    request = bytearray(REQUEST.size)
    try:
        fcntl.ioctl(listener, RECEIVE, request)
    except OSError:
        return  # the caller is dead
    identity, pid, _, number, architecture, _, *arguments = REQUEST.unpack(request)
    try:
        is_native = architecture == ARCHITECTURES[machine()]
        noticed.take(pid, number if is_native else -1, arguments)
    except Exception as error:  # noqa: BLE001 - the program goes on, but nothing is frozen
        noticed.ends(f"a call that whet can't interpret: {error!r}")
    try:
        fcntl.ioctl(listener, SEND, ANSWER.pack(identity, 0, 0, CONTINUE))
    except OSError:
        return
