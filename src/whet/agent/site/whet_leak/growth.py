"""What grows between two moments: types, containers, lines, files, threads.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import tracemalloc
from collections import Counter, deque

from . import named
from .graphs import graphs_in
from .holders import Chain, Holders, thread_spaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_FRAMES = 12
_MOST_TOLD, _MOST_TYPES = 5, 8
_PART = 1000
_MOST_ASKED, _MOST_SECONDS = 80, 10.0
_ATOMS = ("str", "int", "float", "bytes", "bool", "NoneType")
_clock = time.perf_counter
_SELDOM, _SELDOM_SHARE = 3, 16
_type_of: Callable[[Any], type] = type
_SIZED: tuple[Any, ...] = (list, dict, set, deque)
_LENGTHS: list[tuple[Any, Any]] = [(each, vars(each)["__len__"]) for each in _SIZED]
_values_of: Callable[[Any], Any] = vars(dict)["values"]
_traces_of: Callable[[], list[Any]] = vars(tracemalloc)["_get_traces"]
_item_of: Callable[[Any, int], Any] = vars(list)["__getitem__"]
_CACHE = "_lru_cache_wrapper"
_TELL_NOTHING = ("ReferenceType", "cell", "tuple", "frame", "traceback")
"""Objects that others bring with them."""


class Growth:
    """Notes what there is at two moments, and tells what has been added between them."""

    def __init__(
        self, is_own: Callable[[str], bool], spaces: Iterable[tuple[Any, str, str]] = ()
    ) -> None:
        """Make it ready.

        Args:
            is_own: whether a file is the user's own.
            spaces: namespaces of the user's that no module has, each with a name and a file.
        """
        self._is_own = is_own
        self._spaces = list(spaces)
        self._tracing: Any = tracemalloc
        self._lengths: dict[int, int] = {}
        self._types: Counter[type] = Counter()
        self._graphs: dict[int, int] = {}
        self._named: dict[tuple[str, str, str], int] = {}
        self._lines: dict[Any, list[int]] = {}
        self._files: set[tuple[int, str]] = set()
        self._threads: set[int] = set()
        self._known: set[int] = set()
        self._traced = 0
        self._owned: dict[str, bool] = {}

    def begin(self) -> bool:
        """Have each allocation traced from here on; say whether it was before."""
        if self._tracing.is_tracing():
            return True
        self._tracing.start(_FRAMES)
        return False

    def end(self) -> None:
        """Trace no more."""
        self._tracing.stop()

    def note(self) -> None:
        """Note what there is now: what was added later is what has grown."""
        gc.collect()
        objects = gc.get_objects()
        self._types = Counter(map(type, objects))
        self._lengths = {id(each): _length(each) for each in self._sized_in(objects)}
        self._known = set(map(id, objects))
        self._graphs = {id(each): size for each, size in graphs_in(objects)}
        del objects
        self._named = {key: size for key, (size, _) in named.sizes(self._is_users).items()}
        self._files, self._threads = _files(), set(vars(sys)["_current_frames"]())
        self._lines = self._by_line()

    def facts(self, repetitions: int) -> dict[str, Any]:
        """Return what has been added since, as data.

        Args:
            repetitions: how often the piece has run since.
        """
        gc.collect()
        lines = self._grown_lines()
        files = sorted(_files() - self._files)
        objects = gc.get_objects()
        kinds = Counter(map(type, objects))
        kinds.subtract(self._types)
        types = Counter({_name_of(kind): count for kind, count in kinds.items() if count > 0})
        least = max(1, repetitions // 2)
        grown = self._grown_containers(objects, max(_SELDOM, least // _SELDOM_SHARE))
        new = [each for each in objects if id(each) not in self._known]
        holders = Holders(
            self._is_users, self._spaces, [objects, grown, new, self.__dict__, self._lengths]
        )
        told: dict[str, Any] = {
            "repetitions": repetitions,
            "types": [list(each) for each in types.most_common(_MOST_TYPES) if each[1] >= least],
            "lines": lines,
            "files": [list(each) for each in files[:_MOST_TOLD]],
            "file_count": len(files),
            "threads": self._new_threads(),
        }
        for line in lines[1:]:
            line[0] = _whole(line[0])
        told["holders"] = self._grown_graphs(objects, holders, least) or self._holders(
            holders, grown, new, types, least
        )
        for each in told["holders"]:
            each["path"] = _whole(each["path"])
        return told

    def _grown_containers(self, objects: list[Any], least: int) -> list[tuple[int, Any]]:
        """Return what has more items than before, the most first; of a cache, the function alone."""
        caches = [each for each in self._sized_in(objects) if _type_of(each).__name__ == _CACHE]
        inside = {id(each) for cache in caches for each in gc.get_referents(cache)}
        inside -= set(map(id, caches))
        grown: list[tuple[int, Any]] = []
        for each in self._sized_in(objects):
            if id(each) in self._lengths and id(each) not in inside:
                added = _length(each) - self._lengths[id(each)]
                if added >= least:
                    grown.append((added, each))
        # What holds objects comes before what holds texts: these are in it.
        grown.sort(key=lambda pair: (_item_type(pair[1]) in _ATOMS, -pair[0]))
        return grown

    def _sized_in(self, objects: list[Any]) -> list[Any]:
        """Return those that have a length, and hold others."""
        sized = {kind for kind in set(map(type, objects)) if _is_sized(kind)}
        found = [each for each in objects if type(each) in sized]
        # The collector doesn't know a dictionary of plain values. It knows the dictionary's holder.
        plain: dict[int, Any] = {}
        for at in range(0, len(objects), _PART):
            for each in gc.get_referents(*objects[at : at + _PART]):
                if _type_of(each) is dict and not gc.is_tracked(each):
                    plain[id(each)] = each
        for _, space in thread_spaces():
            for each in space.values():
                if _type_of(each) is dict and not gc.is_tracked(each):
                    plain[id(each)] = each
        return [*found, *plain.values()]

    def _grown_graphs(
        self, objects: list[Any], holders: Holders, least: int
    ) -> list[dict[str, Any]]:
        """Return the tensors of PyTorch whose graph becomes longer, as it holds what made them."""
        told: list[dict[str, Any]] = []
        before = max(self._graphs.values(), default=0)
        for each, size in graphs_in(objects):
            if size - before >= least:
                chain = holders.chain(each)
                if chain is not None:
                    told.append(
                        {**chain.facts(), "type": "graph", "added": size - before, "length": size,
                         "item": "", "bound": 0}
                    )  # fmt: skip
        return told[:1]

    def _holders(
        self, holders: Holders, grown: list[Any], new: list[Any], types: Counter[str], least: int
    ) -> list[dict[str, Any]]:
        told: list[dict[str, Any]] = []
        names: set[str] = set()
        deadline = _clock() + _MOST_SECONDS
        often = [each for each in grown if each[0] >= least]
        seldom = [each for each in grown if each[0] < least]
        for count, container in [*often[:_MOST_ASKED], *seldom[:_MOST_ASKED]]:
            if len(told) == _MOST_TOLD or _clock() > deadline or (told and count < least):
                break
            chain = _of_cache(container) or holders.chain(container)
            if chain is not None and chain.label not in names:
                names.add(chain.label)
                told.append(
                    {**chain.facts(), "type": "lru_cache" if chain.kind == "cache" else _type_of(container).__name__,
                     "added": count, "length": _length(container), "item": _item_type(container),
                     "bound": _bound(container)}
                )  # fmt: skip
        told += self._grown_values(least)
        if told:
            return sorted(told, key=self._rank)
        for name, count in types.most_common(_MOST_TYPES):
            if count < least or name in _TELL_NOTHING:
                continue
            some = [each for each in new if _name_of(_type_of(each)) == name]
            chain = holders.chain(some[len(some) // 2]) if some else None
            if chain is not None:
                told.append({**chain.facts(), "type": name, "added": count, "length": 0,
                             "item": name, "bound": 0})  # fmt: skip
                break
        return told

    def _grown_values(self, least: int) -> list[dict[str, Any]]:
        """Return the names whose value is larger than before, though it is another object."""
        told: list[dict[str, Any]] = []
        for key, (size, value) in named.sizes(self._is_users).items():
            added = size - self._named.get(key, size)
            if added >= least:
                told.append(
                    {**named.chain_of(key).facts(), "type": _type_of(value).__name__,
                     "added": added, "length": size, "item": named.unit_of(value), "bound": 0}
                )  # fmt: skip
        told.sort(key=lambda each: -int(each["added"]))
        return told[:_MOST_TOLD]

    def _rank(self, told: dict[str, Any]) -> tuple[bool, bool]:
        """Return a key: the user's own first, and what holds nothing alive last."""
        return told["item"] == "ReferenceType", not self._is_users(str(told["path"]))

    def _new_threads(self) -> list[list[Any]]:
        """Return the name of each thread that came, and the line of the user's that it is at."""
        threading: Any = sys.modules.get("threading")
        active: dict[int, Any] = getattr(threading, "_active", {})
        told: list[list[Any]] = []
        for number, frame in vars(sys)["_current_frames"]().items():
            if number in self._threads:
                continue
            thread: Any = active.get(number)
            target: Any = getattr(thread, "_target", None)
            own: Any = frame
            while own is not None and not self._is_users(own.f_code.co_filename):
                own = own.f_back
            path, line = ("", 0) if own is None else (own.f_code.co_filename, own.f_lineno)
            name = str(getattr(thread, "name", number))
            told.append([name, path, line, str(getattr(target, "__qualname__", ""))])
        return told[:_MOST_TOLD]

    # ---- lines ----

    def _by_line(self) -> dict[Any, list[int]]:
        """Return by the user's line (or the innermost one) the bytes and blocks that it has made."""
        found: dict[Any, list[int]] = {}
        places: dict[Any, Any] = {}
        # As the interpreter has them: `Trace` objects take seconds where there are many.
        raw: list[Any] = _traces_of()
        self._traced = 0
        for trace in raw:
            size: int = trace[1]
            frames: Any = trace[2]
            if frames not in places:
                places[frames] = self._place(frames)
            place = places[frames]
            if place is not None:
                entry = found.setdefault(place, [0, 0])
                entry[0] += size
                entry[1] += 1
                self._traced += size
        return found

    def _place(self, frames: Any) -> tuple[str, int, bool] | None:
        """Return the user's line that an allocation is for, else the innermost; None: it's whet's."""
        for path, line in frames:  # the innermost first
            if self._is_users(path):
                return path, line, True
        if any(path.startswith(_SITE) for path, _ in frames):
            return None
        path, line = frames[0]
        return path, line, False

    def _is_users(self, path: str) -> bool:
        if path not in self._owned:
            self._owned[path] = self._is_own(path)
        return self._owned[path]

    def _grown_lines(self) -> list[list[Any]]:
        before, traced = self._lines, self._traced
        now = self._by_line()
        self._lines = {}
        grown = [
            [path, line, is_own, size - before.get((path, line, is_own), (0, 0))[0],
             count - before.get((path, line, is_own), (0, 0))[1]]
            for (path, line, is_own), (size, count) in now.items()
        ]  # fmt: skip
        grown.sort(key=lambda each: -each[3])
        whole = [["", 0, False, self._traced - traced, 0]]
        return whole + [each for each in grown[:_MOST_TOLD] if each[3] > 0]


