"""What stands around a failure: the user's modules, and which classes define what the frames call."""

from __future__ import annotations

import os
import sys

from .arrays import among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import Any
if TYPE_CHECKING or __name__.startswith("whet."):
    from whet.agent.site.whet_installed import is_library, is_of_python
else:
    from whet_installed import is_library, is_of_python

_MOST_MODULES, _MOST_CLASSES, _MOST_METHODS = 400, 12, 100
_MOST_FRAMES = 6


def modules_loaded() -> list[list[str]]:
    """Return name and file of the user's modules, and of the installed packages.

    What is Python's own is left out, and what is inside an installed package.
    """
    found: list[list[str]] = []
    for name, module in list(sys.modules.items()):
        if len(found) >= _MOST_MODULES:
            break
        path = _file_of(getattr(module, "__dict__", None))
        if type(path) is not str or type(name) is not str or path.startswith("<frozen"):
            continue
        if not is_library(path) or ("." not in name and not is_of_python(path)):
            found.append([name, os.path.abspath(path)])
    return found


def _file_of(space: Any) -> Any:
    return space["__file__"] if space.__class__ is dict and "__file__" in space else None


def search_path() -> list[str]:
    """Return where Python looks for modules, as the program has left it."""
    return [each for each in sys.path if type(each) is str]


def classes_of(frames: Sequence[FrameType], error: BaseException) -> list[list[dict[str, Any]]]:
    """Return the classes, in the order of inheritance, of what the innermost frames are methods of.

    First that of the object of which an attribute is missing.
    """
    objects: list[object] = []
    missing = _attribute_of(error)
    if missing is not None:
        objects.append(missing)
    own = [frame for frame in frames if not is_library(frame.f_code.co_filename)]
    for frame in own[::-1][:_MOST_FRAMES]:
        code = frame.f_code
        first = code.co_varnames[0] if code.co_argcount else ""
        value = frame.f_locals.get(first) if first in {"self", "cls"} else None
        if value is not None:
            objects.append(value)
    lines: list[list[dict[str, Any]]] = []
    for each in objects:
        kind = type(each)
        is_class = among(type, _mro(kind))
        line = _line(each if is_class else kind)
        if line and line not in lines:
            lines.append(line)
    return lines


def _attribute_of(error: BaseException) -> object:
    names = getattr(AttributeError, "__dict__", {})
    if type(error) is AttributeError and "obj" in names:
        return names["obj"].__get__(error)
    return None


def _line(kind: Any) -> list[dict[str, Any]]:
    """Return the classes of the user's own among those that a class inherits from."""
    found: list[dict[str, Any]] = []
    for each in _mro(kind)[:_MOST_CLASSES]:
        space = type.__dict__["__dict__"].__get__(each)
        methods: list[list[Any]] = []
        path = ""
        for name, value in list(space.items())[:_MOST_METHODS]:
            code = getattr(_function(value), "__code__", None)
            if code is not None and type(name) is str:
                methods.append([name, code.co_filename, code.co_firstlineno])
                path = path or code.co_filename
        if path and not is_library(path):
            name = type.__dict__["__qualname__"].__get__(each)
            found.append({"class": name, "methods": methods})
    return found


def _function(value: object) -> Any:
    kind = type(value)
    if kind in {staticmethod, classmethod}:
        return getattr(value, "__func__", None)
    if kind is property:
        return property.__dict__["fget"].__get__(value)
    return value if kind.__name__ == "function" else None


def _mro(kind: Any) -> Any:
    return type.__dict__["__mro__"].__get__(kind)
