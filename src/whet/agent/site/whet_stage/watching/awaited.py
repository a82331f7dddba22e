"""Looks out for the first sight of what a search varies, just before it.

What native code sees first isn't noticed here but from outside (`whet.host.spawner.syscall_decoder`): the
snapshot has then seen it, and whet doesn't run on from there.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from ..hiding.hidden_frames import hidden_frame
from .words import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Events whose first two arguments may be the path of a file that is looked at.
_SIGHTS = frozenset({
    "open", "os.listdir", "os.scandir", "os.getxattr", "os.listxattr", "os.walk", "os.chdir",
    "os.remove", "os.rename", "os.link", "os.symlink", "os.truncate", "os.utime", "os.chmod",
    "os.chown", "os.setxattr", "os.removexattr", "sqlite3.connect", "ctypes.dlopen",
    "shutil.move", "shutil.copyfile",
})  # fmt: skip

# What may not be put back, or may hinder a snapshot: it is the last chance for one.
_EFFECTS = frozenset({
    "socket.__new__", "subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn",
    "os.system", "os.kill", "os.killpg", "fcntl.flock", "fcntl.lockf", "sqlite3.connect",
    "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chown",
    "os.setxattr", "os.removexattr", "shutil.move", "sys.addaudithook",
})  # fmt: skip

_MOST_BEFORE_EFFECTS = 8
_LOOKS = ("stat", "lstat", "access", "readlink")
_ABLE = ("supports_dir_fd", "supports_effective_ids", "supports_fd", "supports_follow_symlinks")


class Awaited:
    """Files, folders and arguments that have not been seen yet; false if none is left.

    What is in one of them counts, and the folder in which one lies.

    Attributes:
        words: the arguments.
    """

    def __init__(
        self,
        paths: Sequence[str],
        words: int,
        before_sight: Callable[[str], None],
        before_effect: Callable[[str], None],
    ) -> None:
        self._paths = {each for path in paths for each in (path, os.path.dirname(path))}
        self._below = tuple(path + "/" for path in paths)
        self.words = Words(words, self._meet_words)
        self._before_sight = before_sight
        self._before_effect = before_effect
        self._effects_left = _MOST_BEFORE_EFFECTS
        self._replaced: dict[str, tuple[object, object]] = {}

    def __bool__(self) -> bool:
        return bool(self._paths) or self.words.are_awaited

    def begin(self) -> None:
        """Note what is looked up without being opened: `stat` and its like raise no event."""
        self.words.begin()
        # Before 3.11 a traceback would show the function that looks out.
        if self._paths and sys.version_info >= (3, 11):
            for name in _LOOKS:
                original: Callable[..., object] = getattr(os, name)
                self._put(name, original, self._looking_out(original))

    def end(self) -> None:
        """Look out no more."""
        self._paths.clear()
        self.words.end()
        for name, (original, own) in self._replaced.items():
            if getattr(os, name) is own:
                self._put(name, own, original)
        self._replaced.clear()

    def _put(self, name: str, old: object, new: object) -> None:
        setattr(os, name, new)
        self._replaced[name] = (old, new)
        for able in _ABLE:
            functions: set[object] = getattr(os, able)
            if old in functions:
                functions.discard(old)
                functions.add(new)

    def _looking_out(self, original: Callable[..., object]) -> Callable[..., object]:
        @hidden_frame
        def look(path: object, *rest: object, **named: object) -> object:
            self.meet(path)
            return original(path, *rest, **named)

        for attribute in ("__name__", "__qualname__", "__doc__", "__module__"):
            setattr(look, attribute, getattr(original, attribute))
        vars(look)["__text_signature__"] = getattr(original, "__text_signature__", None)
        return look

    @hidden_frame
    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """Listen to the interpreter: its audit events (PEP 578)."""
        if not self:
            return
        if event in _SIGHTS:
            for argument in arguments[:2]:
                self.meet(argument)
        if self and (event in _EFFECTS or _writes(event, arguments)):
            self._effects_left -= 1
            if self._effects_left >= 0:
                self._before_effect(event)

    @hidden_frame
    def meet(self, path: object) -> None:
        """Let a snapshot be taken before what is awaited is seen for the first time."""
        if self._paths:
            name = _absolute(path)
            if name in self._paths or name.startswith(self._below):
                self.end()
                self._before_sight(name)

    @hidden_frame
    def _meet_words(self, name: str) -> None:
        self.end()
        self._before_sight(name)


def _writes(event: str, arguments: tuple[object, ...]) -> bool:
    """Whether a file is opened to be written to, which may stay open."""
    if event != "open" or not isinstance(arguments[2], int):
        return False
    name = _absolute(arguments[0])
    return (
        bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))
        and "__pycache__" not in name
        and not name.startswith((os.environ.get("WHET_PYCACHE") or "\0", "/dev/", "/proc/"))
    )


def _absolute(path: object) -> str:
    """Return the whole of a path; empty if it is none."""
    told: Callable[[], object] | None = getattr(path, "__fspath__", None)
    path = path if told is None else told()
    if not isinstance(path, (str, bytes)):
        return ""
    try:
        name = os.fsdecode(path)
        return os.path.normpath(name if name[:1] == "/" else os.path.join(os.getcwd(), name))
    except (OSError, ValueError):
        return ""  # it will not be found either
