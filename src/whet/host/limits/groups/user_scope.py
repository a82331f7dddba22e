"""A control group of version 2 for an ordinary user, from their own systemd.

A user who logged in with ssh can't create control groups where their shell runs. Their systemd can, and
delegates a part of the tree on request (`systemd-run --user --scope --property=Delegate=yes`;
systemd.resource-control(5)). No one can move a process there from outside, so whet starts the spawner
inside, and its children can then move from group to group.
"""

import os
import shutil
import socket
import threading
import time
from contextlib import suppress

from whet.host.kernel.control_groups import group_of_process, own_group, read_words, write_words
from whet.host.process.process_tree import descendants_of

_PATIENCE_SECONDS = 5.0
_SPAWNER = "spawner"

_refusals: list[str] = []


class _Here(threading.local):
    """What a thread has: it uses one spawner, and that one's groups aren't another's."""

    home = ""


_here = _Here()


def home_group() -> str | None:
    """Return the group next to which whet makes groups for trials: a spawner's, or this process's own."""
    return _here.home if is_home_given() else own_group("")


def is_home_given() -> bool:
    """Whether that group was asked of systemd."""
    return os.path.isdir(_here.home)


def is_in_scope(pid: int) -> bool:
    """Whether a process was started in a part of the tree that was asked of systemd."""
    return group_of_process(pid) == _here.home


def scope_blocker() -> str:
    """Return why systemd can't give this user a part of the tree; empty: it is worth a try."""
    if _refusals:
        return _refusals[0]
    if shutil.which("systemd-run") is None:
        return "`systemd-run` isn't installed"
    folder = os.environ.get("XDG_RUNTIME_DIR")
    if not folder:
        return "`XDG_RUNTIME_DIR` isn't set; a login sets it"
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.path.join(folder, "systemd", "private"))
    except OSError:
        return f"your user's systemd doesn't answer in `{folder}`"
    return ""


def scope_prefix() -> tuple[str, ...]:
    """Return the words before a command that start it in a part of the tree of its own."""
    program = shutil.which("systemd-run") or "systemd-run"
    return (program, "--user", "--scope", "--quiet", "--collect", "--property=Delegate=yes", "--")


def settle_in_scope(pid: int, before: str | None) -> bool:
    """Wait until a process is in its part of the tree, and make room for groups beside it there.

    Args:
        pid: of the process.
        before: the group that it was started from.

    Returns:
        whether it has come to that.
    """
    gives_up_at = time.monotonic() + _PATIENCE_SECONDS
    while (scope := group_of_process(pid)) == before or scope is None:
        if scope is None or time.monotonic() > gives_up_at:
            _refusals.append("it created no group")
            return False
        time.sleep(0.002)
    home = os.path.join(scope, _SPAWNER)
    try:
        os.mkdir(home)
        # A group with processes has no limited ones below it. What it forks from here on is in there.
        write_words(f"{home}/cgroup.procs", pid)
        for below in descendants_of(pid):
            write_words(f"{home}/cgroup.procs", below)
    except OSError as error:
        _refusals.append(f"whet can't use the group that it created: {error.strerror}")
        return False
    for controller in read_words(f"{scope}/cgroup.controllers").split():
        with suppress(OSError):
            write_words(f"{scope}/cgroup.subtree_control", f"+{controller}")
    _here.home = home
    return True
