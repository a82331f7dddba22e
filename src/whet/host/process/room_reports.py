"""Passing descriptors from a process that becomes the program to the planner of its sandbox."""

import _socket
import os

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import socket

_INT_BYTES = 4
_NAME_BYTES = 16
_MOST_BYTES = 1 << 16
_SENT = 0x4010  # as `whet.host.kernel.syscalls.MAGIC_FLAGS`: lets a filter tell what is whet's own


def new_listener() -> "socket.socket":
    """Return a socket that listens under a random name."""
    import socket  # only who listens needs what it adds

    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(b"\0whet-" + os.urandom(_NAME_BYTES).hex().encode())
    listener.listen(1)
    return listener


def connected(name: bytes) -> "_socket.socket":
    """Return a socket to the listener of that name, which is in no folder: any room may have it."""
    own = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    own.connect(b"\0" + name)
    return own


def send_descriptor(own: "_socket.socket", label: bytes, descriptor: int) -> None:
    """Send a descriptor with a word that says what it is, and close it here."""
    rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptor.to_bytes(_INT_BYTES, "little"))
    own.sendmsg([label], [rights], _SENT)
    os.close(descriptor)


def received(own: "_socket.socket") -> "tuple[bytes, int] | None":
    """Return the next word and its descriptor; None if there is no other.

    Raises:
        OSError: if nothing has come and the socket doesn't wait.
    """
    size = _socket.CMSG_SPACE(_INT_BYTES)
    label, rights, _, _ = own.recvmsg(_MOST_BYTES, size, _socket.MSG_CMSG_CLOEXEC)
    for _, _, packed in rights:
        return label, int.from_bytes(packed[:_INT_BYTES], "little")
    return None
