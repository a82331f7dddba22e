"""How a forked process enters its sandbox, on the spawner's side and in the process.

It handles the orders of `whet.host.limits` that are more than a step: a sandbox, which may need another
fork, and holding or following system calls, which starts right before the program.
"""

import errno
import os

from whet.host.process.messages import Plan, as_plan
from whet.host.process.room_reports import connected, send_descriptor
from whet.host.spawner.room_entry import enter
from whet.host.spawner.room_processes import MARK, divide

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import _socket
    from collections.abc import Sequence

    from whet.host.limits.enforcer import Order


class NamespaceSetup:
    """What the orders of a trial ask for beyond steps.

    Attributes:
        keeper: the first process of the room; 0: it has no process numbers of its own.
        lifeline: closing it ends the room; -1: its last process does.
    """

    def __init__(self, plan: Plan | None, held: "Order", followed: "Order" = ()) -> None:
        self.keeper = 0
        self.lifeline = self._other_end = -1
        self._plan: Plan | None = plan
        self._held = held
        self._followed = followed
        self._socket: _socket.socket | None = None
        self._follower: _socket.socket | None = None
        if plan is not None and plan.has_own_pids:
            self._other_end, self.lifeline = os.pipe()

    def enter(self, reported: int) -> None:
        """In the forked process: move in. It may be another process that returns.

        Raises:
            RoomRefusedError: if the room can't be made.
            OSError: if the system refuses a process.
        """
        if self._held:
            name = self._held[0]
            assert isinstance(name, bytes)
            self._socket = connected(name)
        if self._followed:
            name = self._followed[0]
            assert isinstance(name, bytes)
            self._follower = connected(name)
        if self._plan is not None:
            enter(self._plan)
            if self.lifeline >= 0:
                os.close(self.lifeline)
                divide(reported, self._other_end)
                os.close(self._other_end)

    def hold_calls(self) -> None:
        """In the process that is about to become the program: have its calls held.

        Raises:
            OSError: if the kernel refuses it.
        """
        if self._socket is None:
            return
        from whet.host.kernel.seccomp import Filter, holding

        with open("/proc/self/cmdline", "rb", buffering=0) as file:
            before = file.readall()
        numbers = [number for number in self._held[1:] if isinstance(number, int)]
        listener, error = Filter(holding(numbers)).install()
        if error:
            raise OSError(error, os.strerror(error), "seccomp")
        send_descriptor(self._socket, before, listener)

    def begin_to_be_followed(self) -> None:
        """In the process that is about to become the program: wait until it is followed.

        Raises:
            OSError: if the system refuses it.
        """
        if self._follower is None:
            return
        from whet.host.kernel.seccomp import Filter

        self._follower.recv(1)  # who follows takes the number of whoever sends now
        self._follower.send(b"!")
        error = int(self._follower.recv(_MOST_BYTES) or b"%d" % errno.ESRCH)
        self._follower.close()
        if error:
            raise OSError(error, os.strerror(error), "ptrace")
        if len(self._followed) > 1:
            # Only now: without a tracer each call that it announces would fail.
            program = self._followed[1]
            assert isinstance(program, bytes)
            _, error = Filter(program).install(asks=False)
            if error:
                raise OSError(error, os.strerror(error), "seccomp")

    def arrived(self, pid: int, told: bytes) -> "tuple[int, bytes]":
        """In the spawner: take in what was reported.

        Returns:
            the program's process, and the rest of the report.
        """
        if self._other_end >= 0:
            os.close(self._other_end)
        if not told.startswith(MARK):
            return pid, told
        os.waitpid(pid, 0)  # it went when it had brought both on their way
        numbers, _, rest = told[len(MARK) :].partition(b"\n")
        program, self.keeper = map(int, numbers.split())
        return program, rest

    def close(self) -> None:
        """End the room."""
        if self.lifeline >= 0:
            os.close(self.lifeline)
            self.lifeline = -1


def passage_for(steps: "Sequence[Order]") -> "tuple[NamespaceSetup | None, list[Order]]":
    """Return the way that orders ask for, None if they don't, and the orders that are steps."""
    own_steps = {name: details for name, *details in steps if name in _OWN}
    rest = [step for step in steps if step[0] not in _OWN]
    if not own_steps:
        return None, rest
    plan: Plan | None = None
    for room in own_steps.get("room", ()):
        assert isinstance(room, bytes)
        plan = as_plan(room)
    followed = tuple(own_steps.get("follow", ()))
    return NamespaceSetup(plan, tuple(own_steps.get("hold", ())), followed), rest


_OWN = frozenset({"room", "hold", "follow"})
_MOST_BYTES = 16
