"""What holds the memory: a walk from the user's variables through what they hold, bounded in objects.

Each object is counted once, with the first way that leads to it. Of long containers some items stand for
all. None of the program's own code is run for it. Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys
from collections import deque

from .report_file import innermost_frames, is_own, place, stack_of, variables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType
    from typing import Any

    from .report_file import ReportLines

_MOST_OBJECTS, _MOST_ITEMS, _MOST_INSIDE, _MOST_DEPTH = 20_000, 300, 20, 12
_RESERVED_BYTES = 8 << 20
"""Given back before the walk when memory has run out."""
_BETWEEN_SECONDS, _TIMES, _MOST_TOLD = 0.0005, 1.4, 40
_SHOWN, _LEAST_PART = 40, 4
_MOST_WALKS, _TIMES_READ = 24, 1.5
_SPARE_SIZES = (96 << 20, *(4 << 20,) * 6)
"""Bytes of each part of spare memory; the first is for looking and writing, the others for when a look
itself is short of it."""
_ADDRESS_SPACE = 9
_OF_C = {"getset_descriptor", "member_descriptor"}
_ANYTHING = (Exception,)
_type_of: Callable[[Any], type[Any]] = type
_pairs: Callable[[Any], Any] = vars(dict)["items"]
_attribute: Callable[[Any, str], Any] = vars(object)["__getattribute__"]
_plain_size: Callable[[Any], int] = vars(object)["__sizeof__"]


class _Node:
    """An object: what it is called by what holds it, and how many like it it stands for."""

    __slots__ = ("count", "holder", "label", "scale", "total", "value")

    def __init__(self, value: Any, holder: _Node | None, label: str, scale: float) -> None:
        self.value = value
        self.holder = holder
        self.label = label
        self.scale = scale
        self.total = 0.0
        self.count = 0


class SpareMemory:
    """Kept for when a program has none left: zeros for which the kernel gives none, but which a limit counts."""

    def __init__(self) -> None:
        """Take as much as there is room for."""
        self._parts: list[bytes] = []
        for size in _SPARE_SIZES:
            try:
                self._parts.append(bytes(size))
            except MemoryError:
                continue

    def give_back(self) -> None:
        """Give all of it back: the program has no memory left."""
        self._parts.clear()

    def give_way(self) -> None:
        """Give a part of it back: the memory was short during a look, and not yet for the program."""
        if self._parts:
            self._parts.pop()


class Keepers:
    """Tells what holds most of the memory whenever that has grown, and when there is none left."""

    def __init__(self, told: ReportLines) -> None:
        self._told = told
        self._left = _MOST_TOLD
        self._clock: Callable[[], float] = vars(__import__("time"))["monotonic"]
        self._referents: Callable[[Any], list[Any]] = vars(__import__("gc"))["get_referents"]
        self._last = 0.0
        self._bytes = _resident()
        self._error = 0
        self._reserve: bytearray | None = bytearray(_RESERVED_BYTES)

    def enter(self, frame: FrameType, note: Callable[..., Any]) -> Any:
        """Look again if there is reason to; return what follows a function of the user's."""
        self._look(frame)
        frame.f_trace_lines = (
            not frame.f_code.co_flags & 1
        )  # a module may call nothing of the user's

        def follow(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                self._look(frame)
            elif event == "exception" and issubclass(argument[0], MemoryError):
                self._run_out(frame, argument[1])
            note(frame, event, argument)
            return follow

        return follow

    def _look(self, frame: FrameType) -> None:
        now = self._clock()
        if now - self._last < _BETWEEN_SECONDS:
            return
        self._last, resident = now, _resident()
        if resident > self._bytes * _TIMES:
            self._bytes = resident
            self._tell(frame, has_run_out=False)

    def _run_out(self, frame: FrameType, error: BaseException) -> None:
        if id(error) != self._error:  # the first time that it is met
            self._error, self._reserve = id(error), None
            self._tell(frame, has_run_out=True)

    def _tell(self, frame: FrameType, *, has_run_out: bool) -> None:
        self._left -= 1
        if self._left < 0:
            return
        try:
            self._tell_of(*self.walk(frame), has_run_out=has_run_out)
        except _ANYTHING:
            return  # the program is what matters

    def walk(self, frame: FrameType) -> tuple[_Node, list[_Node], dict[int, list[Any]]]:
        """Return what holds all, what it holds with what each keeps, and where a variable is."""
        root = _Node(None, None, "", 1.0)
        nodes: list[_Node] = []
        places: dict[int, list[Any]] = {}
        waiting: deque[_Node] = deque()
        seen: set[int] = {id(nodes), id(places), id(waiting)}
        for at, names in _variables(frame):
            for name, value in names:
                node = _Node(value, root, name, 1.0)
                places[id(node)] = at
                waiting.append(node)
        while waiting and len(nodes) < _MOST_OBJECTS:
            node = waiting.popleft()
            if id(node.value) in seen or _is_beside(node.value):
                continue
            seen.add(id(node.value))
            node.total = _own_bytes(node.value) * node.scale
            nodes.append(node)
            waiting.extend(self._inside(node))
        for node in reversed(nodes):
            if node.holder is not None:
                node.holder.total += node.total
        return root, nodes, places

    def _inside(self, node: _Node) -> Iterator[_Node]:
        """Yield what an object holds."""
        value: Any = node.value
        kind: type[Any] = _type_of(value)
        items: Iterable[tuple[str, Any]]
        size, most = 0, _MOST_ITEMS if node.scale == 1.0 else _MOST_INSIDE
        if kind is list or kind is tuple:
            size = len(value)
            step = max(size // most, 1)
            items = (("[{}]".format(at), value[at]) for at in range(0, size, step))
        elif issubclass(kind, dict):
            size = len(_pairs(value))
            pairs: Any = _first(_pairs(value), most)
            items = ((_key(key), each) for key, each in pairs)
        elif kind is set or kind is frozenset:
            size = len(value)
            items = (("", each) for each in _first(value, most))
        elif _c_value(value, "nbytes") is not None:
            items = ((".base", each) for each in (_base_of(value),) if each is not None)
        elif kind.__name__ == "function":
            names: tuple[str, ...] = value.__code__.co_freevars
            cells: tuple[Any, ...] = value.__closure__ or ()
            items = [("." + names[at], each) for at, each in enumerate(cells)]
        elif issubclass(kind, type):
            held = type.__dict__["__dict__"].__get__(value)
            items = [("." + name, each) for name, each in list(held.items())]
        elif _has_attributes(kind):
            own: dict[str, Any] = _attribute(value, "__dict__")
            named = [("." + name, each) for name, each in list(own.items())]
            rest = [each for each in self._referents(value) if each is not own]
            items = [*named, *(("", each) for each in rest)]
        else:
            items = [("", each) for each in self._referents(value)]
            size = len(items) if kind.__name__ in ("deque", "_lru_cache_wrapper") else 0
        found = list(items)
        node.count = size or len(found)
        scale = node.scale * max(size / len(found), 1.0) if found else node.scale
        for label, each in found:
            yield _Node(each, node, label, scale)

    def _tell_of(
        self,
        root: _Node,
        nodes: list[_Node],
        places: dict[int, list[Any]],
        *,
        has_run_out: bool,
    ) -> None:
        by_holder: dict[int, list[_Node]] = {}
        for each in nodes:
            by_holder.setdefault(id(each.holder), []).append(each)
        at = root
        way: list[_Node] = []
        while len(way) <= _MOST_DEPTH:
            most = max(by_holder.get(id(at), ()), key=lambda each: each.total, default=None)
            if most is None or most.total * 2 < root.total:
                break
            at = most
            way.append(at)
        if len(way) > 1 and _code_of(way[-2].value):  # the dict of a cache: the program names that
            at = way[-2]
        if not way or len(way) > _MOST_DEPTH or at.total * _LEAST_PART < _resident():
            return
        items = by_holder.get(id(way[-1]), ())
        item = max(items, key=lambda each: each.total, default=None)
        holder = at.holder.value if at.holder is not None else None
        resident, free = _resident(), _free()
        self._told.tell(
            "keeps",
            label="".join(each.label for each in way),
            attribute=at.label[1:] if at.label[:1] == "." else "",
            place=places.get(id(way[0]), []),
            type=type(at.value).__name__,
            owner=type(holder).__name__ if at.label[:1] == "." else "",
            made=_code_of(at.value),
            files=sorted(_own_files()),
            count=way[-1].count,
            kept=int(at.total),
            counted=int(root.total),
            resident=resident,
            free=free,
            item=type(item.value).__name__ if item is not None else "",
            item_bytes=int(_bytes_of(item.value)) if item is not None else 0,
            behind_bytes=int(_behind(item)) if item is not None else 0,
            has_run_out=has_run_out,
        )


class _Kept:
    """All objects that are called the same: what they keep together."""

    __slots__ = ("children", "count", "node", "nodes", "total")

    def __init__(self, node: _Node) -> None:
        self.node = node
        self.nodes, self.total, self.count = 0, 0.0, 0
        self.children: list[str] = []


class Growing:
    """Tells, at each reading, what has grown most since one half as far back, when caches were warm."""

    def __init__(self, told: ReportLines) -> None:
        self._told = told
        self._keepers: Keepers | None = None
        self._walks: list[dict[str, tuple[float, int]]] = []
        self._readings, self._next = 0, 1

    def look(self, frame: FrameType) -> None:
        """Look at a reading; where there are very many, at some."""
        self._readings += 1
        if self._readings < self._next or len(self._walks) >= _MOST_WALKS:
            return
        self._next = max(self._readings + 1, int(self._readings * _TIMES_READ))
        try:
            self._walk(frame)
        except _ANYTHING:
            return  # the program is what matters

    def _walk(self, frame: FrameType) -> None:
        if self._keepers is None:
            self._keepers = Keepers(self._told)
        root, nodes, places = self._keepers.walk(frame)
        names: dict[int, str] = {id(root): ""}
        kept: dict[str, _Kept] = {"": _Kept(root)}
        kept[""].total = root.total
        for each in nodes:
            holder = names[id(each.holder)]
            name = names[id(each)] = holder + "\0" + each.label
            found = kept.get(name)
            if found is None:
                found = kept[name] = _Kept(each)
                kept[holder].children.append(name)
            found.nodes += 1
            found.total += each.total
            found.count += each.count
        if self._walks:
            self._tell(kept, self._walks[len(self._walks) // 2 - (len(self._walks) == 1)], places)
        self._walks.append({name: (one.total, one.count) for name, one in kept.items()})

    def _tell(
        self,
        kept: dict[str, _Kept],
        before: dict[str, tuple[float, int]],
        places: dict[int, list[Any]],
    ) -> None:
        def growth(name: str) -> float:
            return kept[name].total - before.get(name, (0.0, 0))[0]

        grown, at, way = growth(""), "", [""]
        while True:
            most = max(kept[at].children, key=growth, default="")
            if not most or growth(most) * 2 < grown or kept[most].nodes > 1:
                break
            at = most
            way.append(at)
        # What holds more items than it did is what grows, not one of its items.
        longer = [each for each in way[1:] if kept[each].count > before.get(each, (0.0, 0))[1] + 1]
        at = (longer or way)[-1]
        if not at or grown <= 0:
            return
        way = way[: way.index(at) + 1]
        own = kept[at]
        items = [kept[each] for each in own.children]
        item = max(items, key=lambda each: each.total, default=None)
        holder: Any = own.node.holder
        self._told.tell(
            "grows",
            label=at.replace("\0", ""),
            place=places.get(id(kept[way[1]].node), []),
            type=type(own.node.value).__name__,
            owner=type(holder.value).__name__ if own.node.label[:1] == "." else "",
            made=_code_of(own.node.value),
            files=sorted(_own_files()),
            count=own.count,
            before=before.get(at, (0.0, 0))[1],
            kept=int(own.total),
            was=int(own.total - growth(at)),
            grown=int(grown),
            counted=int(kept[""].total),
            resident=0,
            item_bytes=0,
            behind_bytes=0,
            item=type(item.node.value).__name__ if item is not None else "",
        )


def _variables(frame: FrameType) -> Iterator[tuple[list[Any], list[tuple[str, Any]]]]:
    """Yield the variables of the user's calls under way and modules, each with its place."""
    own: set[FrameType] = set()
    for innermost in (frame, *innermost_frames().values()):
        for each in stack_of(innermost):
            if each not in own and is_own(each.f_code.co_filename):
                own.add(each)
                if each.f_code.co_flags & 1:
                    yield place(each), list(variables_of(each).items())
    for module in list(sys.modules.values()):
        names: dict[str, Any] = getattr(module, "__dict__", {})
        path = names.get("__file__")
        if type(path) is str and is_own(path):
            found = [(n, each) for n, each in list(names.items()) if n[:2] != "__"]
            yield [path, 0, "<module>"], found


def _own_files() -> set[str]:
    found: set[str] = set()
    for module in list(sys.modules.values()):
        path = getattr(module, "__dict__", {}).get("__file__")
        if type(path) is str and is_own(path):
            found.add(path)
    return found


def _has_attributes(kind: type[Any]) -> bool:
    return bool(kind.__dictoffset__) and not issubclass(kind, type)


def _is_beside(value: Any) -> bool:
    """Whether it is none of the program's data: a module, a class of others, a frame."""
    kind = type(value).__name__
    if issubclass(type(value), type):
        return not is_own(str(getattr(sys.modules.get(value.__module__), "__file__", "<")))
    return kind in ("module", "frame", "code", "builtin_function_or_method", "NoneType")


def _size_of(value: Any) -> int:
    """Return what an object takes itself, without a `__sizeof__` of the program's own."""
    if type(value) is bytearray:  # what it hasn't filled takes no memory yet
        return len(value)
    for each in type.__dict__["__mro__"].__get__(type(value)):
        own = type.__dict__["__dict__"].__get__(each)
        if "__sizeof__" in own:
            is_of_c = type(own["__sizeof__"]).__name__ == "method_descriptor"
            return sys.getsizeof(value, 0) if is_of_c else _plain_size(value)
    return 0


def _own_bytes(value: Any) -> int:
    """Return what an object takes itself; of one that owns its buffer, with that."""
    size = _size_of(value)
    if _base_of(value) is None:
        return max(size, _bytes_of(value))
    return min(size, 512)


def _bytes_of(value: Any) -> int:
    """Return what an array shows."""
    found = _c_value(value, "nbytes")
    return found if type(found) is int else _size_of(value)


def _base_of(value: Any) -> Any:
    """Return what the buffer of a view belongs to."""
    if _c_value(value, "nbytes") is None:
        return None
    for name in ("base", "_base", "obj"):
        found = _c_value(value, name)
        if found is not None:
            return found
    return None


def _behind(node: _Node) -> int:
    """Return the bytes of the buffer behind a view; 0: it is none."""
    base = _base_of(node.value)
    return 0 if base is None else max(_bytes_of(base), _size_of(base))


def _c_value(value: Any, name: str) -> Any:
    """Return an attribute that is looked up without a line of Python; None: there is none."""
    for each in type.__dict__["__mro__"].__get__(type(value)):
        found: Any = type.__dict__["__dict__"].__get__(each).get(name)
        if found is not None:
            try:
                is_of_c = type(found).__name__ in _OF_C
                return found.__get__(value, type(value)) if is_of_c else None
            except AttributeError:  # it has none yet
                return None
    return None


def _code_of(value: Any) -> list[Any]:
    """Return where a function is that something was made of."""
    if not _has_attributes(_type_of(value)):
        return []
    wrapped: Any = _attribute(value, "__dict__").get("__wrapped__")
    code = wrapped.__code__ if type(wrapped).__name__ == "function" else None
    return [] if code is None else [code.co_filename, code.co_firstlineno, code.co_name]


def _key(key: Any) -> str:
    is_plain = type(key) in (int, str)
    return "[{}]".format(repr(key)[:_SHOWN] if is_plain else "…")


def _first(items: Iterable[Any], most: int) -> list[Any]:
    found: list[Any] = []
    for each in items:
        found.append(each)
        if len(found) == most:
            break
    return found


def _resident() -> int:
    return _of_statm(1)


def _of_statm(which: int) -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[which]) * _PAGE


def _free() -> int:
    """Return the bytes that the process could still have: below its own limit, or of the machine."""
    resource: Any = __import__("resource")
    limit: int = resource.getrlimit(_ADDRESS_SPACE)[0]
    if limit > 0:
        return limit - _of_statm(0)
    with open("/proc/meminfo", "rb") as file:
        for line in file:
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0


_PAGE = os.sysconf("SC_PAGE_SIZE")
