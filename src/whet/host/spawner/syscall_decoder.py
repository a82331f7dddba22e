"""Decodes held system calls into accesses and effects.

Those are in `whet.host.spawner.access_log` and `whet.host.spawner.file_effects`. After any other effect, whet takes no more snapshots, and names that effect.
"""

import os
import stat

from whet.host.kernel.syscalls import AT_FDCWD, KIND_FOLDER, NO_LINKS, calls
from whet.host.process.messages import (
    OTHER,
    REMOVE,
    WRITE,
    Begun,
    Done,
    LastingEffect,
    Observed,
)
from whet.host.spawner.access_log import AccessLog, is_byte_code
from whet.host.spawner.file_effects import CannotPutBackError, FileEffects, is_plain, key_of
from whet.host.spawner.first_access import FirstAccess
from whet.host.spawner.memory_reader import MemoryReader, UnreadableError

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from whet.host.kernel.syscalls import Call

_MOST_CHANGED = 10_000
_ANEW = os.O_CREAT | os.O_TRUNC
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_O_TMPFILE = 0o20000000
_AT_SYMLINK_NOFOLLOW, _AT_EMPTY_PATH = 0x100, 0x1000
_RENAME_NOREPLACE = 1
_AF_UNIX, _AF_NETLINK = 1, 16
_INT = 1 << 32
_SHEBANG_BYTES = 256


