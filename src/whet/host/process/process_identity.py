"""Which process a pid stands for: pids are reused, a pid with its start time isn't."""

import os
import time

from whet.core.value_class import value_class

_STATE, _START_TICKS = 0, 19  # fields of /proc/PID/stat after the name; proc_pid_stat(5)


@value_class
class ProcessIdentity:
    """A process of this machine, since its last start.

    Attributes:
        pid: its number.
        start_ticks: when it started, in clock ticks since boot.
    """

    pid: int
    start_ticks: int

    @classmethod
    def of(cls, pid: int) -> "ProcessIdentity | None":
        """Return the identity of the living process ``pid``; None if there is none."""
        fields = _stat_fields(pid)
        # A zombie is as dead as can be: it waits for its parent, and holds nothing.
        if fields is None or fields[_STATE] in {b"Z", b"X"}:
            return None
        return cls(pid, int(fields[_START_TICKS]))

    @property
    def is_alive(self) -> bool:
        """Whether this very process still runs."""
        return ProcessIdentity.of(self.pid) == self

    def kill(self, signal_number: int) -> bool:
        """Send a signal to this very process; say whether it was there.

        A pidfd pins the process, so that the check and the signal mean the same one.
        """
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return False
        except OSError:  # an old kernel, or a sandbox
            return self.is_alive and _kill(self.pid, signal_number)
        try:
            if not self.is_alive:
                return False
            signal_pidfd(descriptor, signal_number)
        except OSError:  # gone, or another user's
            return False
        finally:
            os.close(descriptor)
        return True


def _kill(pid: int, signal_number: int) -> bool:
    try:
        os.kill(pid, signal_number)
    except OSError:
        return False
    return True


def signal_pidfd(descriptor: int, signal_number: int) -> None:
    """Send a signal to the process that ``descriptor`` pins."""
    import signal

    signal.pidfd_send_signal(descriptor, signal_number)


def _stat_fields(pid: int) -> list[bytes] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            line = file.read(1024)
    except OSError:
        return None
    # The name is in parentheses and may hold spaces and parentheses itself.
    return line[line.rfind(b")") + 2 :].split() or None


def begun_at() -> float:
    """Return when this process was started, in seconds of `time.monotonic`."""
    fields = _stat_fields(os.getpid())
    now = time.monotonic()
    if fields is None:
        return now
    started = int(fields[_START_TICKS]) / os.sysconf("SC_CLK_TCK")
    return now - max(time.clock_gettime(time.CLOCK_BOOTTIME) - started, 0.0)
