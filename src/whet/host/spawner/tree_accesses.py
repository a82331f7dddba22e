"""The paths below one folder that the programs of a run pass to the kernel, whether they exist or not.

That is at least what the programs see: each path of each held system call, by its real path, with the
links on the way. An effect that paths don't show is a *gap*: a mount, another process that reads for the
program, an unknown system call.

whet follows each path before its call continues, so it resolves files that the run has moved or linked
as the kernel will.
"""

import os
import stat
import time

from whet.host.kernel.syscalls import AT_FDCWD, calls
from whet.host.process.messages import Looked
from whet.host.spawner.memory_reader import MemoryReader, UnreadableError
from whet.host.spawner.syscall_decoder import interpreter_of

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Sequence

    from whet.host.kernel.syscalls import Call

READS_GIT = "reads git's own metadata"  # as of `whet.core.observations.file_accesses`
_AF_UNIX, _AF_NETLINK = 1, 16
_INT = 1 << 32
_MOST_LINKS = 40  # as the kernel
_TO_AND_FRO_SECONDS = 6e-6  # for the kernel, to change from the program to here and back
_O_PATH = os.O_PATH
_GAPS = frozenset({
    "ptrace", "shmget", "semget", "msgget", "mq_open", "io_uring_setup", "open_by_handle",
    "mount", "umount", "mount_setattr", "move_mount", "open_tree", "open_tree_attr", "fsopen",
    "fsmount", "pivot_root", "chroot", "unshare", "setns",
})  # fmt: skip
"""Calls after which paths can mean something else, or another process can read for this one."""


