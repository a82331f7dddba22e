"""Which processes wait for one another at pipes and at locks of files, as the kernel shows it."""

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from whet.core.observations.stack import PipeWait
from whet.host.kernel.blocked_calls import END, LOCK, READ, WRITE, BlockedCall, blocked_calls
from whet.host.process.process_facts import facts_of

_ACCESS = 0o3  # of the flags of a descriptor
_END = {READ: os.O_WRONLY, WRITE: os.O_RDONLY}
"""The end that somebody else must use."""


def pipe_waits_of(pids: Sequence[int]) -> Mapping[int, tuple[PipeWait, ...]]:
    """Return the threads of processes that wait for others of these processes.

    Only of processes in which each thread waits, at two looks, in a call that another thread has to
    end. A debugger that stops a thread can end its call, so this look comes first.
    """
    calls = {pid: blocked_calls(pid) for pid in pids}
    if not any(call.kind for own in calls.values() for call in own):
        return {}
    ends = {pid: _ends_of(pid) for pid in pids}
    is_locked = any(each.kind == LOCK for own in calls.values() for each in own)
    holders: Mapping[int, Sequence[int]] = _holders() if is_locked else {}
    return {
        pid: tuple(_waits(pid, own, ends, holders.get(pid, ())))
        for pid, own in calls.items()
        if all(call.is_endless for call in own) and own == blocked_calls(pid)
    }


def _waits(
    pid: int,
    calls: Sequence[BlockedCall],
    ends: Mapping[int, Mapping[int, tuple[str, int]]],
    holders: Sequence[int],
) -> Iterator[PipeWait]:
    for call in calls:
        others: tuple[tuple[int, int], ...]
        if call.kind == END and call.target:
            child = int(call.target)
            others = ((child, -1),) if child in ends else ()
        elif call.kind == LOCK:
            others = tuple((holder, -1) for holder in holders)
        else:
            wanted = (call.target, _END.get(call.kind))
            others = tuple(
                (other, number)
                for other, own in ends.items()
                for number, end in own.items()
                if end == wanted
            )
        # What is open in the reader itself, too, is an end that it forgot to close.
        foreign = tuple(each for each in others if each[0] != pid) or others
        if foreign:
            yield PipeWait(
                thread=call.thread, deed=call.kind, descriptor=call.descriptor, others=foreign,
                file=call.target if call.kind == LOCK else "",
                holder=_other_program(foreign[0][0], pid, ends) if call.kind == LOCK else "",
            )  # fmt: skip


def _other_program(holder: int, pid: int, own: Container[int]) -> str:
    """Return what runs in a process that holds a lock.

    Empty if it may be one of the program's: a run has a session of its own, and a lock is inherited from
    one that has ended.
    """
    facts = facts_of(holder)
    try:
        is_other = facts is not None and os.getsid(holder) != os.getsid(pid)
    except OSError:
        return ""
    parent = facts
    while is_other and parent is not None and parent.parent:
        is_other = parent.pid not in own
        parent = facts_of(parent.parent)
    return _program(holder) if is_other else ""


def _program(pid: int) -> str:
    """Return what runs in a process, without its arguments: they may hold a secret."""
    facts = facts_of(pid)
    words = [] if facts is None else facts.command.split()
    script = words[1] if len(words) > 1 and words[1].endswith(".py") else ""
    return " ".join(os.path.basename(each) for each in (*words[:1], script) if each)


def lock_holder(path: str) -> tuple[int, str]:
    """Return a process that holds a lock of a file, and what runs in it, without its arguments; 0: none is known."""
    with suppress(OSError, ValueError, IndexError):
        status = Path(path).stat()
        device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        for line in Path("/proc/locks").read_text("ascii", "replace").splitlines():
            words = line.split()
            if words[5] == device and (pid := int(words[4])) > 0:
                return pid, _program(pid)
    return 0, ""


def _holders() -> Mapping[int, Sequence[int]]:
    """Return which processes hold the locks of files that each process waits for."""
    found: dict[int, list[int]] = {}
    holder = 0
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/locks").read_text("ascii", "replace").splitlines():
            words = line.split()
            if words[1] == "->":
                found.setdefault(int(words[5]), []).append(holder)
            else:
                holder = int(words[4])  # each lock is followed by who waits for it
    # 0: a process in another container; -1: the lock of an open file, which names no process.
    return {pid: held for pid, held in found.items() if min(held) > 0}


def _ends_of(pid: int) -> Mapping[int, tuple[str, int]]:
    """Return the pipes that a process has open, by descriptor, each with how it is open."""
    found: dict[int, tuple[str, int]] = {}
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                pipe = os.readlink(entry)
                if pipe.startswith("pipe:"):
                    flags = Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text("ascii", "replace")
                    access = int(flags.split("flags:", 1)[1].split()[0], 8) & _ACCESS
                    found[int(entry.name)] = (pipe, access)
    return found
