"""Messages and file descriptors between whet and a spawner, over one Unix socket.

Each message is four bytes of length, then a kind and a body in Python's `marshal` format:
both ends are the same interpreter, and `marshal` is built in where `json` costs 5 ms to import.
"""

import _socket
import marshal
import os

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from whet.host.files.marks import Mark
    from whet.host.limits.enforcer import Order
    from whet.host.spawner.gauge import Gauged
    from whet.host.spawner.room_entry import Plan
    from whet.host.spawner.syscall_decoder import Observed
    from whet.host.spawner.watches import Noted

    # argv, environment, cwd, reset steps (command, must succeed), index of the terminal or -1,
    # where snapshots report (empty: none are taken), number of the snapshot to resume or -1, what
    # the program's own files say now that have changed since, paths of what a search varies,
    # which words of argv from one on it varies (0: none), whether it is resumed in a debugger, how long a
    # stretch of it is worth a copy (below zero: as it was told when it began), the folder below which looks are noted and git's folder of it (empty:
    # they aren't); the limits around it: steps, probes, watches
    Run: TypeAlias = tuple[
        "list[bytes]",
        "dict[bytes, bytes]",
        bytes,
        "list[tuple[bytes, bool]]",
        int,
        bytes,
        int,
        "dict[str, bytes]",
        "list[str]",
        int,
        bool,
        float,
        "tuple[str, str]",
        "Guard",
    ]
    # why nothing may be concluded from the rest (empty: it may); paths named, folders opened, folders
    # moved, from the top folder; how many calls, and for how many seconds they were held
    Looked: TypeAlias = "tuple[str, list[str], list[str], list[str], int, float]"
    # what a program has left in the world, in words; what it has changed, with folders for all that is
    # in them (None: there may be more)
    Done: TypeAlias = "tuple[tuple[str, ...], tuple[str, ...] | None]"
    Guard: TypeAlias = "tuple[list[Order], list[Order], list[Order]]"
    # since the program started or was resumed: folders in which it looked for modules, and which;
    # how often the importer listed which folder; how often a source was opened, and looked up, in
    # a way that doesn't count; marks of installed sources that only the importer has looked up
    Sighted: TypeAlias = tuple[
        "list[str]",
        "list[str]",
        "dict[str, int]",
        "dict[str, int]",
        "dict[str, int]",
        "dict[str, Mark]",
    ]
    # number, pid, kind, place, seconds since the start; what its agent knows; the program's own
    # files and what they said; file and function of each frame, the innermost last; what the
    # observer has noticed since the last one
    Taken: TypeAlias = tuple[
        int, int, str, str, float, Sighted, "dict[str, bytes]", "list[tuple[str, str]]", Observed
    ]
    # place, seconds since the start, why there was no copy
    Hindered: TypeAlias = tuple[str, float, str]
    # why there can be no copy at all; `GONE`, `UNFOLLOWED` or another reason
    Halted: TypeAlias = tuple[str, str]
    # pid, wait status (None: it could not be killed), was left behind
    Exit: TypeAlias = tuple[int, "int | None", bool]
    # exits (the command first), wall seconds, CPU seconds, peak bytes, index of the failed reset
    # step or -1, whether whet killed the command, pids that could not be killed, limits met, what was
    # used meanwhile
    Ended: TypeAlias = tuple[
        "list[Exit]", float, float, int, int, bool, "list[int]", "list[Noted]", Gauged
    ]
    # stage (`fork`, `set-up`, `cwd`, `exec`, `interpreter`, `limit`), errno, path or limit
    Failed: TypeAlias = tuple[str, int, bytes]

    # where copies report, folder of byte code, working folder, varied paths; see
    # `whet.host.spawner.syscall_decoder`
    Begun: TypeAlias = "tuple[str, str, str, list[str]]"

    # the plan of a room, packed; settings in JSON; payloads by their digests
    RoomSettings: TypeAlias = "tuple[bytes, str, dict[str, bytes]]"
    # limits in JSON; a path (empty: nothing is changed), and what it says for this run
    RoomRun: TypeAlias = "tuple[str, str, bytes]"
    # an outcome in JSON; what it wrote to its standard output, and as errors
    RoomRan: TypeAlias = "tuple[str, bytes, bytes]"

    Simple: TypeAlias = "tuple[str, ...] | int | str | None"
    Body: TypeAlias = (
        Run | Taken | Hindered | Halted | Ended | Failed | Noted | Observed | Begun | Looked | Done
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
        packed = marshal.dumps((kind, marshal.dumps(body)))
        head = len(packed).to_bytes(_LENGTH_BYTES, "little")
        rights: list[tuple[int, int, bytes]] = []
        if descriptors:
            numbers = b"".join(one.to_bytes(_INT_BYTES, "little") for one in descriptors)
            rights.append((_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers))
        self._socket.sendmsg([head], rights, _socket.MSG_NOSIGNAL)
        self._socket.sendall(packed, _socket.MSG_NOSIGNAL)

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
            packed = self._all(int.from_bytes(head, "little")) if head else b""
        except OSError:
            return None
        if len(head) < _LENGTH_BYTES or not packed:
            return None
        descriptors: list[int] = []
        for _, _, numbers in rights:
            descriptors += [
                int.from_bytes(numbers[at : at + _INT_BYTES], "little")
                for at in range(0, len(numbers), _INT_BYTES)
            ]
        match unpacked(packed):
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
        said: object = marshal.loads(packed)
    except (ValueError, EOFError, TypeError, MemoryError):  # as the manual of `marshal` has it
        return None
    return said


# Bodies of messages; one that is broken can't come from a process of this whet.
as_run: "Callable[[bytes], Run]" = marshal.loads
as_taken: "Callable[[bytes], Taken]" = marshal.loads
as_hindered: "Callable[[bytes], Hindered]" = marshal.loads
as_halted: "Callable[[bytes], Halted]" = marshal.loads
as_begun: "Callable[[bytes], Begun]" = marshal.loads
as_observed: "Callable[[bytes], Observed]" = marshal.loads
as_looked: "Callable[[bytes], Looked]" = marshal.loads
as_plan: "Callable[[bytes], Plan]" = marshal.loads
as_room_settings: "Callable[[bytes], RoomSettings]" = marshal.loads
as_room_run: "Callable[[bytes], RoomRun]" = marshal.loads
as_number: "Callable[[bytes], int]" = marshal.loads
as_numbers: "Callable[[bytes], tuple[int, int]]" = marshal.loads
as_ended: "Callable[[bytes], Ended]" = marshal.loads
as_noted: "Callable[[bytes], Noted]" = marshal.loads
as_failed: "Callable[[bytes], Failed]" = marshal.loads
as_text: "Callable[[bytes], str]" = marshal.loads
as_texts: "Callable[[bytes], tuple[str, ...]]" = marshal.loads
as_done: "Callable[[bytes], Done]" = marshal.loads
