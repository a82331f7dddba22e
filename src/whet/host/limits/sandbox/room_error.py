"""The error that says why a trial gets no sandbox, and what this machine lacks for it."""

import errno
import os

from whet.core.errors import LimitNotEnforced, RoomRefused, WhetError

_SWITCHES = (
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


def room_error(stage: str, words: str, number: int) -> WhetError:
    """Return the error for a sandbox that can't be made.

    Args:
        stage: how far it came, as `whet.host.spawner.room_entry.RoomRefusedError` has it.
        words: the failed step.
        number: the system's error; 0: it was made, but a limit in it doesn't hold.
    """
    if not number:
        return LimitNotEnforced(
            f"a limit has no effect here: a probe exceeded it: {words}",
            hint="`whet explain limit-not-enforced` lists what each way needs",
        )
    who = "root" if os.geteuid() == 0 else "an ordinary user"
    hint = ""
    if stage == "overlay":
        hint, words = _hint_for_mount(words), f"mount of overlay on {words} in a user namespace"
    both = f" (namespaces without a user namespace: {os.strerror(errno.EPERM)})"
    return RoomRefused(
        f"whet can't create a sandbox as {who}: {words}: {os.strerror(number)}"
        + (both if stage != "room" else ""),
        hint=hint or _hint(),
    )


def _hint_for_mount(folder: str) -> str:
    """Return what to do where something is mounted below what can't be laid over; else nothing."""
    if os.geteuid() == 0:
        return ""
    from whet.host.kernel.mounts import mount_points

    for point in map(os.fsdecode, mount_points()):
        if point.startswith(f"{folder.rstrip('/')}/"):
            return f"unmount `{point}`: only root can overlay a folder that contains a mount"
    return ""


def _hint() -> str:
    for path, forbids, command in _SWITCHES:
        try:
            with open(path, encoding="ascii") as file:
                if file.read().strip() == forbids:
                    return f"an administrator can allow it: `{command}`"
        except OSError:
            continue
    return "`whet explain room-refused` lists what it needs, in containers too"