class TreeAccesses:
    """Takes in the system calls of one run after the other."""

    def __init__(self) -> None:
        self._memory_reader = MemoryReader()
        self._calls = calls()
        self.begin("", "")

    def begin(self, top: str, repository: str) -> None:
        """Begin again, with another run.

        Args:
            top: the folder, a real path; reported paths are relative to it.
            repository: git's own folder of which ``top`` is a checkout; empty: none.
        """
        self._top = top
        self._git = repository
        self._has_repository = os.path.isdir(f"{top}/.git")
        self._gap = ""
        self._looked: set[str] = set()
        self._listed: set[str] = set()
        self._moved: set[str] = set()
        self._followed: dict[str, str] = {}
        self._may_remember = True
        self.count = 0
        self.held_seconds = 0.0

    def summary(self) -> Looked:
        """Return what was looked at."""
        return Looked(
            gap=self._gap,
            paths=sorted(self._looked),
            folders=sorted(self._listed),
            moved=sorted(self._moved),
            calls=self.count,
            held_seconds=self.held_seconds,
        )

    def ends(self, gap: str) -> None:
        """Note a gap."""
        self._gap = self._gap or gap

    def look(self, path: str) -> None:
        """Note that an absolute path is looked up, beside any call."""
        self._follow(path)

    def take(self, pid: int, number: int, arguments: "Sequence[int]") -> None:
        """Take in a call that a process is about to make."""
        began = time.perf_counter()
        self._take_in(pid, number, arguments)
        self.count += 1
        self.held_seconds += time.perf_counter() - began + _TO_AND_FRO_SECONDS

    def _take_in(self, pid: int, number: int, arguments: "Sequence[int]") -> None:
        call = self._calls.get(number)
        if call is None:
            self.ends("a system call of another architecture")
            return
        name, kind = call[:2]
        try:
            if kind in _AT_PATHS:
                self._at_path(pid, call, arguments)
            elif kind in {"address", "message"}:
                self._speaks(pid, call, arguments)
            elif name in _GAPS:
                self.ends(name)
        except UnreadableError as error:
            self.ends(f"calls {name} in a way that whet can't inspect: {error}")

    # ---- calls that name paths ----

    def _at_path(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        name, kind, folder, path, _ = call
        target = self._named(pid, folder, path, arguments)
        if not target and kind == "exec":
            target = self._memory_reader.target_of(pid, arguments[folder])  # fexecve(3)
        if not target:
            return  # what a descriptor leads to was named when it was opened
        real = self._follow(target, pid)
        if kind in {"open", "openat2"}:
            self._opens(pid, call, arguments, real)
        elif kind == "exec":
            self._memory_reader.forget()
            self._runs(pid, real)
        elif kind == "rename":
            other = self._named(pid, -1 if folder < 0 else 2, path * 2 + 1, arguments)
            self._renames(name, pid, real, other)
        elif name.startswith("symlink"):
            self._may_remember = False
            self._followed.clear()
        elif name == "inotify" and real and os.path.isdir(target):
            self._lists(real)

    def _named(self, pid: int, folder: int, path: int, arguments: "Sequence[int]") -> str:
        if not arguments[path]:
            return ""  # futimens(3)
        of = AT_FDCWD if folder < 0 else arguments[folder]
        return self._memory_reader.path_of(pid, of, arguments[path])

    def _opens(self, pid: int, call: "Call", arguments: "Sequence[int]", real: str) -> None:
        if not real:
            return
        kind, more = call[1], call[4]
        if kind == "openat2":
            flags = int.from_bytes(self._memory_reader.bytes_at(pid, arguments[more], 8), "little")
        else:
            flags = arguments[more]
        if flags & _O_PATH:
            return
        if real == os.path.join(self._top, ".git"):
            self.ends(READS_GIT)
        kind_bits = _kind_of(real)
        if kind_bits == stat.S_IFDIR:
            self._lists(real)
            if real == self._git:
                self.ends(READS_GIT)
        elif kind_bits in {stat.S_IFIFO, stat.S_IFSOCK}:
            self.ends(f"opens the pipe {real}")

    def _lists(self, real: str) -> None:
        inside = self._inside(real)
        if inside is not None:
            self._listed.add(inside)

    def _runs(self, pid: int, real: str) -> None:
        """Note the programs that the first lines of scripts name."""
        for _ in range(_MOST_LINKS):
            program = interpreter_of(real) if real else ""
            if not program:
                return
            if not program.startswith("/"):
                program = f"{self._memory_reader.target_of(pid, AT_FDCWD)}/{program}"
            real = self._follow(program, pid)

    def _renames(self, name: str, pid: int, source: str, other: str) -> None:
        target = self._follow(other, pid) if other else ""
        for real in (source, target):
            if real and _kind_of(real) in {stat.S_IFDIR, stat.S_IFLNK}:
                self._may_remember = False
                self._followed.clear()
                inside = self._inside(real)
                if inside is not None and not name.startswith("link"):
                    self._moved.add(inside)

    def _speaks(self, pid: int, call: "Call", arguments: "Sequence[int]") -> None:
        """Note that another process may read for the program."""
        if call[1] == "message":
            head = self._memory_reader.bytes_at(pid, arguments[1], 12)
            address, size = int.from_bytes(head[:8], "little"), int.from_bytes(head[8:12], "little")
        else:
            address, size = arguments[call[3]], arguments[call[4]] % _INT
        if not address or not size:
            return
        text = self._memory_reader.bytes_at(pid, address, min(size, 128) or 1)
        family = int.from_bytes(text[:2], "little")
        path = os.fsdecode(text[2:].partition(b"\0")[0]) if family == _AF_UNIX else ""
        if family in (0, _AF_NETLINK) or "/nscd/" in path:
            return  # nothing; the kernel, about the network; who asks for users and hosts
        if call[0] == "connect" and path:
            if not path.startswith("/"):
                path = f"{self._memory_reader.target_of(pid, AT_FDCWD)}/{path}"
            self._follow(path, pid)
            if not os.path.exists(path):
                return
        self.ends(f"{call[0]}: another process can read for it")

    # ---- where paths lead ----

    def _follow(self, path: str, pid: int = 0) -> str:
        """Note a path by its real place, and each link on the way; return that place.

        As the kernel walks: a link is replaced by its target, ``..`` goes up from the real
        place. A link at the end is noted, and what it leads to as well.
        """
        return self._walk(path, pid, _MOST_LINKS)

    def _walk(self, path: str, pid: int, links_left: int) -> str:
        folder, _, name = path.rpartition("/")
        if name in {"", "."}:
            return self._walk(folder, pid, links_left) if folder else "/"
        base = self._followed.get(folder)
        if base is None:
            base = self._walk(folder, pid, links_left) if folder else "/"
            if self._may_remember and not base.startswith(_OF_PROCESSES) and os.path.isdir(base):
                self._followed[folder] = base
        if name == "..":
            return os.path.dirname(base)
        here = f"{base.rstrip('/')}/{name}"
        self._note(here)
        if here in {"/proc/self", "/proc/thread-self"} and pid:
            return f"/proc/{pid}"
        try:
            target = os.readlink(here)
        except OSError:
            return here
        if not links_left:
            return here  # the kernel refuses it: ELOOP
        if here.startswith("/proc/") and not target.startswith("/"):
            return here  # `pipe:[123]` and the like
        if not target.startswith("/"):
            target = f"{base.rstrip('/')}/{target}"
        return self._walk(target, pid, links_left - 1)

    def _note(self, real: str) -> None:
        inside = self._inside(real)
        if inside is not None:
            if inside == ".git" or inside.startswith(".git/"):
                # A file in each checkout of whet's own, that it is there tells nothing.
                if self._has_repository:
                    self.ends(READS_GIT)
            elif inside:
                self._looked.add(inside)
        elif self._git and real.startswith(f"{self._git}/") and not self._top.startswith(real):
            self.ends(READS_GIT)

    def _inside(self, real: str) -> "str | None":
        if real == self._top:
            return ""
        return real[len(self._top) + 1 :] if real.startswith(f"{self._top}/") else None


_AT_PATHS = frozenset(
    {"open", "make", "openat2", "look", "exec", "mkdir", "remove", "rename", "effect"}
)
_OF_PROCESSES = ("/proc", "/dev/fd")


def _kind_of(path: str) -> int:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return 0
