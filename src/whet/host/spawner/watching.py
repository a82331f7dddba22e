"""The spawner's side of the observer: which processes it watches, and the observer's reports."""

import _socket
import os

from whet.host.kernel.seccomp import Filter, why_not
from whet.host.kernel.syscalls import MAGIC_FLAGS
from whet.host.process.channel import Channel, as_text
from whet.host.process.messages import (
    Begun,
    Done,
    Freezing,
    Looked,
    Observed,
    as_done,
    as_looked,
    as_observed,
)

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from whet.host.process.channel import Body

_INT_BYTES = 4


class ObserverIsGoneError(Exception):
    """The observer is gone."""


class Watching:
    """Has programs watched by the observer, each from before its first instruction.

    Attributes:
        refusal: why the last program could not be watched; empty if it is.
    """

    def __init__(self, observer: Channel) -> None:
        self.refusal = why_not()
        self._observer = observer
        self._filter = None if self.refusal else Filter()
        self._ours, self._theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)

    def begin(self, freezing: Freezing, cache: bytes, cwd: bytes) -> None:
        """Forget what was noticed: another run begins."""
        varied = freezing.varied if freezing.resumed < 0 else ()
        is_search = bool(freezing.varied or freezing.first_word)
        self._observer.send(
            "begin",
            Begun(freezing.address, os.fsdecode(cache), os.fsdecode(cwd), varied, not is_search),
        )

    def begin_looks(self, top: str, repository: str, cwd: bytes) -> None:
        """Record accesses below a folder from now on, and nothing else.

        Args:
            top: the folder.
            repository: git's own folder of it; empty: none.
            cwd: where the run begins.
        """
        self._observer.send("begin looks", (top, repository, os.fsdecode(cwd)))

    def looks(self) -> Looked:
        """Return the accesses since `begin_looks`.

        Raises:
            ObserverIsGoneError: if nobody knows.
        """
        answer = as_looked(self._asked("looks", 0))
        return answer if answer.gap else Looked(self.refusal, *answer[1:])

    def install(self) -> bool:
        """In a forked process: have it watched; say whether it is."""
        # Were this end still open here, a listener on its way to a spawner that dies would never
        # be closed, and this process held forever.
        self._ours.close()
        listener, error = (-1, 0) if self._filter is None else self._filter.install()
        rights: list[tuple[int, int, bytes]] = []
        if listener >= 0:
            content = listener.to_bytes(_INT_BYTES, "little")
            rights.append((_socket.SOL_SOCKET, _socket.SCM_RIGHTS, content))
        self._theirs.sendmsg([error.to_bytes(_INT_BYTES, "little")], rights, MAGIC_FLAGS)
        if listener >= 0:
            os.close(listener)
        return listener >= 0

    def adopt(self) -> None:
        """In the process that forked it: pass its listener on to the observer."""
        self._theirs.close()
        head, rights, _, _ = self._ours.recvmsg(
            _INT_BYTES, _socket.CMSG_SPACE(_INT_BYTES), _socket.MSG_CMSG_CLOEXEC
        )
        self._ours.close()
        self._ours, self._theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        for _, _, packed in rights:
            listener = int.from_bytes(packed, "little")
            self._observer.send("listener", None, [listener])
            os.close(listener)
            self.refusal = ""
        if head and not rights and self._filter is not None:
            self.refusal = _reason(int.from_bytes(head, "little"))

    def noticed(self, number: int, pid: int) -> Observed:
        """Return what was seen since this was last asked for, and what was done.

        Args:
            number: the copy that has just been taken, for which what was made is kept.
            pid: its process.

        Raises:
            ObserverIsGoneError: if nobody knows.
        """
        return as_observed(self._asked("facts", (number, pid)))

    def done(self) -> Done:
        """Return what the program has done to the world and left there.

        Raises:
            ObserverIsGoneError: if nobody knows.
        """
        return as_done(self._asked("did", 0))

    def put_back(self, number: int) -> str:
        """Make the files of a copy's moment again; return why that fails, or nothing.

        Raises:
            ObserverIsGoneError: if nobody can.
        """
        return as_text(self._asked("put back", number))

    def drop(self, number: int) -> None:
        """Forget the files kept for a copy."""
        self._observer.send("drop", number)

    def _asked(self, kind: str, body: "Body") -> bytes:
        self._observer.send(kind, body)
        message = self._observer.receive()
        if message is None:
            raise ObserverIsGoneError
        return message[1]


def _reason(error: int) -> str:
    import errno

    if error == errno.EBUSY:
        return "another program already watches this process, for example another whet"
    return os.strerror(error)
