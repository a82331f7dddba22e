"""Control groups: those of this process, and how to create and remove one.

cgroups(7). In version 1, each controller (memory, pids, cpu) has its own tree; in version 2, all of
them share one tree.
"""

import errno
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

_PATIENCE_SECONDS = 2.0  # a killed process is counted until it is gone for good


def own_group(controller: str) -> str | None:
    """Return the folder of the group that this process is in; None if it can't be seen.

    Args:
        controller: ``memory`` or another one of version 1; empty: the tree of version 2.
    """
    return _group_of("self", controller)


def group_of_process(pid: int) -> str | None:
    """Return the folder of a process's group of version 2; None if it is gone or can't be seen."""
    return _group_of(str(pid), "")


def _group_of(process: str, controller: str) -> str | None:
    path = _path_of(process, controller)
    if path is None:
        return None
    for root, point in _mounts(controller):
        inside = os.path.relpath(path, root)
        if not inside.startswith(".."):
            folder = os.path.normpath(os.path.join(point, inside))
            return folder if os.path.isdir(folder) else None
    return None


def new_group(parent: str) -> str:
    """Return the path of a group that is still to be made, which no other whet will take."""
    return os.path.join(parent, f"whet-{os.getpid()}-{os.urandom(4).hex()}")


def read_fields(path: str) -> dict[str, int]:
    """Return the numbers of a file of a group: ``oom_kill 1``; nothing if it is gone."""
    rows = (line.split() for line in read_words(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


def read_number(path: str) -> int | None:
    """Return the number that a file of a group says; None if it says none."""
    words = read_words(path).strip()
    return int(words) if words.isdigit() else None


def read_words(path: str) -> str:
    """Return what a file of a group says; empty if it is gone."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def write_words(path: str, words: object) -> None:
    """Write to a file of a group.

    Raises:
        OSError: if the kernel refuses it.
    """
    with open(path, "w", encoding="ascii") as file:
        file.write(str(words))


def remove_group(folder: str) -> None:
    """Kill all that is in a group and in those below it, and remove them; one that is gone is fine.

    Raises:
        OSError: if something in it can't be killed.
    """
    gives_up_at, pause = time.monotonic() + _PATIENCE_SECONDS, 0.0005
    while True:
        try:
            _remove_once(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > gives_up_at:
                raise
        else:
            return
        _kill_all_in(folder)
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def _remove_once(folder: str) -> None:
    with os.scandir(folder) as entries:
        below = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    for each in below:
        with suppress(FileNotFoundError):
            _remove_once(each)
    os.rmdir(folder)


def _kill_all_in(folder: str) -> None:
    for place, _, _ in os.walk(folder):
        for pid in read_words(os.path.join(place, "cgroup.procs")).split():
            with suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


def _path_of(process: str, controller: str) -> str | None:
    for line in read_words(f"/proc/{process}/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(",") if controller else not names:
            return path
    return None


def _mounts(controller: str) -> Iterator[tuple[str, str]]:
    """Yield which part of a tree is mounted where; proc_pid_mountinfo(5)."""
    for line in read_words("/proc/self/mountinfo").splitlines():
        words = line.split(" ")
        separator = words.index("-")
        kind, options = words[separator + 1], words[separator + 3].split(",")
        if kind == ("cgroup" if controller else "cgroup2") and (
            not controller or controller in options
        ):
            yield _unescaped(words[3]), _unescaped(words[4])


def _unescaped(path: str) -> str:
    return path.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
