"""Look-ups from which the program learns no more than that a file is there, or of which kind it is.

They are tagged, so that whet notes nothing else of the file: a program may ask whether there is an
earlier result, and then overwrite it. Those of the user's sources are also counted, so that they do
not count: `import torch` formats stacks and asks `inspect` for the module of a frame: `linecache` looks
whether each file has changed, `inspect` where each of them really is. If that counted as having
seen them, no edit could be answered from a snapshot. Any other look-up counts.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import genericpath
import os
import posixpath
import sys

from ..hiding.hidden_frames import hidden_frame
from ..hiding.importer import replace
from ..hiding.typed import cast
from ..hiding.unfiltered_calls import announce, is_stat_replaced, kind_at

_ANY = 1 << 40
_LOOKUP_IS_FREE = "/dev/null/free"  # as of `whet.host.spawner.access_log`
_FOLDER, _FILE = 0o040000, 0o100000
_QUESTIONS = {"exists": 0, "isfile": _FILE, "isdir": _FOLDER}
_METHODS = {"exists": 0, "is_file": _FILE, "is_dir": _FOLDER}
_MOST_CHARACTERS = 1000
"""A longer path may become too long for the kernel where the current folder is put before it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


class SourceLookups:
    """How often each source has been looked up so.

    Attributes:
        own: that, by path.
        free: sources whose look-ups don't count at all: pytest asks for the time of a test's
            module again and again, to find what it has made of it.
    """

    def __init__(self, is_source: Callable[[str], bool]) -> None:
        self.own: dict[str, int] = {}
        self.free: set[str] = set()
        self._is_source = is_source
        self._pid = os.getpid()
        self._has_linecache = False
        self._originals: list[tuple[object, str, object]] = []

    def begin_process(self) -> None:
        """Count from nothing: this process is the program's, and those that it forks are others."""
        self.own = {}
        self._pid = os.getpid()

    def observe(self) -> None:
        """Count from now on."""
        for name, kind in _QUESTIONS.items():
            is_so = self._asked(vars(genericpath)[name], kind, str)
            self._put(genericpath, name, is_so)
            self._originals.append((posixpath, name, vars(posixpath)[name]))
            setattr(posixpath, name, is_so)
        if sys.version_info >= (3, 10):
            follow = cast("Callable[..., object]", posixpath.realpath)

            def realpath(filename: object, *, strict: bool = False) -> object:
                found = follow(filename, strict=strict)
                self._count(found)  # each part of it is looked up once
                return found

            self._put(posixpath, "realpath", realpath)

    def watch_paths(self, module: dict[str, object]) -> None:
        """Count from now on what `pathlib` is asked: that is given its namespace."""
        kinds = cast("type", module["Path"]).__mro__
        if sys.version_info < (3, 14):  # later ones ask `os.path`
            own = type(cast("Callable[[], object]", module["Path"])())
            for name, wanted in _METHODS.items():
                kind = next(each for each in kinds if name in vars(each))
                self._put(kind, name, self._asked(vars(kind)[name], wanted, own))
        if sys.version_info < (3, 13):
            follow: Callable[..., object] = vars(module["Path"])["resolve"]

            def resolve(path: object, strict: bool = False) -> object:  # noqa: FBT001, FBT002 - as there
                found = follow(path, strict=strict)
                if not strict:
                    self._count(found)
                return found

            self._put(module["Path"], "resolve", resolve)

    def _asked(self, original: Callable[..., bool], kind: int, own: type) -> Callable[..., bool]:
        """Return what asks for the kind alone: of a path of this type, by nobody's own `os.stat`."""
        asks = getattr(own, "stat", None)  # of a path; a text has none

        def question(path: object, **how: object) -> bool:
            name = self._count(path)
            is_own = type(path) is own and getattr(own, "stat", None) is asks
            if is_own and name and not how and not is_stat_replaced():
                try:
                    return kind_at(name) == kind or not kind
                except (OSError, ValueError):
                    pass  # what became of it is the original's affair
            return original(path, **how)

        question.__name__ = original.__name__
        return question

    def end(self) -> None:
        """Count no more: all functions are Python's own again."""
        for where, name, original in self._originals:
            setattr(where, name, original)
        self._originals.clear()

    def _put(self, where: object, name: str, function: Callable[..., object]) -> None:
        self._originals.append((where, name, getattr(where, name)))
        replace(where, name, function)
        hidden_frame(function)

    def facts(self) -> dict[str, int]:
        """Return how often each source has been looked up in a way that doesn't count."""
        return {**self.own, **dict.fromkeys(self.free, _ANY)}

    def at_line(self, path: str) -> None:
        """Note that `linecache` reads a source, which it has looked up before."""
        if not self._has_linecache:
            self._count(path)
            self._has_linecache = True
            self._observe_linecache(sys.modules["linecache"])

    def _observe_linecache(self, module: ModuleType) -> None:
        names = vars(module)
        update: Callable[..., list[str]] = names["updatecache"]
        check: Callable[..., None] = names["checkcache"]
        cache: dict[str, tuple[object, ...]] = names["cache"]

        def updatecache(filename: str, module_globals: object = None) -> list[str]:
            self._count(filename)
            return update(filename, module_globals)

        def checkcache(filename: str | None = None) -> None:
            for entry in list(cache.values()) if filename is None else [cache.get(filename)]:
                if entry is not None and len(entry) > 1 and entry[1] is not None:
                    self._count(entry[3])
            check(filename)

        self._put(module, "updatecache", updatecache)
        self._put(module, "checkcache", checkcache)

    def _count(self, path: object) -> str:
        """Count a look-up of a source; return the absolute path, empty if there is none to ask for."""
        try:
            given = os.fspath(cast("str", path))
            name = os.path.join(os.getcwd(), given)
            if name.endswith(".py") or self._is_source(name):
                self.own[name] = self.own.get(name, 0) + 1
                if os.getpid() != self._pid:
                    announce(f"{_LOOKUP_IS_FREE}{name}")
        except (OSError, TypeError, ValueError):
            return ""  # whoever is asked for it says so
        return name if given and len(name) < _MOST_CHARACTERS else ""
