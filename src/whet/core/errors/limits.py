"""Errors about a trial's limits, sandbox and clock."""

from whet.core.errors.base import UNAVAILABLE, USAGE, WhetError


class LimitMakesNoSense(WhetError):
    """A limit isn't a size or a number, exceeds what this machine has, or is too low for a program to start.

    Write sizes as `300M`, `5G` or `1.5GiB`; a letter is a power of 1024. The message shows how
    much this machine has, or the least that works.
    """

    exit_code = USAGE


class LimitNotEnforced(WhetError):
    """whet can't enforce a limit on this machine, or a probe exceeded it.

    The message lists the ways that whet tried and what each one lacks. It limits memory with
    control groups (version 2 if this user has a delegated one or gets one from
    `systemd-run --user`, version 1 if it is writable), or else with a watchdog of its own.
    whet didn't run the command: a limit that doesn't hold would prove nothing.
    """

    exit_code = UNAVAILABLE


class RoomRefused(WhetError):
    """This machine can't give a trial its own disk, network or clean room.

    These need Linux namespaces, which root can always create, and other users where the system
    allows it; clean rooms and `--disk-free` need overlays (without root from Linux 5.11 on). System
    calls that fail (`--fail`) need seccomp, and don't work one inside another. Common obstacles, and
    what to do:

    - `sysctl user.max_user_namespaces` is 0, or `kernel.unprivileged_userns_clone` is 0
      (older Debian): an administrator sets it.
    - Ubuntu 24.04 and later: `kernel.apparmor_restrict_unprivileged_userns` is 1. Set it to 0,
      or run as root.
    - A container: Docker forbids namespaces inside it unless you start it with
      `--cap-add SYS_ADMIN` or `--security-opt seccomp=unconfined`.
    """

    exit_code = UNAVAILABLE


class GpuNotHeld(WhetError):
    """whet can't occupy a GPU's memory to leave only the given amount.

    The driver says why: no visible GPU (`CUDA_VISIBLE_DEVICES`), or too little free memory.
    """

    exit_code = UNAVAILABLE


class ClockNotPossible(WhetError):
    """This machine can't give a trial another time of day.

    `--clock` needs libfaketime (`apt-get install faketime`), which a program loads when it starts.
    Statically linked programs, such as those in Go, don't load it.
    """

    exit_code = UNAVAILABLE