class SyscallDecoder:
    """Takes in the system calls of one run after the other."""

    def __init__(self) -> None:
        self._memory_reader = MemoryReader()
        self._calls = calls()
        self._kinds: dict[str, Callable[[int, Call, Sequence[int]], None]] = {
            "open": self._open, "make": self._open, "openat2": self._open, "look": self._look,
            "exec": self._execute, "mkdir": self._mkdir, "remove": self._remove,
            "rename": self._rename, "effect": self._change, "holds": self._change_held,
            "address": self._address, "message": self._message, "kill": self._kill,
            "bare": self._bare,
        }  # fmt: skip
        self._own_socket = ""
        self._is_alone = False
        self._ended: LastingEffect | None = None
        self._changed: set[str] | None = set()
        self._file_effects = FileEffects()
        self._seen = AccessLog(self._file_effects)
        self._first_sight = FirstAccess(self._seen, _status)

    def begin(self, begun: Begun) -> None:
        """Begin again, with another run."""
        self._own_socket, self._ended, self._changed = begun.own_socket, None, set()
        self._is_alone = begun.is_alone
        self._file_effects.begin()
        self._seen.begin(begun.cache)
        self._seen.see(begun.cwd)
        self._first_sight.begin(begun.varied)

    def facts(self, number: int, pid: int) -> Observed:
        """Return what is new since this was last asked for, and keep what a snapshot needs.

        Args:
            number: the snapshot that has just been taken.
            pid: its process.
        """
        if not self._ended:
            try:
                self._file_effects.keep(number, pid)
            except CannotPutBackError as error:
                self.ends(str(error), ())
        return Observed(str(self._ended or ""), *self._seen.take())

    def done(self) -> Done:
        """Return what the run has done so far and left in the world."""
        effects = (*((self._ended,) if self._ended else ()), *self._file_effects.left())
        paths = None if self._changed is None else (*self._changed, *self._file_effects.paths())
        return Done(effects, paths)

    def put_back(self, number: int) -> str:
        """Make again what was made by the time of a snapshot; return why not, empty if it is."""
        try:
            self._file_effects.put_back(number)
        except CannotPutBackError as error:
            return str(error)
        return ""

    def drop(self, number: int) -> None:
        """Forget the files kept for a snapshot."""
        self._file_effects.drop(number)

    def take(self, pid: int, number: int, arguments: "Sequence[int]") -> None:
        """Take in a call that a process is about to make."""
        call = self._calls.get(number)
        if call is None:
            self.ends("a system call of another architecture")
            return
        try:
            self._kinds[call[1]](pid, call, arguments)
            self._first_sight.look(pid)
        except UnreadableError as error:
            self.ends(f"calls {call[0]} in a way that whet can't inspect: {error}")

    def ends(self, effect: str, changed: "Sequence[str] | None" = None) -> None:
        """Note an effect, in words, that can't be taken back; see `_does`."""
        self._does(LastingEffect(OTHER, says=effect), changed)

    def _does(self, effect: LastingEffect, changed: "Sequence[str] | None") -> None:
        """Note an effect that can't be taken back.

        Args:
            effect: what it is.
            changed: files that it changes; None: it may be any.
        """
        self._ended = self._ended or effect
        if changed is None or self._changed is None or len(self._changed) > _MOST_CHANGED:
            self._changed = None
        else:
            # The name itself, and what a link there leads to.
            self._changed.update(
                way(path) for path in changed for way in (key_of, os.path.realpath)
            )

    # ---- accesses ----

    def _read(self, path: str) -> None:
        if not self._seen.read(path):
            self.ends(f"reads from the pipe {path}")

    def _look(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        _, _, folder, _, more = call
        path = self._path(pid, call, arguments)
        if not path:
            return  # what a descriptor leads to was seen when it was opened
        if folder >= 0 and arguments[folder] % _INT == KIND_FOLDER:
            self._seen.look_for_kind(path)
            return
        at_link = more == NO_LINKS or (more >= 0 and arguments[more] & _AT_SYMLINK_NOFOLLOW)
        self._seen.look(path, at_link=bool(at_link))

    def _execute(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        path = self._path(pid, call, arguments)
        self._memory_reader.forget()
        while path:
            self._read(path)
            path = interpreter_of(path)

    # ---- what is done ----

    def _open(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        _, kind, _, _, more = call
        path = self._path(pid, call, arguments)
        if kind == "make":
            flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
        elif kind == "openat2":
            flags = int.from_bytes(self._memory_reader.bytes_at(pid, arguments[more], 8), "little")
        else:
            flags = arguments[more]
        if not path or flags & _O_TMPFILE:
            return
        if flags & os.O_PATH:
            self._seen.look(path, at_link=bool(flags & os.O_NOFOLLOW))
        elif not flags & _WRITES:
            self._read(self._held(pid, path))
        else:
            self._write(pid, self._held(pid, path), flags, self._mode(pid, call, arguments))

    def _write(self, pid: int, path: str, flags: int, mode: int) -> None:
        if not path.startswith("/") or self._is_exempt(path):
            return  # a stream that it holds anyway, or nothing that matters
        status = _status_of(path)
        if self._will_fail(path, status, flags):
            self._seen.see(path)
            self._seen.see(os.path.dirname(path))  # or it fails for lack of that
        elif status is not None and not flags & (_WRITES & ~os.O_CREAT):
            self._read(path)
        elif status is None:
            if flags & os.O_EXCL or not flags & os.O_TRUNC:
                self._seen.see_link(path)  # a file that is there would make a difference
            self._makes(pid, path, mode, was_absent=True)
        elif not self._file_effects.owns(path):
            if is_plain(status) and flags & _ANEW == _ANEW and flags & (os.O_WRONLY | os.O_RDWR):
                self._makes(pid, path, mode, was_absent=False)
            elif is_plain(status) and flags & os.O_APPEND:
                self._append(path, status, flags)
            else:
                is_file = stat.S_ISREG(status.st_mode)
                self._does(LastingEffect(WRITE, path), [path] if is_file else None)

    def _append(self, path: str, status: os.stat_result, flags: int) -> None:
        """Note that lines are added to a file that is there: a resumed run adds them again.

        A run may behave in another way if the file is empty (it writes a header), or if it looks at it.
        """
        is_to_read = flags & os.O_ACCMODE != os.O_WRONLY or self._seen.knows_more_than_kind(path)
        if self._is_alone and status.st_size and not is_to_read:
            self._file_effects.appends(path, status)
            return
        why = " and read" if is_to_read else "" if status.st_size else " while it is empty"
        way = f"opens {path} to append{why} (mode `w` allows copies)"
        self.ends(way, [path])

    def _makes(self, pid: int, path: str, mode: int, *, was_absent: bool) -> None:
        self._seen.see(os.path.dirname(path))
        self._file_effects.makes(path, "file", mode & ~_umask_of(pid), was_absent=was_absent)

    def _will_fail(self, path: str, found: "os.stat_result | None", flags: int) -> bool:
        if found is None:
            return not flags & os.O_CREAT or not _can_make(path)
        if flags & os.O_CREAT and flags & os.O_EXCL:
            return True
        return stat.S_ISDIR(found.st_mode) or not os.access(path, os.W_OK)

    def _held(self, pid: int, path: str) -> str:
        """Return what a path leads to that names one of the process's own descriptors."""
        for prefix in ("/proc/self/fd/", "/dev/fd/", f"/proc/{pid}/fd/"):
            if path.startswith(prefix) and path[len(prefix) :].isdigit():
                return self._memory_reader.target_of(pid, int(path[len(prefix) :]))
        return path

    def _mode(self, pid: int, call: "Call", arguments: "Sequence[int]") -> int:
        """Return with which mode a file is to be created."""
        _, kind, _, path, more = call
        if kind == "openat2":
            content = self._memory_reader.bytes_at(pid, arguments[more], 16)
            return int.from_bytes(content[8:16], "little")
        return arguments[(path if kind == "make" else more) + 1] & 0o7777

    def _is_exempt(self, *paths: str) -> bool:
        """Whether what is done to paths is about byte code, the process itself or no file at all."""
        return all(
            path.startswith((self._seen.cache, *_HARMLESS)) or is_byte_code(path) for path in paths
        )

    def _mkdir(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        path = self._path(pid, call, arguments)
        if self._is_exempt(path):
            return
        self._seen.see_link(path)
        self._seen.see(os.path.dirname(path.rstrip("/")))
        if _status_of(path, follow=False) is None and _can_make(path):
            mode = arguments[call[3] + 1] & 0o7777 & ~_umask_of(pid)
            self._file_effects.makes(path, "folder", mode)

    def _remove(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        path = self._path(pid, call, arguments)
        status = _status_of(path, follow=False)
        if self._is_exempt(path):
            return
        if status is None:
            self._seen.see_link(path)
        elif self._file_effects.deed(path) is None:
            self._does(LastingEffect(REMOVE, path), [path])
        elif not stat.S_ISDIR(status.st_mode) or not os.listdir(path):
            removes_folder = call[0] == "rmdir" or (call[0] == "unlinkat" and bool(arguments[2]))
            if removes_folder == stat.S_ISDIR(status.st_mode):
                self._file_effects.removes(path)

    def _rename(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        name, _, folder, path, _ = call
        source = self._path(pid, call, arguments)
        target = self._path(pid, (name, "", -1 if folder < 0 else 2, path * 2 + 1, 0), arguments)
        is_link = name.startswith("link")
        is_nameless = is_link and (not source or source.startswith(_MADE_UP_LINKS))
        if self._is_exempt(*(() if is_nameless else (source,)), target):
            return
        status, other = _status_of(source, follow=False), _status_of(target, follow=False)
        flags = arguments[4] if name == "renameat2" else 0
        if is_link or flags == _RENAME_NOREPLACE:
            self._seen.see_link(target)
        if is_nameless:
            self.ends(f"calls {name} on {target}", [target])
        elif status is None:
            self._seen.see_link(source)
        elif (is_link or flags == _RENAME_NOREPLACE) and other is not None:
            return  # it will fail
        elif (
            flags not in {0, _RENAME_NOREPLACE}
            or not self._file_effects.made_where_none_was(source)
            or not is_plain(status)
            or not _can_make(target)
            or not (other is None or is_plain(other))
        ):
            self.ends(f"calls {name} on {target}", [source, target])
        elif source != target:
            self._seen.see(os.path.dirname(target))
            self._seen.was_absent(source)  # or what takes the place would have the mode of that
            if is_link:
                self._file_effects.gets_name(source, target)
            else:
                self._file_effects.moves(source, target)

    def _change(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        name, _, folder, path, _ = call
        if not arguments[path] and folder >= 0:  # futimens(3)
            self._changes(name, self._memory_reader.target_of(pid, arguments[folder]))
        else:
            self._changes(name, self._held(pid, self._path(pid, call, arguments)))

    def _change_held(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        path = self._memory_reader.target_of(pid, arguments[0])
        if path.startswith("/"):
            self._changes(call[0], path)

    def _changes(self, name: str, path: str) -> None:
        """Note that something of a file is changed that isn't its content."""
        if self._is_exempt(path):
            return
        deed, status = self._file_effects.deed(path), _status_of(path, follow=False)
        is_new_name = name.startswith(("symlink", "mknod"))
        if is_new_name and (status is not None or not _can_make(path)):
            self._seen.see_link(path)  # the call fails
        elif deed is None or status is None or not is_plain(status):
            self.ends(f"calls {name} on {path}", [path])
        elif "chmod" in name:
            deed.sets_mode = True
        elif "utime" in name:
            deed.sets_times = True
        elif name != "truncate":
            self.ends(f"calls {name} on {path}", [path])

    def _bare(self, _pid: int, call: "Call", _arguments: "Sequence[int]") -> None:
        self.ends(f"calls {call[0]}")

    def _kill(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        target, signal = arguments[0] % _INT, arguments[1] % _INT
        own = _status(pid, b"Tgid:")
        if signal and target != own and _status(target, b"PPid:") != own:
            self.ends(f"calls {call[0]} on {target}")

    def _address(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        _, _, _, address, size = call
        self._speaks(call[0], pid, arguments[address], arguments[size] % _INT)

    def _message(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        head = self._memory_reader.bytes_at(pid, arguments[1], 12)
        address, size = int.from_bytes(head[:8], "little"), int.from_bytes(head[8:12], "little")
        if address and size:
            self._speaks(call[0], pid, address, size)

    def _speaks(self, name: str, pid: int, address: int, size: int) -> None:
        text = self._memory_reader.bytes_at(pid, address, min(size, 128) or 1)
        family = int.from_bytes(text[:2], "little")
        if family == _AF_UNIX:
            path = os.fsdecode(text[2:].partition(b"\0")[0])
            if path == self._own_socket or "/nscd/" in path:
                return  # the C library asks there for users and hosts
            place = path if path.startswith("/") else self._absolute(pid, path)
            if path and self._is_among_own(name, place):
                return
            if name == "connect" and path and not os.path.exists(path):
                self._seen.see(place)
                return
            self.ends(f"calls {name} on {path or 'a socket'}")
        elif family not in (0, _AF_NETLINK):  # nothing; the kernel, about the network
            self.ends(f"calls {name} on the network")

    def _is_among_own(self, name: str, path: str) -> bool:
        """Whether processes of the run alone speak there: in a folder that it has made."""
        if name == "bind" and self._file_effects.is_inside(path) and not os.path.lexists(path):
            self._file_effects.makes(path, "socket", 0)
            return True
        deed = self._file_effects.deed(path)
        return deed is not None and deed.kind == "socket"

    # ---- paths ----

    def _path(self, pid: int, call: "Call", arguments: "Sequence[int]") -> str:
        _, _, folder, path, _ = call
        of = AT_FDCWD if folder < 0 else arguments[folder]
        return self._memory_reader.path_of(pid, of, arguments[path])

    def _absolute(self, pid: int, path: str) -> str:
        return f"{self._memory_reader.target_of(pid, AT_FDCWD)}/{path}"


_HARMLESS = (
    "/proc/self/", "/proc/thread-self/", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts/",
    "/dev/stdout", "/dev/stderr", "/dev/stdin",
)  # fmt: skip

_MADE_UP_LINKS = ("/proc/", "/dev/fd/")
"""Where a file without another name can be."""


def _status_of(path: str, *, follow: bool = True) -> "os.stat_result | None":
    try:
        # A link at the end of a path that is written to is no plain file.
        return os.stat(path) if follow and not os.path.islink(path) else os.lstat(path)
    except OSError:
        return None


def _can_make(path: str) -> bool:
    folder = os.path.dirname(path.rstrip("/"))
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


def _umask_of(pid: int) -> int:
    return _status(pid, b"Umask:", 8)


def interpreter_of(path: str) -> str:
    """Return the program that runs a script, by its first line; empty if it isn't a script."""
    try:
        with open(path, "rb", 0) as file:
            line = file.read(_SHEBANG_BYTES).partition(b"\n")[0]
    except OSError:
        return ""
    words = line[2:].split() if line[:2] == b"#!" else []
    return os.fsdecode(words[0]) if words else ""


def _status(pid: int, field: bytes, base: int = 10) -> int:
    try:
        with open(f"/proc/{pid}/status", "rb", 0) as file:
            for line in file.read(4096).splitlines():
                if line.startswith(field):
                    return int(line.split()[1], base)
    except OSError as error:
        raise UnreadableError(str(error)) from error
    return -1
