"""The context managers of the `with` statements in which a stage frame stands.

A frame that is made again enters no manager a second time: it takes over what the manager does at the
end, and the frame that is left forgets it. For that each manager is entered through an object with
the two methods in its slots. Python looks them up there and calls them as it would have; no frame is
in between, and nothing keeps the manager longer than the statement does.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _weakref
import types

from ..hiding.hidden_frames import hidden_frame
from ..hiding.private import private_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Exit = Callable[..., object]


_partial: Any = private_import("_functools").partial
_PLAIN = (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
"""Methods that run nothing of the program's when they are looked up."""


_mro: Callable[[type], tuple[type, ...]] = vars(type)["__mro__"].__get__
_namespace: Callable[[type], dict[str, object]] = vars(type)["__dict__"].__get__
"""What a metaclass can't change."""


class CannotBeTakenOverError(Exception):
    """A manager was entered without anybody noting it."""


class _Manager:
    """Has the methods of a manager."""

    __slots__ = ("__enter__", "__exit__")
    __enter__: Callable[[], object]
    __exit__: Exit

    def __init__(self, enter: Callable[[], object], leave: Exit) -> None:
        self.__enter__, self.__exit__ = enter, leave


class Managers:
    """Those that have been entered, by the numbers of their places.

    Attributes:
        exits: what each does at the end.
        kept: what a frame that is made again enters, without any effect.
    """

    def __init__(self) -> None:
        self.exits: dict[int, Callable[[], Any]] = {}
        self.kept: dict[int, _Manager] = {}

    def entering(self, number: int, manager: object) -> object:
        """Return what to enter instead of a manager."""
        kind = type(manager)
        enter, leave = _method(kind, "__enter__"), _method(kind, "__exit__")
        self.exits.pop(number, None)
        if enter is None or leave is None:
            return manager
        return self._noted(number, enter.__get__(manager, kind), leave.__get__(manager, kind))

    def _noted(self, number: int, enter: Callable[[], object], leave: Exit) -> _Manager:
        # Its function can be replaced, and it can be referred to weakly.
        noted = _partial(leave)
        self.exits[number] = _weakref.ref(noted)
        return _Manager(enter, noted)

    def exit_of(self, number: int) -> Exit:
        """Return what a manager does at the end.

        Raises:
            CannotBeTakenOverError: if it wasn't noted.
        """
        noted = self.exits[number]() if number in self.exits else None
        if noted is None:
            raise CannotBeTakenOverError
        leave: Exit = noted.func
        return leave

    def leave(self) -> None:
        """Let none of them do anything at the end: their frames are left to be made again."""
        for each in self.exits.values():
            noted = each()
            if noted is not None:
                noted.__setstate__((_do_nothing, (), {}, None))
        self.exits.clear()

    def keep(self, number: int, leave: Exit) -> None:
        """Keep what a manager does at the end for the frame that is made again."""
        self.kept[number] = self._noted(number, _nothing.copy, leave)


_nothing: dict[object, object] = {}


@hidden_frame
def _do_nothing(*_: object) -> None:
    pass


def _method(kind: type, name: str) -> Any:
    """Return a method as a class has it; None: there is none, or to bind it may run anything."""
    for each in _mro(kind):
        found = _namespace(each).get(name)
        if found is not None:
            return found if type(found) in _PLAIN else None
    return None
