"""The strings, files and addresses of a system call of another process."""

import os
import socket
import struct
from contextlib import suppress

from whet.core.text.quantity import shown_bytes

AT_FDCWD = -100
_PATH_BYTES = 4096
_PAGE = 4096
_MOST_MEMORIES = 32
_INT, _SIGN = 1 << 32, 1 << 31
_FAMILY = struct.Struct("=H")
_UNIX, _INET, _INET6 = 1, 2, 10
_MOST_ADDRESS_BYTES = 128
_FLAGS = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_EXCL", "O_TRUNC", "O_APPEND", "O_DIRECT", "O_TMPFILE")
_COUNTED = {"read", "write", "pread64", "pwrite64", "recvfrom", "sendto", "getdents64", "readlink"}
_OPENED = {"open": 1, "openat": 2}
_LOCKS = {5: "F_GETLK", 6: "F_SETLK", 7: "F_SETLKW", 36: "F_OFD_GETLK", 37: "F_OFD_SETLK"}
_POLLED = struct.Struct("=ihh")
_MOST_POLLED = 3


class Memory:
    """Reads the memory of processes; keeps it open, for a while."""

    def __init__(self) -> None:
        self._open: dict[int, int] = {}

    def string(self, tid: int, address: int) -> str:
        """Return a string that ends with a NUL; what is there of it if it is cut."""
        data = b""
        while b"\0" not in data and len(data) < _PATH_BYTES:
            # Never over the end of a page: the next one may not be there.
            place = address + len(data)
            part = self.part(tid, place, _PAGE - place % _PAGE)
            if not part:
                break
            data += part
        return os.fsdecode(data.partition(b"\0")[0])

    def part(self, tid: int, address: int, size: int) -> bytes:
        """Return ``size`` bytes, or fewer if the rest isn't mapped."""
        try:
            memory = self._open.get(tid)
            if memory is None:
                memory = self._kept(tid)
            return os.pread(memory, size, address)
        except (OSError, OverflowError):
            return b""

    def forget(self, tid: int) -> None:
        """Close what is that of another program now, or of none."""
        memory = self._open.pop(tid, None)
        if memory is not None:
            os.close(memory)

    def close(self) -> None:
        """Close all."""
        for tid in tuple(self._open):
            self.forget(tid)

    def _kept(self, tid: int) -> int:
        if len(self._open) >= _MOST_MEMORIES:
            self.close()
        memory = os.open(f"/proc/{tid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        self._open[tid] = memory
        return memory


def signed(argument: int) -> int:
    """Return an argument as the C ``int`` that it is."""
    number = argument % _INT
    return number - _INT if number & _SIGN else number


def path_at(tid: int, folder: int, path: str) -> str:
    """Return the absolute path that a process means; ``..`` is left to the file system.

    Args:
        tid: the process.
        folder: descriptor of the folder that it is relative to, or `AT_FDCWD`.
        path: as the program wrote it; empty: the folder itself.
    """
    if path.startswith("/"):
        return _tidy(path)
    place = "cwd" if folder == AT_FDCWD else f"fd/{folder}"
    try:
        base = os.readlink(f"/proc/{tid}/{place}")
    except OSError:
        return path
    return _tidy(f"{base}/{path}") if path else base


def _tidy(path: str) -> str:
    """Return a path without ``.`` and doubled slashes."""
    words = [word for word in path.split("/") if word not in {"", "."}]
    return "/" + "/".join(words)


def open_file(tid: int, descriptor: int) -> str:
    """Return what a descriptor of a process stands for; empty: it isn't open."""
    try:
        return os.readlink(f"/proc/{tid}/fd/{descriptor}")
    except OSError:
        return ""


def address_in(data: bytes) -> str:
    """Return a socket address in words; empty: it is of a kind that names no place."""
    if len(data) < _FAMILY.size:
        return ""
    (family,) = _FAMILY.unpack_from(data)
    with suppress(struct.error, ValueError):
        if family == _INET:
            (port,) = struct.unpack_from("!H", data, 2)
            return f"{socket.inet_ntop(socket.AF_INET, data[4:8])}:{port}"
        if family == _INET6:
            (port,) = struct.unpack_from("!H", data, 2)
            return f"[{socket.inet_ntop(socket.AF_INET6, data[8:24])}]:{port}"
    if family != _UNIX:
        return ""
    name = data[2:]
    if name.startswith(b"\0"):
        return "unix:@" + os.fsdecode(name[1:].rstrip(b"\0"))
    return "unix:" + os.fsdecode(name.partition(b"\0")[0])


def address_bytes(memory: Memory, tid: int, address: int, length: int) -> bytes:
    """Return a socket address as it is in memory."""
    if not address:
        return b""
    return memory.part(tid, address, min(length % _INT, _MOST_ADDRESS_BYTES))


def detail_of(name: str, arguments: "tuple[int, ...]") -> str:
    """Return what else of a call's arguments tells something, in words."""
    if name in _COUNTED:
        return shown_bytes(arguments[2])
    if name in _OPENED:
        flags = arguments[_OPENED[name]]
        return "|".join(flag for flag in _FLAGS if _has(flags, flag))
    if name in {"mmap", "fallocate"}:
        return shown_bytes(arguments[1] if name == "mmap" else arguments[3])
    if name == "fcntl":
        return _LOCKS.get(arguments[1] % _INT, f"command {arguments[1] % _INT}")
    if name == "ioctl":
        return f"request {arguments[1] % _INT:#x}"
    if name in {"kill", "tgkill"}:
        return f"process {signed(arguments[0])}"
    return ""


def _has(flags: int, name: str) -> bool:
    bit: int = getattr(os, name)
    return flags & bit == bit


def polled(memory: Memory, tid: int, arguments: "tuple[int, ...]") -> str:
    """Return what the descriptors are that `poll` waits for, the first few."""
    count = min(arguments[1], _MOST_POLLED)
    data = memory.part(tid, arguments[0], count * _POLLED.size)
    whole = len(data) - len(data) % _POLLED.size
    targets = [open_file(tid, descriptor) for descriptor, _, _ in _POLLED.iter_unpack(data[:whole])]
    return ", ".join(filter(None, targets)) + (", …" if arguments[1] > count else "")
