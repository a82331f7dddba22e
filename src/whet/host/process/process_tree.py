"""The descendants of a process, from Linux's `/proc`; imports next to nothing."""

import os

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_STATE = 0  # fields of /proc/PID/stat after the name; proc_pid_stat(5)
_PARENT = 1
_GROUP = 2
_USER_TICKS = 11  # then system time, and both of its children
_THREADS = 17


def children_of(pid: int) -> list[int]:
    """Return the living children of a process, zombies included; none if it is gone."""
    pids: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return pids
    for thread in threads:
        text = _read(f"/proc/{pid}/task/{thread}/children", 65536)
        if text is None and os.path.exists(f"/proc/{pid}/stat") and not _kernel_lists_children():
            return [child for child, parent in _parents() if parent == pid]
        pids += [int(child) for child in (text or b"").split()]
    return pids


def descendants_of(pid: int) -> list[int]:
    """Return all processes below a process, parents before their children."""
    pids = children_of(pid)
    for child in pids:  # grows while it is walked
        pids += children_of(child)
    return pids


def resident_bytes(pid: int) -> int:
    """Return the memory that a process holds in RAM now; 0 if it is gone.

    Pages that it shares with others count in full, so a sum over many processes is an upper
    bound. The exact share (`smaps_rollup`) costs milliseconds for each look, and stops the
    process meanwhile.
    """
    text = _read(f"/proc/{pid}/statm", 128)
    return int(text.split()[1]) * _PAGE_BYTES if text else 0


def has_ended(pid: int) -> bool:
    """Whether a process is gone with all its threads, and holds nothing any more.

    One that dies has no memory of its own some milliseconds before that memory is free.
    """
    fields = _stat(pid)
    return not fields or (fields[_STATE] in {b"Z", b"X"} and int(fields[_THREADS]) <= 1)


def own_bytes(pid: int) -> int:
    """Return a process's share of memory: a page of two processes counts half; 0 if it is gone.

    It takes a millisecond for each 100 MB that the process holds, and stops it meanwhile.
    """
    return shares_of(pid)[0]


def shares_of(pid: int) -> tuple[int, int]:
    """Return a process's share of memory and of swap, in bytes; see `own_bytes`."""
    text = _read(f"/proc/{pid}/smaps_rollup", 4096) or b""
    rows = (line.split() for line in text.splitlines())
    shares = {row[0]: int(row[1]) << 10 for row in rows if row[0] in {b"Pss:", b"SwapPss:"}}
    return shares.get(b"Pss:", 0), shares.get(b"SwapPss:", 0)


def cpu_ticks_of(pid: int) -> int:
    """Return the CPU time of a process and of its children that it has waited for; 0: gone."""
    fields = _stat(pid)
    return sum(map(int, fields[_USER_TICKS : _USER_TICKS + 4])) if fields else 0


def disk_bytes_of(pid: int) -> tuple[int, int] | None:
    """Return what a process has read from disks and written towards them; None: not to be seen."""
    text = _read(f"/proc/{pid}/io", 512)
    if not text:
        return None
    fields = dict(line.split(b": ") for line in text.splitlines())
    return int(fields.get(b"read_bytes", 0)), int(fields.get(b"write_bytes", 0))


def name_of(pid: int) -> str:
    """Return the name of a process, 15 characters at most; empty if it is gone.

    A process names itself: what would steer a terminal is shown as ``?``.
    """
    name = os.fsdecode(_read(f"/proc/{pid}/comm", 64) or b"").rstrip("\n")
    return "".join(each if each.isprintable() else "?" for each in name)


def state_of(pid: int) -> str:
    """Return the state of a process, a letter of proc(5); empty if it is gone."""
    fields = _stat(pid)
    return fields[_STATE].decode() if fields else ""


def parent_of(pid: int) -> int:
    """Return the parent of a process; 0 if it is gone."""
    fields = _stat(pid)
    return int(fields[_PARENT]) if fields else 0


def group_of(pid: int) -> int | None:
    """Return the process group of a process; None if it is gone."""
    fields = _stat(pid)
    return int(fields[_GROUP]) if fields else None


def _parents() -> "Iterator[tuple[int, int]]":
    for name in os.listdir("/proc"):
        fields = _stat(int(name)) if name.isdigit() else []
        if fields:
            yield int(name), int(fields[_PARENT])


def _stat(pid: int) -> list[bytes]:
    line = _read(f"/proc/{pid}/stat", 1024) or b""
    # The name is in parentheses and may hold spaces and parentheses itself.
    return line[line.rfind(b")") + 2 :].split()


def _kernel_lists_children() -> bool:
    # Without CONFIG_PROC_CHILDREN there is no such file, not even of this process.
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def _read(path: str, max_bytes: int) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = b""
        while part := os.read(descriptor, max_bytes):
            text += part
    except OSError:
        return None
    else:
        return text
    finally:
        os.close(descriptor)


def queued_seconds_at_end(child: int) -> float:
    """Return how long a child that has ended, and isn't collected yet, waited for a processor.

    That is proc(5)'s `schedstat` of its main thread; 0: it runs, or the kernel doesn't count that.
    """
    try:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return 0.0
        with open(f"/proc/{child}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
