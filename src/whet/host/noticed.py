"""What the programs of one run have seen of the file system, and what they have done to the world.

Looked-up paths are marked before the call that looks them up goes on: whatever changes them
later shows. What the kernel makes up when it is asked (`/proc`, `/sys`, devices) is not marked,
and neither is byte code beside its source, which Python itself checks against the source.
"""

import os
import re
import stat

from whet.host.marks import listing, of_file, of_link, sure
from whet.host.onlooker import Onlooker, UnreadableError
from whet.host.syscalls import AT_FDCWD, NO_LINKS, calls

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from whet.host.marks import Listing, Mark
    from whet.host.syscalls import Call

    # the first effect that cannot be taken back; then, new since they were last asked for: marks
    # of what paths led to, and of links themselves; how often each was opened; what folders held;
    # how often each was listed
    Observed: TypeAlias = tuple[
        str,
        "dict[str, Mark]",
        "dict[str, Mark]",
        "dict[str, int]",
        "dict[str, Listing]",
        "dict[str, int]",
    ]

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_O_TMPFILE = 0o20000000
_AT_SYMLINK_NOFOLLOW, _AT_EMPTY_PATH = 0x100, 0x1000
_MADE_UP = ("/proc/", "/sys/", "/dev/")
_REAL = tuple(f"/dev/{name}/" for name in ("shm", "mqueue"))
_AF_UNIX, _AF_NETLINK = 1, 16
_INT = 1 << 32
_SHEBANG_BYTES = 256


