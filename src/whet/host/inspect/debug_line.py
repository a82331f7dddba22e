"""The connection to a debugger that waits in a process of a trial."""

import os
import select
import socket
from contextlib import suppress
from pathlib import Path

from whet.core.errors import NoSuchProcess

_PIECE_BYTES = 1 << 16
_STDIN, _STDOUT = 0, 1


def attach(pid: int) -> None:
    """Talk to the pdb that waits in a process, until either side ends.

    Raises:
        NoSuchProcess: if none waits there.
    """
    path = _socket_of(pid)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        try:
            line.connect(str(path))
        except OSError as error:
            raise NoSuchProcess(
                f"process {pid} has no waiting debugger",
                hint="`whet probe TARGET break -- CMD` says which process waits",
            ) from error
        _talk(line)


def _socket_of(pid: int) -> Path:
    with suppress(OSError):
        for pair in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            name, _, value = pair.partition(b"=")
            if name == b"WHET_AGENT":
                return Path(os.fsdecode(value), f"{pid}.pdb")
    raise NoSuchProcess(
        f"process {pid} isn't one that whet started",
        hint="use the number that `whet probe` shows; it must be your process, on this machine",
    )


def _talk(line: socket.socket) -> None:
    reading: list[int | socket.socket] = [_STDIN, line]
    while True:
        ready, _, _ = select.select(reading, [], [])
        if line in ready:
            try:
                piece = line.recv(_PIECE_BYTES)
            except ConnectionResetError:  # it was killed
                return
            if not piece:
                return
            os.write(_STDOUT, piece)
        if _STDIN in ready:
            typed = os.read(_STDIN, _PIECE_BYTES)
            if not typed:
                # The program continues; what it still says is read to the end.
                reading.remove(_STDIN)
                line.shutdown(socket.SHUT_WR)
                continue
            with suppress(BrokenPipeError):
                line.sendall(typed)
