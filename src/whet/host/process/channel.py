"""Messages and file descriptors between whet and a spawner, over one Unix socket.

Each message is four bytes of length, then a kind and a body in Python's `marshal` format:
both ends are the same interpreter, and `marshal` is built in where `json` costs 5 ms to import.
"""

import _socket
import marshal
import os

from whet.host.process.messages import plain

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from whet.host.process import messages

    # place, seconds since the start, why there was no copy
    Hindered: TypeAlias = tuple[str, float, str]
    # why there can be no copy at all; `GONE`, `UNFOLLOWED` or another reason
    Halted: TypeAlias = tuple[str, str]
    # stage (`fork`, `set-up`, `cwd`, `exec`, `interpreter`, `limit`), errno, path or limit
    Failed: TypeAlias = tuple[str, int, bytes]

    # the plan of a room, packed; settings in JSON; payloads by their digests
    RoomSettings: TypeAlias = "tuple[bytes, str, dict[str, bytes]]"
    # limits in JSON; a path (empty: nothing is changed), and what it says for this run
    RoomRun: TypeAlias = "tuple[str, str, bytes]"
    # an outcome in JSON; what it wrote to its standard output, and as errors
    RoomRan: TypeAlias = "tuple[str, bytes, bytes]"

    Simple: TypeAlias = "tuple[str, ...] | int | str | None"
    Body: TypeAlias = (
        messages.Run | messages.Taken | messages.Ended | messages.Noted | messages.Observed
        | messages.Begun | messages.Looked | messages.Done | Hindered | Halted | Failed
        | RoomSettings | RoomRun | RoomRan | tuple[int, int] | Simple
    )  # fmt: skip

GONE = "the frozen copy is gone"
UNFOLLOWED = "it doesn't run on a Python that whet can follow"

_LENGTH_BYTES = 4
_MOST_DESCRIPTORS = 8
_INT_BYTES = 4
PIECE_BYTES = 1 << 20  # `recv` allocates this before it reads


class Channel:
    """One end of the socket.

    Attributes:
        descriptor: to wait on for the next message.
    """

    def __init__(self, end: "_socket.socket") -> None:
        self._socket = end
        self.descriptor = end.fileno()

    @classmethod
    def pair(cls) -> "tuple[Channel, Channel]":
        """Return the two ends of a new channel."""
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
        return cls(ours), cls(theirs)

    @classmethod
    def inherited(cls, descriptor: int) -> "Channel":
        """Return the end that this process was started with; its children don't get it."""
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - the system call takes no keywords
        return cls(_socket.socket(fileno=descriptor))

    def send(self, kind: str, body: "Body" = None, descriptors: "Sequence[int]" = ()) -> None:
        """Send a message; descriptors arrive as new ones at the other end.

        Raises:
            OSError: if the other end is gone.
        """
        message = marshal.dumps((kind, marshal.dumps(plain(body))))
        head = len(message).to_bytes(_LENGTH_BYTES, "little")
        rights: list[tuple[int, int, bytes]] = []
        if descriptors:
            numbers = b"".join(one.to_bytes(_INT_BYTES, "little") for one in descriptors)
            rights.append((_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers))
        self._socket.sendmsg([head], rights, _socket.MSG_NOSIGNAL)
        self._socket.sendall(message, _socket.MSG_NOSIGNAL)

    def receive(self) -> "tuple[str, bytes, list[int]] | None":
        """Return kind, packed body and descriptors of the next message; None if the end is gone.

        It is given up as gone where what comes from it is no message.
        """
        try:
            head, rights, _, _ = self._socket.recvmsg(
                _LENGTH_BYTES,
                _socket.CMSG_SPACE(_MOST_DESCRIPTORS * _INT_BYTES),
                _socket.MSG_CMSG_CLOEXEC | _socket.MSG_WAITALL,
            )
            message = self._all(int.from_bytes(head, "little")) if head else b""
        except OSError:
            return None
        if len(head) < _LENGTH_BYTES or not message:
            return None
        descriptors: list[int] = []
        for _, _, numbers in rights:
            descriptors += [
                int.from_bytes(numbers[at : at + _INT_BYTES], "little")
                for at in range(0, len(numbers), _INT_BYTES)
            ]
        match unpacked(message):
            case (str(kind), bytes(body)):
                return kind, body, descriptors
            case _:
                for each in descriptors:
                    os.close(each)
                return None

    def _all(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(min(size - len(data), PIECE_BYTES))
            if not part:
                return b""
            data += part
        return bytes(data)

    def close(self) -> None:
        """Close this end."""
        self._socket.close()


def unpacked(packed: bytes) -> object:
    """Return what was packed; None if it is broken."""
    try:
        content: object = marshal.loads(packed)
    except (ValueError, EOFError, TypeError, MemoryError):  # as the manual of `marshal` has it
        return None
    return content


# Bodies of messages; one that is broken can't come from a process of this whet.
as_hindered: "Callable[[bytes], Hindered]" = marshal.loads
as_halted: "Callable[[bytes], Halted]" = marshal.loads
as_room_settings: "Callable[[bytes], RoomSettings]" = marshal.loads
as_room_run: "Callable[[bytes], RoomRun]" = marshal.loads
as_number: "Callable[[bytes], int]" = marshal.loads
as_numbers: "Callable[[bytes], tuple[int, int]]" = marshal.loads
as_failed: "Callable[[bytes], Failed]" = marshal.loads
as_text: "Callable[[bytes], str]" = marshal.loads
as_texts: "Callable[[bytes], tuple[str, ...]]" = marshal.loads