def _whole(path: str) -> str:
    """Return a path as the program's folder makes it whole: code may have it as it was typed."""
    return os.path.realpath(path) if path and path[:1] != "<" else path


def _name_of(kind: type) -> str:
    module = type.__dict__["__dict__"].__get__(kind).get("__module__", "builtins")
    if type(module) is not str:  # of a type that is written in C
        return kind.__name__
    if module in ("builtins", "__main__"):
        return kind.__qualname__
    return "{}.{}".format(module, kind.__qualname__)


def _is_sized(kind: type) -> bool:
    return issubclass(kind, _SIZED) or kind.__name__ == _CACHE


def _length(value: Any) -> int:
    kind = _type_of(value)
    if kind.__name__ == _CACHE:
        return int(value.cache_info().currsize)
    function: Any = next(function for each, function in _LENGTHS if issubclass(kind, each))
    return int(function(value))  # not one of the program's own


def _item_type(container: Any) -> str:
    """Return the type of what was put in last."""
    kind = _type_of(container)
    if kind.__name__ == _CACHE:
        return ""
    try:
        if issubclass(kind, dict):
            values: list[Any] = list(_values_of(container))
            return _name_of(_type_of(values[-1]))
        if issubclass(kind, list):
            return _name_of(_type_of(_item_of(container, -1)))
        return _name_of(_type_of(next(iter(container))))
    except (RuntimeError, StopIteration, IndexError):
        return ""


def _bound(container: Any) -> int:
    """Return how long a container can become; 0: there is no limit of its own."""
    if _type_of(container).__name__ == _CACHE:
        return int(container.cache_info().maxsize or 0)
    return int(container.maxlen or 0) if isinstance(container, deque) else 0


def _of_cache(value: Any) -> Chain | None:
    """Return the function whose results a cache of `functools` keeps; None: it is none."""
    if _type_of(value).__name__ != _CACHE:
        return None
    function = value.__wrapped__
    code = getattr(function, "__code__", None)
    path, line = ("", 0) if code is None else (code.co_filename, code.co_firstlineno)
    name, module = getattr(function, "__qualname__", "?"), getattr(function, "__module__", "")
    return Chain(str(name), "cache", path, line, str(module))


def _files() -> set[tuple[int, str]]:
    found: set[tuple[int, str]] = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            found.add((int(name), os.readlink("/proc/self/fd/" + name)))
        except OSError:
            continue
    return found
