"""Who holds an object: referrers, walked back to a name that the user gave.

None of the program's own code is run. Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import gc
import sys

from .steps import LOCAL, dict_of, key_of, step, type_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    IsOwn = Callable[[str], bool]

_MOST_LEVELS, _MOST_OBJECTS = 14, 16
"""More objects at once and `gc.get_referrers` takes seconds."""


class Chain:
    """How a name leads to an object.

    Attributes:
        label: as the program would write it: `cache.entries['a']`.
        kind: what the name is of: ``module``, ``local``, ``class``, ``function`` or ``cache``.
        path: the file of that module, function or class; empty: it isn't known.
        line: where that stands, if it is known.
        within: the module, the function or the class.
    """

    def __init__(self, label: str, kind: str, path: str, line: int, within: str) -> None:
        self.label = label
        self.kind = kind
        self.path = path
        self.line = line
        self.within = within

    def facts(self) -> dict[str, object]:
        """Return it as data."""
        return dict(vars(self))


class Holders:
    """Finds names that lead to objects, the user's own first."""

    def __init__(
        self, is_own: IsOwn, spaces: Iterable[tuple[Any, str, str]], beside: Iterable[object]
    ) -> None:
        """Make it ready.

        Args:
            is_own: whether a file is the user's own.
            spaces: namespaces that no module has, each with a name and a file.
            beside: objects of whet's own: what they hold doesn't count.
        """
        self._is_own = is_own
        self._modules: dict[int, tuple[str, str]] = {}
        self._frames = frames()
        self._beside = {id(each) for each in beside}
        for name, module in list(sys.modules.items()):
            space: Any = getattr(module, "__dict__", None)
            if type_of(space) is dict:
                path: object = space.get("__file__")
                # The first name: multiprocessing gives `__main__` a second one.
                self._modules.setdefault(id(space), (name, path if isinstance(path, str) else ""))
        for own, title, file in spaces:
            self._modules[id(own)] = (title, file)
        self._locals = {id(space): local for local, space in thread_spaces()}

    def chain(self, target: object) -> Chain | None:
        """Return the shortest way from a name to an object; None: whet finds none.

        What a module or a class of the user's holds stays; a local variable comes next.
        """
        seen: set[int] = {id(target), id(self), id(self._modules), id(self._frames)} | self._beside
        parents: dict[int, tuple[Any, Any]] = {}
        level: list[Any] = [target]
        foreign: Chain | None = None
        local: Chain | None = None
        for _ in range(_MOST_LEVELS):
            for child in level if local is None else ():
                name = self._local_of(child)
                local = local or (None if name is None else _joined(name, child, parents))
            following: list[Any] = []
            skipped = {id(level), id(seen), id(parents), id(following)}
            for holder, child in self._holders_of(level, seen | skipped):
                seen.add(id(holder))
                parents[id(holder)] = (holder, child)
                root = self._root(holder, child)
                if root is None:
                    following.append(holder)
                elif self._is_own(root.path):
                    return _joined(root, child, parents)
                else:
                    foreign = foreign or _joined(root, child, parents)
            level = following[:_MOST_OBJECTS]
            if not level:
                break
        return local or foreign

    def _holders_of(self, level: list[Any], seen: set[int]) -> list[tuple[Any, Any]]:
        """Return who holds one of some objects, each with the first that it holds."""
        held = {id(each) for each in level}
        found: list[tuple[Any, Any]] = []
        for child in level:
            local = self._locals.get(id(child))
            if local is not None and id(local) not in seen:
                found.append((local, child))
        for holder in gc.get_referrers(*level):
            if id(holder) in seen or _is_whets(holder):
                continue
            child = next((each for each in gc.get_referents(holder) if id(each) in held), None)
            if child is not None:
                found.append((holder, child))
        return found

    def _local_of(self, child: Any) -> Chain | None:
        """Return the local variable of the user's that is an object; None: none is."""
        for frame in reversed(self._frames):  # the outermost lives longest
            code = frame.f_code
            if code.co_flags & 1 and self._is_own(code.co_filename):
                name = key_of(frame.f_locals, child)
                if name:
                    where = str(getattr(code, "co_qualname", code.co_name))
                    return Chain(name, "local", code.co_filename, code.co_firstlineno, where)
        return None

    def _root(self, holder: Any, child: Any) -> Chain | None:
        """Return the name of an object that holds another, if it is where a chain ends."""
        kind = type_of(holder)
        if kind is dict and id(holder) in self._modules:
            module, path = self._modules[id(holder)]
            label = key_of(holder, child)
            return Chain(label, "module", path, 0, module) if label else None
        if issubclass(kind, type):
            own = dict_of.__get__(holder)
            label = key_of(own, child)
            file = getattr(sys.modules.get(str(own.get("__module__"))), "__file__", None)
            name = str(holder.__qualname__)
            path = file if type(file) is str else ""
            return Chain("{}.{}".format(name, label), "class", path, 0, name) if label else None
        if kind.__name__ == "function" and any(each is child for each in holder.__defaults__ or ()):
            code = holder.__code__
            name = str(holder.__qualname__)
            label = name + "'s defaults"
            return Chain(label, "function", code.co_filename, code.co_firstlineno, name)
        return None


def _joined(root: Chain, child: Any, parents: dict[int, tuple[Any, Any]]) -> Chain:
    """Return a chain that goes on from a name to the object that was asked for."""
    label, at, before = root.label, child, None
    for _ in range(_MOST_LEVELS):
        if id(at) not in parents:
            break
        _, inner = parents[id(at)]
        label += step(at, inner, before)
        at, before = inner, at
    return Chain(label, root.kind, root.path, root.line, root.within)


def thread_spaces() -> list[tuple[Any, dict[str, Any]]]:
    """Return each `threading.local` with what it keeps for this thread."""
    found: list[tuple[Any, dict[str, Any]]] = []
    for each in gc.get_objects():
        if issubclass(type_of(each), LOCAL):
            try:
                found.append((each, vars(LOCAL)["__getattribute__"](each, "__dict__")))
            except AttributeError:
                continue
    return found


def frames() -> list[Any]:
    """Return the frames of all threads."""
    found: list[Any] = []
    for innermost in vars(sys)["_current_frames"]().values():
        frame = innermost
        while frame is not None:
            found.append(frame)
            frame = frame.f_back
    return found


def _is_whets(holder: Any) -> bool:
    """Whether an object is a frame (the user's were asked before), or one of whet's own."""
    kind = type_of(holder)
    module = dict_of.__get__(kind).get("__module__")
    return kind.__name__ in ("frame", "list_iterator") or str(module).startswith("whet_")
