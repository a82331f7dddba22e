"""Which files whet and all that it starts write to, as strace sees it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path

_WRITING = (
    "openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mknod,mknodat,"
    "unlink,unlinkat,rmdir,truncate,chmod,fchmodat,chown,fchownat,lchown,utimensat"
)
STRACE = (
    *("strace", "-f", "-y", "-qq", "--decode-pids=pidns"),
    *("-e", f"trace={_WRITING},mount,chdir,fchdir,clone,clone3,fork,vfork"),
)
_WRITES = re.compile(r"\bO_(?:CREAT|WRONLY|RDWR|TRUNC|TMPFILE)\b")
_LINE = re.compile(r"(?P<pid>\d+) +(?P<rest>.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>(?P<rest>.*)")
_DONE = re.compile(r"(?P<call>\w+)\((?P<arguments>.*)\) += (?P<answer>[^-].*)")
_CHILD = re.compile(r"(?:\d+ /\* )?(?P<pid>\d+)")
_PATH = re.compile(r'(?:<(?P<folder>/[^<>]*)>, )?"(?P<path>(?:[^"\\]|\\.)*)"')
_NO_DISK = ("/dev/", "/proc/")
_STARTS = {"clone", "clone3", "fork", "vfork"}


@dataclass(frozen=True)
class Write:
    """A path that was written to, and whether only its times were set."""

    path: str
    is_time: bool


@dataclass
class TracedWrites:
    """Reads a log of strace whose first process started in a folder.

    What a process mounts for itself is not on the machine's disk: what it and its children write
    below that is left out.
    """

    log: Path
    folder: Path
    _begun: dict[str, str] = field(default_factory=dict[str, str])
    _rooms: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _folders: dict[str, Path] = field(default_factory=dict[str, Path])

    def __iter__(self) -> Iterator[Write]:
        for line in self.log.read_text("utf-8", "surrogateescape").splitlines():
            match = _LINE.fullmatch(line)
            if match is not None:
                yield from self._of(match["pid"], match["rest"])

    def _of(self, pid: str, words: str) -> Iterator[Write]:
        if words.endswith("<unfinished ...>"):
            self._begun[pid] = words.removesuffix("<unfinished ...>")
            return
        resumed = _RESUMED.fullmatch(words)
        done = _DONE.fullmatch(self._begun.pop(pid, "") + resumed["rest"] if resumed else words)
        if done is None:
            return
        call, arguments = done["call"], done["arguments"]
        folder = self._folders.get(pid, self.folder)
        paths = [
            normpath(folder / (each["folder"] or "") / each["path"])
            for each in _PATH.finditer(arguments)
        ]
        if call in _STARTS:
            child = _CHILD.match(done["answer"])  # its number here, not in a room of its own
            assert child is not None, done["answer"]
            self._rooms[child["pid"]] = [*self._rooms.get(pid, ())]
            self._folders[child["pid"]] = folder
        elif call in {"chdir", "fchdir"}:
            self._folders[pid] = Path(paths[0] if paths else arguments.split("<")[1].rstrip(">"))
        elif call == "mount":
            if '"tmpfs"' in arguments or '"overlay"' in arguments:
                self._rooms.setdefault(pid, []).append(paths[1])
        elif call not in {"openat", "open"} or _WRITES.search(arguments):
            for path in paths:
                if path.startswith(_NO_DISK) or self._is_in_room(pid, path):
                    continue
                yield Write(path, call == "utimensat")

    def _is_in_room(self, pid: str, path: str) -> bool:
        return any(path == each or path.startswith(f"{each}/") for each in self._rooms.get(pid, ()))