class Noticed:
    """Takes in the system calls of one run after the other."""

    def __init__(self) -> None:
        self._onlooker = Onlooker()
        self._calls = calls()
        self._kinds: dict[str, Callable[[int, Call, Sequence[int]], None]] = {
            "open": self._open, "make": self._open, "openat2": self._open, "look": self._look,
            "exec": self._execute, "mkdir": self._mkdir, "remove": self._remove,
            "rename": self._rename, "effect": self._change, "holds": self._change_held,
            "address": self._address, "message": self._message, "kill": self._kill,
            "bare": self._bare,
        }  # fmt: skip
        self._own_socket = self._cache = "\0"
        self._clear()

    def begin(self, own_socket: str, cache: str, cwd: str) -> None:
        """Begin anew, with another run.

        Args:
            own_socket: where copies report: that is whet's own affair.
            cache: folder of byte code by content, which never changes a program; empty: none.
            cwd: the folder in which the run begins.
        """
        self._own_socket, self._cache = own_socket, cache or "\0"
        self._clear()
        self._see(cwd)

    def _clear(self) -> None:
        self._ended = ""
        self._marks: dict[str, Mark] = {}
        self._links: dict[str, Mark] = {}
        self._opened: dict[str, int] = {}
        self._listings: dict[str, Listing] = {}
        self._listed: dict[str, int] = {}
        self._known: dict[str, int] = {}
        self._known_links: set[str] = set()
        self._known_folders: set[str] = set()

    def facts(self) -> "Observed":
        """Return what is new since this was last asked for."""
        facts = (
            self._ended, self._marks, self._links, self._opened, self._listings, self._listed
        )  # fmt: skip
        self._marks, self._links, self._opened, self._listings, self._listed = {}, {}, {}, {}, {}
        return facts

    def take(self, pid: int, number: int, arguments: "Sequence[int]") -> None:
        """Take in a call that a process is about to make."""
        call = self._calls.get(number)
        if call is None:
            self.ends("a system call of another architecture")
            return
        try:
            self._kinds[call[1]](pid, call, arguments)
        except UnreadableError as error:
            self.ends(f"{call[0]} that could not be looked into: {error}")

    def ends(self, effect: str) -> None:
        """Note an effect that cannot be taken back."""
        self._ended = self._ended or effect

    # ---- what is seen ----

    def _see(self, path: str) -> None:
        if path in self._known:
            return
        self._known[path] = 0
        if not self._is_made_up(path):
            mark = of_file(path)
            self._marks[path] = sure(mark)
            if mark[0] == 0 and isinstance(mark[1], int):
                self._known[path] = stat.S_IFMT(mark[1])

    def _see_link(self, path: str) -> None:
        if path not in self._known_links:
            self._known_links.add(path)
            if not self._is_made_up(path):
                self._links[path] = sure(of_link(path))

    def _read(self, path: str) -> None:
        """Note that a file or folder is opened to be read."""
        if self._is_made_up(path) or _is_byte_code(path):
            return
        self._see(path)
        kind = self._known[path]
        if kind == stat.S_IFDIR:
            self._listed[path] = self._listed.get(path, 0) + 1
            if path not in self._known_folders:
                self._known_folders.add(path)
                self._listings[path] = listing(path)
        else:
            self._opened[path] = self._opened.get(path, 0) + 1
            if kind == stat.S_IFIFO:
                self.ends(f"reads from the pipe {path}")

    def _is_made_up(self, path: str) -> bool:
        return path.startswith((self._cache, *_MADE_UP)) and not path.startswith(_REAL)

    def _look(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        _, _, _, _, more = call
        path = self._path(pid, call, arguments)
        if not path:
            return  # what a descriptor leads to was seen when it was opened
        if more == NO_LINKS or (more >= 0 and arguments[more] & _AT_SYMLINK_NOFOLLOW):
            self._see_link(path)
        else:
            self._see(path)

    def _execute(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        path = self._path(pid, call, arguments)
        self._onlooker.forget()
        while path:
            self._read(path)
            path = _interpreter_of(path)

    # ---- what is done ----

    def _open(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        name, kind, _, _, more = call
        path = self._path(pid, call, arguments)
        if kind == "make":
            flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
        elif kind == "openat2":
            flags = int.from_bytes(self._onlooker.bytes_at(pid, arguments[more], 8), "little")
        else:
            flags = arguments[more]
        if not path or flags & _O_TMPFILE:
            return
        if flags & os.O_PATH:
            (self._see_link if flags & os.O_NOFOLLOW else self._see)(path)
        elif not flags & _WRITES:
            self._read(self._held(pid, path))
        else:
            self._write(self._held(pid, path), flags, name)

    def _write(self, path: str, flags: int, name: str) -> None:
        if not path.startswith("/"):
            return  # a stream that it holds anyway
        exists = os.path.exists(path)
        if (not exists and not flags & os.O_CREAT) or (exists and flags & os.O_EXCL):
            self._see(path)  # it will fail
        elif exists and not flags & (_WRITES & ~os.O_CREAT):
            self._read(path)
        elif path.startswith("/dev/") and not path.startswith(_REAL):
            if not path.startswith(_HARMLESS_DEVICES):
                self.ends(f"{name} {path}")
        else:
            self._does(name, path)

    def _held(self, pid: int, path: str) -> str:
        """Return what a path leads to that names one of the process's own descriptors."""
        for prefix in ("/proc/self/fd/", "/dev/fd/", f"/proc/{pid}/fd/"):
            if path.startswith(prefix) and path[len(prefix) :].isdigit():
                return self._onlooker.target_of(pid, int(path[len(prefix) :]))
        return path

    def _does(self, name: str, *paths: str) -> None:
        """Note what is done to paths, unless it is about nothing but byte code."""
        if not all(
            path.startswith((self._cache, "/proc/self/", "/proc/thread-self/"))
            or _is_byte_code(path)
            for path in paths
        ):
            self.ends(f"{name} {paths[-1]}")

    def _mkdir(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        path = self._path(pid, call, arguments)
        if os.path.lexists(path):
            self._see_link(path)
        else:
            self._does(call[0], path)

    def _remove(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        path = self._path(pid, call, arguments)
        if os.path.lexists(path):
            self._does(call[0], path)
        else:
            self._see_link(path)

    def _rename(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        name, _, folder, path, _ = call
        source = self._path(pid, call, arguments)
        target = self._path(pid, (name, "", -1 if folder < 0 else 2, path * 2 + 1, 0), arguments)
        if os.path.lexists(source):
            self._does(name, source, target)
        else:
            self._see_link(source)

    def _change(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        name, _, folder, path, _ = call
        if not arguments[path] and folder >= 0:  # futimens(3)
            self._does(name, self._onlooker.target_of(pid, arguments[folder]))
            return
        self._does(name, self._path(pid, call, arguments))

    def _change_held(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        path = self._onlooker.target_of(pid, arguments[0])
        if path.startswith("/"):
            self._does(call[0], path)

    def _bare(self, _pid: int, call: "Call", _arguments: "Sequence[int]") -> None:
        self.ends(call[0])

    def _kill(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        target, signal = arguments[0] % _INT, arguments[1] % _INT
        own = _status(pid, b"Tgid:")
        if signal and target != own and _status(target, b"PPid:") != own:
            self.ends(f"{call[0]} {target}")

    def _address(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        _, _, _, address, size = call
        self._speaks(call[0], pid, arguments[address], arguments[size] % _INT)

    def _message(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        head = self._onlooker.bytes_at(pid, arguments[1], 12)
        address, size = int.from_bytes(head[:8], "little"), int.from_bytes(head[8:12], "little")
        if address and size:
            self._speaks(call[0], pid, address, size)

    def _speaks(self, name: str, pid: int, address: int, size: int) -> None:
        text = self._onlooker.bytes_at(pid, address, min(size, 128) or 1)
        family = int.from_bytes(text[:2], "little")
        if family == _AF_UNIX:
            path = os.fsdecode(text[2:].partition(b"\0")[0])
            if path == self._own_socket or "/nscd/" in path:
                return  # the C library asks there for users and hosts
            if name == "connect" and path and not os.path.exists(path):
                self._see(path if path.startswith("/") else self._absolute(pid, path))
                return
            self.ends(f"{name} {path or 'a socket'}")
        elif family not in (0, _AF_NETLINK):  # nothing; the kernel, about the network
            self.ends(f"{name} the network")

    # ---- paths ----

    def _path(self, pid: int, call: "Call", arguments: "Sequence[int]") -> str:
        _, _, folder, path, _ = call
        of = AT_FDCWD if folder < 0 else arguments[folder]
        return self._onlooker.path_of(pid, of, arguments[path])

    def _absolute(self, pid: int, path: str) -> str:
        return f"{self._onlooker.target_of(pid, AT_FDCWD)}/{path}"


_HARMLESS_DEVICES = (
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts/",
    "/dev/stdout", "/dev/stderr", "/dev/stdin",
)  # fmt: skip


def _is_byte_code(path: str) -> bool:
    """Whether a path is where Python keeps the byte code of a source, or the folder of it."""
    name = path.rpartition("/")[2]
    return name == "__pycache__" or _BYTE_CODE.search(name) is not None


# As in `module.cpython-311.opt-1.pyc`, and with a number of its own until it is whole.
_BYTE_CODE = re.compile(r"\.[a-z]+-\d+(\.opt-\w+)?(-pytest-[\w.]+)?\.pyc(\.\d+)?$")


def _interpreter_of(path: str) -> str:
    """Return the program that runs a script, by its first line; empty if it is none."""
    try:
        with open(path, "rb", 0) as file:
            line = file.read(_SHEBANG_BYTES).partition(b"\n")[0]
    except OSError:
        return ""
    words = line[2:].split() if line[:2] == b"#!" else []
    return os.fsdecode(words[0]) if words else ""


def _status(pid: int, field: bytes) -> int:
    try:
        with open(f"/proc/{pid}/status", "rb", 0) as file:
            for line in file.read(4096).splitlines():
                if line.startswith(field):
                    return int(line.split()[1])
    except OSError:
        pass
    return -1
