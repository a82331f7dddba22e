"""A trial whose system calls one of whet's threads follows.

The process that becomes the program waits until that thread has attached to it. From then on, the
kernel stops it at the calls in `whet.host.inspect.followed_calls`, and its children too.
"""

import errno
import json
import os
import socket
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from whet.core.limits import LimitMet
from whet.core.observations.evidence import SYSTEM_CALLS, Evidence
from whet.host.inspect.call_groups import Sieve
from whet.host.inspect.followed_calls import filter_program
from whet.host.inspect.follower import Follower
from whet.host.kernel.ptrace import Tracer
from whet.host.kernel.seccomp import packed
from whet.host.limits.enforcer import End, Order
from whet.host.process.reported import ReportServer

_AGENT = str(Path(__file__).resolve().parents[2] / "agent") + os.sep
_CREDENTIALS = struct.Struct("=iII")  # pid, uid, gid
_PATIENCE_SECONDS = 5.0
_MOST_KEPT = 2000


class Following:
    """Follows one trial; a `whet.host.limits.enforcer.Prepared`."""

    def __init__(self, sieve: Sieve, agent_folder: Path, *, is_filtered: bool) -> None:
        """Begin to wait for the process that is to be followed.

        Args:
            sieve: says which failing calls are kept.
            agent_folder: where the agents of the trial write.
            is_filtered: calls are announced by a filter. One that holds calls, to have them fail,
                comes before it: then every call is stopped at.

        Raises:
            OSError: if the system gives no socket.
        """
        self.way = ""
        self.probes: tuple[Order, ...] = ()
        self.watches: tuple[Order, ...] = ()
        self.environment: Mapping[str, str] = {}
        self.notes: tuple[str, ...] = ()
        self._is_filtered = is_filtered
        self._sieve = sieve
        self._follower = Follower(
            sieve.is_usual,
            # A filter without a tracer has every call fail that it announces.
            Tracer(is_filtered=is_filtered, kills_at_end=True),
            agent_folder=agent_folder,
            own=(_AGENT, str(agent_folder) + os.sep),
        )
        self._server = ReportServer(
            "whet-follower", self._serve, patience_seconds=_PATIENCE_SECONDS
        )
        self._server.begin()

    @property
    def steps(self) -> tuple[Order, ...]:
        """What the child does: where it reports, and the filter that it installs."""
        name = self._server.address
        return (("follow", name, *([packed(filter_program())] if self._is_filtered else [])),)

    def note_waiting(self) -> None:
        """Note what is waited for now; it is about to be killed."""
        self._follower.note_waiting()

    def met(self, _end: End, /) -> tuple[LimitMet, ...]:
        """Wait for the last word; all processes have ended."""
        self._server.finish()
        return ()

    def close(self) -> None:
        """Follow no longer."""
        self._server.finish()

    def evidence(self) -> tuple[Evidence, ...]:
        """Return the observed calls."""
        calls = self._follower.groups.calls()
        failures = sorted(self._sieve.telling(calls.failures), key=lambda each: each.order)
        calls = replace(calls, failures=tuple(failures[-_MOST_KEPT:]))
        detail = {"seen": calls.seen, "failed": calls.failed, "usual": calls.usual}
        data = json.dumps(calls.to_json()).encode()
        return (Evidence(kind=SYSTEM_CALLS, detail=detail, data=data),)

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
                connection.send(b"?")
                error = self._seized(_sender(connection))
                connection.send(b"%d" % error)
        except OSError:
            return  # it is dead
        try:
            if not error:
                self._follower.follow()
        finally:
            self._follower.close()

    def _seized(self, pid: int) -> int:
        try:
            self._follower.seize(pid)
        except OSError as error:
            return error.errno or errno.EPERM
        return 0


def _sender(connection: socket.socket) -> int:
    """Return the process that sends the next word, by the number that it has here."""
    size = socket.CMSG_SPACE(_CREDENTIALS.size)
    _, rights, _, _ = connection.recvmsg(16, size)
    for _, _, sender in rights:
        pid: int = _CREDENTIALS.unpack(sender[: _CREDENTIALS.size])[0]
        return pid
    raise OSError(errno.ESRCH, "it didn't identify itself")
