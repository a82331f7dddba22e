"""A table of the system calls at which whet stops a followed program, and of their arguments.

It leaves out calls that a program makes all the time, and calls whose failure no file, limit or
address explains: positions in a file, mappings, locks. Calls with a path or a descriptor are in
`whet.host.kernel.syscalls` and `whet.host.kernel.fault_calls`.
"""

from whet.host.kernel.fault_calls import faultable
from whet.host.kernel.seccomp import passing, passing_below, telling
from whet.host.kernel.syscalls import machine

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from typing import TypeAlias

    from whet.host.kernel.seccomp import Instruction

    # number, descriptor, folder, path, other folder, other path; -1: it has none
    Places: TypeAlias = tuple[int, int, int, int, int, int]

# name, number on x86_64, number on aarch64 (-1: not there), index of the file descriptor (-1: none)
_TABLE = """
    select            23   -1 -1
    pselect6         270   72 -1
    ppoll            271   73 -1
    epoll_wait       232   -1  0
    epoll_pwait      281   22  0
    epoll_pwait2     441  441  0
    wait4             61  260 -1
    waitid           247   95 -1
    nanosleep         35  101 -1
    clock_nanosleep  230  115 -1
    pause             34   -1 -1
    rt_sigtimedwait  128  137 -1
    rt_sigreturn      15  139 -1
    semop             65  193 -1
    semtimedop       220  192 -1
    msgrcv            70  188 -1
    syncfs           306  267  0
    prlimit64        302  261 -1
    setuid           105  146 -1
    setgid           106  144 -1
    setpriority      141  140 -1
    sched_setscheduler 144 119 -1
    tgkill           234  131 -1
    shmat             30  196 -1
    mlock2           325  284 -1
    mlockall         151  230 -1
    io_setup         206    0 -1
    perf_event_open  298  241 -1
    bpf              321  280 -1
    keyctl           250  219 -1
    capset           126   91 -1
"""
_LEFT_OUT = frozenset(
    [
        "lseek",
        "fstat",
        "mprotect",
        "munmap",
        "brk",
        "mremap",
        "madvise",
        "getrandom",
        "shutdown",
        "setsockopt",
        "socketpair",
        "sched_setaffinity",
        "close",
        "close_range",
        "msync",
    ]
)
_SECOND = {
    "rename": (-1, 1),
    "renameat": (2, 3),
    "renameat2": (2, 3),
    "link": (-1, 1),
    "linkat": (2, 3),
}
ADDRESSES = {"connect": (1, 2), "bind": (1, 2), "sendto": (4, 5)}
"""Which arguments hold an address and its length."""

_ADDRESS_KINDS = frozenset({*ADDRESSES, "sendmsg", "sendmmsg"})
_NO_PATH = frozenset({"kill", "rt_sigqueueinfo"})
_AGENT_PLACES = (1000, 500)  # as `whet_agent` has it: what it writes there isn't the program's
FUTEX = {"x86_64": 202, "aarch64": 98}.get(machine(), -1)
"""A thread that waits for a lock is in this call; whet doesn't follow it, as threads make it all the time."""

_MANY_BYTES = 64 << 20
_QUIET_REQUESTS = (0x5401, 0x5451, 0x5421)  # TCGETS, FIOCLEX, FIONBIO


def followed() -> "dict[str, Places]":
    """Return the calls of this machine by name."""
    table: dict[str, Places] = {}
    for name, (number, *places) in faultable().items():
        if name not in _LEFT_OUT:
            second = _SECOND.get(name, (-1, -1))
            table[name] = (number, *_places(name, *places), *second)
    column = {"x86_64": 1, "aarch64": 2}[machine()]
    for line in _TABLE.split("\n"):
        words = line.split()
        if words and int(words[column]) >= 0:
            table[words[0]] = (int(words[column]), int(words[3]), -1, -1, -1, -1)
    return table


def _places(name: str, descriptor: int, folder: int, path: int) -> "tuple[int, int, int]":
    """Return where descriptor, folder and path stand; the other tables have other uses for them."""
    if name in _ADDRESS_KINDS:
        return (0, -1, -1)
    if name in _NO_PATH:
        return (-1, -1, -1)
    return (folder, -1, -1) if path < 0 <= folder else (descriptor, folder, path)


def filter_program() -> "list[Instruction]":
    """Return the program of the filter that a followed process installs."""
    numbers = {name: places[0] for name, places in followed().items()}
    shortened = {
        numbers["write"]: passing(0, _AGENT_PLACES),
        numbers["ioctl"]: passing(1, _QUIET_REQUESTS),
        numbers["mmap"]: passing_below(1, _MANY_BYTES),
    }
    return telling(sorted(numbers.values()), shortened)
