"""How one object is reached from another, as the program would write it.

None of the program's own code is run. Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import _thread
import gc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SHOWN = 40
type_of: Callable[[Any], type] = type
"""Python's own `type`."""
dict_of: Any = type.__dict__["__dict__"]
"""What gets the names of a class."""
LOCAL: type = vars(_thread)["_local"]
"""The class of `threading.local`."""
_PLAIN = ("cell", "set", "frozenset", "deque")


def step(holder: Any, child: Any, owner: Any) -> str:
    """Return how an object is reached from its holder; empty: by nothing that is written.

    Args:
        holder: it.
        child: the object.
        owner: what holds the holder, if that is known.
    """
    kind = type_of(holder)
    if issubclass(kind, dict):
        if is_space(owner, holder):
            return "." + key_of(holder, child)
        return _in_dict(holder, child)
    if kind is list or kind is tuple:
        places = [at for at, value in enumerate(holder) if value is child]
        return "[{}]".format(places[0]) if places else ""
    if kind.__name__ == "function":
        return _in_closure(holder, child)
    if kind.__name__ in _PLAIN or issubclass(kind, LOCAL):
        return ""
    return _in_object(holder, child)


def _in_dict(holder: Any, child: Any) -> str:
    pairs: Any = vars(dict)["items"](holder)
    for key, value in pairs:
        if value is child:
            return "[{}]".format(repr(key)[:_SHOWN] if type(key) in (int, str) else "…")
        if key is child:
            return "[…]"
    return ""


def _in_closure(function: Any, child: Any) -> str:
    for at, cell in enumerate(function.__closure__ or ()):
        if cell is child:
            return ".<{}>".format(function.__code__.co_freevars[at])
    return ""


def _in_object(holder: Any, child: Any) -> str:
    own = attributes(holder)
    if type_of(own) is dict:
        if own is child:
            return ""
        name = key_of(own, child)
        if name:
            return "." + name
    kind = type_of(holder)
    for base in kind.__mro__:
        for name, member in list(dict_of.__get__(base).items()):
            if type_of(member).__name__ == "member_descriptor":
                try:
                    if member.__get__(holder, kind) is child:
                        return "." + str(name)
                except AttributeError:
                    continue
    return ""


def is_space(owner: Any, space: Any) -> bool:
    """Whether a dictionary holds the attributes of an object or a class."""
    if owner is None:
        return False
    kind = type_of(owner)
    if issubclass(kind, type):
        return any(each is space for each in gc.get_referents(owner))
    return issubclass(kind, LOCAL) or attributes(owner) is space


def attributes(value: Any) -> Any:
    """Return the dictionary of an object's attributes; None: it has none."""
    if not type_of(value).__dictoffset__ or issubclass(type_of(value), type):
        return None
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def key_of(space: dict[Any, Any], child: Any) -> str:
    """Return the name of an object in a namespace; empty: it has none there."""
    for name, value in list(space.items()):
        if value is child:
            return str(name)
    return ""
