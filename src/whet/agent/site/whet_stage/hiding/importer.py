"""Lets the importer's own look-ups pass unfiltered: they are most of what a program asks the kernel.

What the importer learns from a folder is which of the modules it looks for are there. So folders
and names are noted here, and what it looks up itself is tagged so that nobody asks about it
(`whet.host.kernel.seccomp`). What it fails to find isn't. Of installed sources whose byte code it trusts
the mark is noted here. Byte code is read tagged too: it counts for nothing, as Python checks it
against its source. A process that the program forks notes nothing here: there everything is held.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _frozen_importlib_external as machinery
import os
import sys
import time

from .unfiltered_calls import MAGIC_FOLDER, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.abc import FileLoader
    from importlib.machinery import FileFinder, ModuleSpec
    from types import FrameType, FunctionType, ModuleType


_SLACK_NS, _WHOLE_SLACK_NS = 12_000_000, 2_000_000_000  # as of `whet.host.files.file_times`
_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_KIND_BITS, _FILE = 0o170000, 0o100000


class Importer:
    """What the importer looked for, and where.

    Attributes:
        places: folders in which it looked for modules.
        modules: the last parts of their names.
        listings: how often it listed which folder.
        marks: of installed sources, as of `whet.host.files.marks`.
    """

    def __init__(self) -> None:
        self.places: set[str] = set()
        self.modules: set[str] = set()
        self.listings: dict[str, int] = {}
        self.marks: dict[str, tuple[int, ...]] = {}
        self._pid = self._forked = os.getpid()
        self._listed_again: list[FileFinder] = []
        self._forgotten: list[tuple[object, ...]] = []
        self._originals: list[tuple[object, str, object]] = []

    def forget(self) -> None:
        """Begin again, in this process."""
        # Not let go of: a forked process gets a page of its own for each that it does.
        self._forgotten.append((self.places, self.modules, self.listings, self.marks))
        self.places, self.modules, self.listings, self.marks = set(), set(), {}, {}
        self._pid = os.getpid()

    def lists(self, folder: str) -> None:
        """Note that a folder was listed in search of modules or packages."""
        self.places.add(folder)
        self.listings[folder] = self.listings.get(folder, 0) + 1

    def observe(self) -> None:
        """Note from now on what is looked for."""
        finder: type[FileFinder] = machinery.FileFinder
        self._watch_finder(finder)
        self._replace(machinery, "_path_stat", self._tagged(os.stat))
        self._replace(machinery.FileLoader, "get_data", self._reading())

    def end(self) -> None:
        """Note no more: the importer is Python's own again."""
        for where, name, original in self._originals:
            setattr(where, name, original)
        self._originals.clear()

    def _replace(self, where: object, name: str, function: Callable[..., object]) -> None:
        self._originals.append((where, name, getattr(where, name)))
        replace(where, name, function)

    def _watch_finder(self, finder: type[FileFinder]) -> None:
        find: Callable[..., ModuleSpec | None] = finder.find_spec
        getpid = os.getpid
        fill: Callable[[FileFinder], None] = vars(finder)["_fill_cache"]

        def find_spec(self_: FileFinder, fullname: str, target: ModuleType | None = None) -> object:
            if getpid() != self._pid:
                self._list_again(self_)
                return find(self_, fullname, target)
            self.modules.add(fullname.rpartition(".")[2])
            self.places.add(_absolute(self_.path))
            return find(self_, fullname, target)

        def _fill_cache(self_: FileFinder) -> None:
            self.lists(_absolute(self_.path))
            fill(self_)

        self._replace(finder, "find_spec", find_spec)
        self._replace(finder, "_fill_cache", _fill_cache)

    def _list_again(self, finder: FileFinder) -> None:
        """In a process that was forked: have each folder listed once more, which is seen."""
        pid = os.getpid()
        if pid != self._forked:
            self._forked = pid
            self._listed_again.clear()
        if finder not in self._listed_again:
            self._listed_again.append(finder)
            finder.invalidate_caches()

    def _tagged(self, stat: Callable[..., os.stat_result]) -> Callable[[str], os.stat_result]:
        frame: Callable[[int], FrameType] = vars(sys)["_getframe"]
        getpid = os.getpid

        def _path_stat(path: str) -> os.stat_result:
            if path[:1] != "/" or getpid() != self._pid:
                return stat(path)
            if path[-3:] == ".py" and frame(1).f_code.co_name == "path_stats":
                return self._mark(path) or stat(path)
            try:
                return stat(path, dir_fd=MAGIC_FOLDER)
            except OSError:
                folder, _, name = path.rpartition("/")
                if name.startswith("__init__.") and name != "__init__.py":
                    # Each package is tried with every suffix: too many to ask about each.
                    self.places.add(folder)
                    self.modules.add("__init__")
                    raise
            return stat(path)

        return _path_stat

    def _mark(self, path: str) -> os.stat_result | None:
        """Look an installed source up unfiltered, and note its mark; None: it is to be held."""
        if not path.startswith(_STANDARD) and not any(part in path for part in _INSTALLED):
            return None
        try:
            found = os.stat(path, dir_fd=MAGIC_FOLDER)
        except OSError:
            return None
        if found.st_mode & _KIND_BITS != _FILE:
            return None
        changed = found.st_ctime_ns
        mark: tuple[int, ...] = (
            changed, found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev
        )  # fmt: skip
        slack = _SLACK_NS if changed % 1_000_000_000 else _WHOLE_SLACK_NS
        if changed >= time.time_ns() - slack or self.marks.get(path, mark) != mark:
            mark = ()  # nothing is sure
        self.marks[path] = mark
        return found

    def _reading(self) -> Callable[[FileLoader, str], bytes]:
        get_data: Callable[[FileLoader, str], bytes] = machinery.FileLoader.get_data
        getpid = os.getpid
        flags = sys.flags.optimize
        suffix = f".{sys.implementation.cache_tag}{f'.opt-{flags}' if flags else ''}.pyc"
        count = len(suffix)

        def read_tagged(self_: FileLoader, path: str) -> bytes:
            if path[-count:] != suffix or path[:1] != "/" or getpid() != self._pid:
                return get_data(self_, path)
            return whole(path)

        return read_tagged


def _absolute(path: str) -> str:
    if path[:1] == "/":
        return path
    return os.path.join(os.getcwd(), path) if path else os.getcwd()


def replace(where: object, name: str, function: Callable[..., object]) -> None:
    """Put a function instead of another one, so that it looks like that."""
    original: FunctionType = getattr(where, name)
    assert hasattr(function, "__code__")
    # Python leaves frames of this file out of the traceback of a module that can't be imported.
    code = function.__code__.replace(co_filename=original.__code__.co_filename)
    object.__setattr__(function, "__code__", code)
    for attribute in ("__qualname__", "__doc__", "__module__"):
        setattr(function, attribute, getattr(original, attribute))
    setattr(where, name, function)
