"""Values that grow although each is a new one: a text, a tuple, an array under a name of the user's.

An attribute of an object or a class of the user's is such a name too.
None of the program's own code is run. Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import _contextvars
import sys

from .holders import Chain, frames
from .steps import dict_of, type_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_PLAIN = (str, bytes, bytearray, tuple, frozenset)
_UNITS = {"str": "character", "bytes": "byte", "bytearray": "byte"}


def sizes(is_own: Callable[[str], bool]) -> dict[tuple[str, str, str], tuple[int, Any]]:
    """Return by file, function or module, and name: the length of a value, and the value."""
    found: dict[tuple[str, str, str], tuple[int, Any]] = {}
    owners: set[int] = set()
    for key, value in _values(is_own):
        for name, each in _with_attributes(key[2], value, is_own, owners):
            size = _size(each)
            if size is not None:
                found[(key[0], key[1], name)] = size, each
    return found


def chain_of(key: tuple[str, str, str]) -> Chain:
    """Return the way to a value by its name."""
    path, within, name = key
    kind = "context" if not path else "local" if within[:1] == "(" else "module"
    return Chain(name, kind, path, 0, within.strip("()"))


def unit_of(value: Any) -> str:
    """Return what a value consists of."""
    kind = type_of(value).__name__
    if kind == "DataFrame":
        return "row"
    return _UNITS.get(kind, "item" if kind in ("tuple", "frozenset") else "byte")


def _values(is_own: Callable[[str], bool]) -> Iterator[tuple[tuple[str, str, str], Any]]:
    seen: set[int] = set()
    for name, module in list(sys.modules.items()):
        space: Any = getattr(module, "__dict__", None)
        path: object = space.get("__file__") if type_of(space) is dict else None
        if isinstance(path, str) and is_own(path) and id(space) not in seen:
            seen.add(id(space))
            names: list[tuple[str, Any]] = list(space.items())
            own = [(key, value) for key, value in names if key[:2] != "__"]
            yield from (((path, name, key), value) for key, value in own)
    for frame in frames():
        code = frame.f_code
        if code.co_flags & 1 and is_own(code.co_filename):
            within = "({})".format(code.co_name)
            for key, value in list(frame.f_locals.items()):
                yield (code.co_filename, within, key), value
    for variable, value in _contextvars.copy_context().items():
        yield ("", "", str(variable.name)), value


def _with_attributes(
    name: str, value: Any, is_own: Callable[[str], bool], owners: set[int]
) -> Iterator[tuple[str, Any]]:
    """Yield a value, and the attributes of one of the user's own; each owner counts once."""
    yield name, value
    kind: Any = type_of(value)
    is_class: bool = issubclass(kind, type)
    described: Any = (kind, value)[is_class]
    module = sys.modules.get(str(dict_of.__get__(described).get("__module__")))
    path: object = getattr(module, "__file__", None)
    if type(path) is not str or not is_own(path) or id(value) in owners:
        return
    owners.add(id(value))
    if is_class:
        space: Any = dict_of.__get__(value)
    else:
        try:
            space = object.__getattribute__(value, "__dict__")
        except AttributeError:  # it has slots
            return
        if type_of(space) is not dict:
            return
    for attribute, each in list(space.items()):
        if str(attribute)[:2] != "__":
            yield "{}.{}".format(name, attribute), each


def _size(value: Any) -> int | None:
    kind = type_of(value)
    if kind in _PLAIN:
        return len(value)
    if kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == "pandas":
        return len(value.index)
    if (kind.__module__, kind.__name__) == ("numpy", "ndarray"):
        return int(value.nbytes)
    if (kind.__module__, kind.__name__) == ("torch", "Tensor"):
        return int(value.numel() * value.element_size())
    return None
