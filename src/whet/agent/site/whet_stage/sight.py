"""Observes what a program sees of the file system, and what it does to the world.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from .lines import ShownLines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

_IMPORTERS = ("<frozen importlib._bootstrap_external>", "<frozen importlib._bootstrap>")
_METADATA = os.path.join("importlib", "metadata", "__init__.py")
_SOURCE = (".py", ".pyc", ".pyi", ".so")

# What cannot be taken back: after the first of them no snapshot is taken.
_EFFECTS = frozenset({
    "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "subprocess.Popen",
    "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "os.exec", "pty.spawn",
    "os.kill", "os.killpg", "fcntl.flock", "fcntl.lockf", "sqlite3.connect", "os.remove",
    "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.utime",
    "os.chmod", "os.chown", "os.setxattr", "os.removexattr",
    "shutil.move", "os.lockf", "os.chdir", "os.fchdir", "sys.addaudithook",
})  # fmt: skip


class Sight:
    """What the program has seen since it started or was resumed, and what it has done.

    Attributes:
        is_closed: whet itself is at work.
        ended_by: the first effect that cannot be taken back; empty: there was none.
        lines: of the main script, those that were shown.
    """

    def __init__(
        self, before_read: Callable[[str], None], run_script: Callable[[str], None]
    ) -> None:
        self.is_closed = False
        self.ended_by = ""
        self.lines = ShownLines(all_are=self._sees_script)
        self._script = ""
        self._before_read = before_read
        self._run_script = run_script
        self._seen: set[str] = set()
        self._listed: set[str] = set()
        self._places: set[str] = set()
        self._modules: set[str] = set()
        self._cache = os.environ.get("WHET_PYCACHE") or "\0"

    def facts(self) -> tuple[list[str], list[str], list[str], list[str]]:
        """Return files seen, folders listed, folders searched for modules, and which modules."""
        return (
            sorted(self._seen), sorted(self._listed), sorted(self._places), sorted(self._modules)
        )  # fmt: skip

    def forget(self) -> None:
        """Begin anew: what was seen so far is known to whet."""
        for each in (self._seen, self._listed, self._places, self._modules):
            each.clear()

    def observe(self) -> None:
        """Note what is looked up without being opened: `stat` and its like raise no event."""
        for name in ("stat", "lstat", "access", "readlink"):
            original: Callable[..., object] = getattr(os, name)
            wrapped = self._observed(original)
            setattr(os, name, wrapped)
            for able in ("dir_fd", "effective_ids", "fd", "follow_symlinks"):
                functions: set[object] = getattr(os, f"supports_{able}")
                if original in functions:
                    functions.add(wrapped)

    def _observed(self, original: Callable[..., object]) -> Callable[..., object]:
        def wrapped(path: object, *rest: object, **named: object) -> object:
            self._see(path, named.get("dir_fd"))
            return original(path, *rest, **named)

        for attribute in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(wrapped, attribute, getattr(original, attribute))
        wrapped.__text_signature__ = getattr(original, "__text_signature__", None)  # type: ignore[attr-defined]
        return wrapped

    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """Listen to the interpreter: its audit events (PEP 578)."""
        if self.is_closed:
            return
        if event == "open":
            self._opens(arguments[0], arguments[2])
        elif event in {"os.listdir", "os.scandir"}:
            name = self._absolute(arguments[0])
            # Both look for a few names alone, as of `whet.host.observation`.
            of_modules = _caller(1) in _IMPORTERS or _caller(1).endswith(_METADATA)
            (self._places if of_modules else self._listed).add(name)
        elif event == "import":
            self._modules.add(str(arguments[0]).rpartition(".")[2])
            if arguments[1]:
                self._seen.add(self._absolute(arguments[1]))  # an extension module
        elif event in _EFFECTS:
            is_there = event == "os.mkdir" and os.path.isdir(self._absolute(arguments[0]))
            if not (is_there or self._is_byte_code(arguments)):
                self.ends(event, arguments)
        elif event == "cpython.run_file":
            self._script = str(arguments[0])
            self._seen.discard(self._script)  # Python itself asks first whether it is an archive
            self._run_script(self._script)

    def _opens(self, path: object, flags: object) -> None:
        if isinstance(path, int) or path is None:
            return
        name = self._absolute(path)
        writes = isinstance(flags, int) and bool(
            flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        )
        if writes:
            if not (self._is_byte_code((name,)) or name == os.devnull):
                self.ends("writes", (name,))
            return
        if name.startswith((self._cache, "/proc/", "/sys/")):
            return
        if self._is_data(name):
            self._before_read(name)
        if name == self._script and self.lines.opens(name):
            return
        self._seen.add(name)
        if name.endswith(".pyc"):  # the importer has asked for its source
            folder, file = os.path.split(name)
            above = os.path.dirname(folder) if folder.endswith("__pycache__") else folder
            self._seen.add(os.path.join(above, file.partition(".")[0] + ".py"))

    def _sees_script(self) -> None:
        if not self.is_closed:
            self._seen.add(self._script)

    def _is_byte_code(self, arguments: Sequence[object]) -> bool:
        """Whether an event is about nothing but where byte code is kept, which is no effect."""
        paths = [os.fsdecode(each) for each in arguments if isinstance(each, (str, bytes))]
        return bool(paths) and all(
            path.startswith(self._cache) or "__pycache__" in path for path in paths
        )

    def _is_data(self, name: str) -> bool:
        """Whether a file may be what the user works on: one of the project, or a named one."""
        return (
            not name.endswith(_SOURCE)
            and "site-packages" not in name
            and not name.startswith((sys.base_prefix, sys.prefix, "/proc/", "/sys/", "/dev/"))
            and _caller(3) not in _IMPORTERS
        )

    def _see(self, path: object, folder: object = None) -> None:
        if isinstance(path, int) or self.is_closed:
            return
        if isinstance(folder, int):
            self.ends("looks below a folder that it holds open", (path,))
            return
        name = self._absolute(path)
        # Many a script looks for what lies beside it (`Path(__file__).resolve()`). That it was
        # looked up does not count for the script itself; that it was read does.
        if name != self._script and not name.startswith(("/proc/", "/sys/")):
            self._seen.add(name)

    def _absolute(self, path: object) -> str:
        try:
            name = os.fsdecode("." if path is None else path)  # type: ignore[arg-type]
            return os.path.normpath(os.path.join(os.getcwd(), name))
        except (OSError, TypeError, ValueError):
            return "\0"  # it will not be found either

    def ends(self, event: str, arguments: Sequence[object]) -> None:
        """Note an effect that cannot be taken back."""
        if not self.ended_by:
            what = ", ".join(str(each)[:80] for each in arguments[:1])
            self.ended_by = f"{event} {what}".strip()

    # ---- snapshots ----


def _caller(depth: int) -> str:
    """Return the file of the code that many calls above the caller of this function."""
    frame: FrameType = getattr(sys, "_getframe")(depth + 1)  # noqa: B009 - type checkers take it for private
    return frame.f_code.co_filename
