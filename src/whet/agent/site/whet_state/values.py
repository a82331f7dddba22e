"""A value as data: cut where it is long, masked where it is secret, without its own code."""

from __future__ import annotations

import sys
import time

from . import arrays
from .arrays import ANY_ERROR, among, is_exactly
from .secret_rule import masked, why_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Node = Any

_MOST_ITEMS = 24
_MOST_ATTRIBUTES = 40
_MOST_CHARACTERS = 1000
_MOST_DEPTH = 4
_MOST_NODES = 300
"""In one variable."""
_MOST_NODES_IN_ALL = 12000
_MOST_BITS = 4096
_PATIENCE = 5

# Types of the standard library whose words are their own and can't be anybody else's.
PLAIN = {
    "datetime": {"datetime", "date", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "uuid": {"UUID"},
    "pathlib": {"PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"},
    "pathlib._local": {"PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath"},
    "re": {"Pattern", "Match"},
    "builtins": {"range", "slice", "ellipsis", "NotImplementedType"},
}


def type_name(kind: type) -> str:
    """Return the qualified name of a type, from where Python keeps it."""
    name = type.__dict__["__qualname__"].__get__(kind)
    module = type.__dict__["__module__"].__get__(kind)
    return name if module == "builtins" or type(module) is not str else "{}.{}".format(module, name)


def plain_name(kind: type) -> str:
    """Return the name of a type, from where Python keeps it."""
    name = type.__dict__["__name__"].__get__(kind)
    return name if type(name) is str else ""


def _is_text(value: object) -> bool:
    return type(value) is str


def _enumerated(value: object, mro: tuple[type, ...], name: str) -> Node:
    """Return a member of an enumeration by its name; None if it is none."""
    enum: Any = getattr(sys.modules.get("enum"), "Enum", None)
    if enum is None or not among(enum, mro):
        return None
    held: Any = enum.__dict__["__dict__"].__get__(value)
    member = held.get("_name_")
    return {"k": "plain", "type": name, "text": "{}.{}".format(plain_name(mro[0]), member)}


class Reader:
    """Reads values, while there is time and room."""

    def __init__(self, seconds: float) -> None:
        # On a busy machine time goes by in which nothing was looked at.
        self._cpu_ends = time.thread_time() + seconds
        self._ends = time.perf_counter() + _PATIENCE * seconds
        self._nodes = 0
        self._left = 0
        self._depth = _MOST_DEPTH
        self._above: set[int] = set()
        self._known: dict[tuple[int, bool], Node] = {}

    def is_time_up(self) -> bool:
        """Whether no more values are to be looked at."""
        is_over = time.thread_time() > self._cpu_ends or time.perf_counter() > self._ends
        return is_over or self._nodes > _MOST_NODES_IN_ALL

    def values(self, many: Iterable[object]) -> list[Node]:
        """Return some values."""
        return [self.named("", each) for each in islice(many, _MOST_ITEMS)]

    def named(self, name: str, value: object, *, is_shallow: bool = False) -> Node:
        """Return the value of a variable; a shallow look is for what isn't the user's."""
        self._left = _MOST_NODES
        self._depth = 1 if is_shallow else _MOST_DEPTH
        if among(type(value), (str, bytes)):
            return self._named(name, value, 0)  # by another name it may be a secret
        # The same object is in many frames, and their stack keeps it alive meanwhile.
        key = (id(value), is_shallow)
        if key not in self._known:
            self._known[key] = self._named(name, value, 0)
        return self._known[key]

    def _named(self, name: object, value: object, depth: int) -> Node:
        if type(name) is bytes:  # as the keys of headers and of Redis are
            name = name.decode("latin-1")
        if type(name) is str and among(type(value), (str, bytes)) and is_secret(name, value):
            return {"k": "secret", "type": type(value).__name__}
        return self._node(value, depth)

    def _node(self, value: object, depth: int) -> Node:
        self._nodes += 1
        self._left -= 1
        try:
            if self.is_time_up():
                return {"k": "cut", "why": "no time", "type": type_name(type(value))}
            return self._read(value, depth)
        except ANY_ERROR as error:  # a value like any other: it can't be read
            kind = type_name(type(value))
            return {"k": "cut", "why": "unreadable: " + type(error).__name__, "type": kind}

    def _read(self, value: object, depth: int) -> Node:
        kind = type(value)
        if value is None or kind is bool:
            return value
        if among(kind, (int, float, complex)):
            return _number(value)
        if among(kind, (str, bytes, bytearray)):
            return _text(value)
        mro = type.__dict__["__mro__"].__get__(kind)
        found = arrays.read(value, mro, self._sequence_of)
        if found is not None:
            return found
        if plain_name(kind) in PLAIN.get(arrays.module_of(kind), ()):
            return {"k": "plain", "type": type_name(kind), "text": repr(value)[:_MOST_CHARACTERS]}
        return self._made_of_others(value, kind, mro, depth)

    def _made_of_others(self, value: object, kind: type, mro: tuple[type, ...], depth: int) -> Node:
        name = type_name(kind)
        if id(value) in self._above:
            return {"k": "cut", "why": "itself", "type": name}
        if depth >= self._depth or self._left < 0:
            return {"k": "cut", "why": "deep", "type": name}
        self._above.add(id(value))
        try:
            for base in (dict, list, tuple, set, frozenset):
                if among(base, mro):
                    return self._container(value, base, name, mro, depth)
            deque: Any = getattr(sys.modules.get("collections"), "deque", None)
            if deque is not None and among(deque, mro):
                return self._sequence(
                    "deque", name, deque.__iter__(value), deque.__len__(value), depth
                )
            if among(type, mro) or plain_name(kind) in _NAMED:
                return {"k": "opaque", "type": name, "text": label(value)}
            member = _enumerated(value, mro, name)
            if member is not None:
                return member
            if among(BaseException, mro):
                args = BaseException.__dict__["args"].__get__(value)
                return {"k": "object", "type": name, "at": [["args", self._node(args, depth + 1)]]}
            return self._object(value, name, mro, depth)
        finally:
            self._above.discard(id(value))

    def _container(
        self, value: Any, base: Any, name: str, mro: tuple[type, ...], depth: int
    ) -> Node:
        size = base.__len__(value)
        if among(base, (dict,)):
            items: list[Node] = []
            for key, each in islice(base.items(value), _MOST_ITEMS):
                if self._left < 0:
                    break
                items.append([self._node(key, depth + 1), self._named(key, each, depth + 1)])
            return {"k": "dict", "type": name, "of": items, "n": size}
        own: Any = type.__dict__["__dict__"].__get__(mro[0])
        fields: Any = own.get("_fields") if among(base, (tuple,)) else None
        told = self._sequence(base.__name__, name, base.__iter__(value), size, depth)
        if is_exactly(fields, tuple) and all(map(_is_text, fields)):
            told["names"] = list(fields)
        return told

    def _sequence(
        self, base: str, name: str, items: Iterable[object], size: int, depth: int
    ) -> dict[str, Node]:
        found: list[Node] = []
        for each in islice(items, _MOST_ITEMS):
            if self._left < 0:
                break
            found.append(self._node(each, depth + 1))
        return {"k": base, "type": name, "of": found, "n": size}

    def _sequence_of(self, many: Iterable[object]) -> list[Node]:
        return [self._node(each, _MOST_DEPTH - 1) for each in islice(many, _MOST_ITEMS)]

    def _object(self, value: object, name: str, mro: tuple[type, ...], depth: int) -> Node:
        found = attributes(value, mro)
        told: list[Node] = []
        found.sort(key=lambda each: each[0].startswith("_"))  # what is meant to be seen comes first
        for each, held in found[:_MOST_ATTRIBUTES]:
            if self._left < 0:
                break
            told.append([each, self._named(each, held, depth + 1)])
        return {"k": "object", "type": name, "at": told, "n": len(found)}


def attributes(value: object, mro: Iterable[type]) -> list[tuple[str, object]]:
    """Return what an object holds under its names, and in its slots."""
    found: list[tuple[str, object]] = []
    for kind in mro:
        own = type.__dict__["__dict__"].__get__(kind)
        slots = own.get("__dict__")
        if type(slots).__name__ == "getset_descriptor":
            held: Any = slots.__get__(value)
            if is_exactly(held, dict):
                found += [each for each in held.items() if _is_text(each[0])]
            break
    for kind in mro:
        for slot, member in type.__dict__["__dict__"].__get__(kind).items():
            if type(member).__name__ == "member_descriptor" and not slot.startswith("__"):
                try:
                    found.append((slot, member.__get__(value)))
                except AttributeError:
                    continue
    return found


def is_secret(name: str, value: Any) -> bool:
    """Whether a text is to be masked because of the name that it has, or as a whole."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    return bool(why_secret(name, text))


def islice(many: Iterable[object], count: int) -> Iterable[Any]:
    """Yield the first few, of a dictionary too that another thread changes."""
    try:
        for number, each in enumerate(many):
            if number >= count:
                return
            yield each
    except RuntimeError:
        return


def _number(value: Any) -> Node:
    if type(value) is int:
        return (
            value if value.bit_length() <= _MOST_BITS else {"k": "int", "bits": value.bit_length()}
        )
    if type(value) is float and value - value == 0:
        return value
    return {"k": type(value).__name__, "text": repr(value)}


def _text(value: Any) -> Node:
    if type(value) is str:
        # Masked before it is cut: half a key is a secret too.
        shown = masked(value[: 4 * _MOST_CHARACTERS])
        if len(shown) <= _MOST_CHARACTERS and len(value) <= 4 * _MOST_CHARACTERS:
            return shown
        return {"k": "str", "text": shown[:_MOST_CHARACTERS], "n": len(value)}
    shown = masked(bytes(value[: 4 * _MOST_CHARACTERS]).decode("latin-1"))[:_MOST_CHARACTERS]
    return {"k": type(value).__name__, "text": shown, "n": len(value)}


_NAMED = {
    "function",
    "builtin_function_or_method",
    "method",
    "module",
    "code",
    "frame",
    "generator",
    "coroutine",
    "async_generator",
    "property",
    "method_descriptor",
    "wrapper_descriptor",
}


def label(value: Any) -> str:
    """Return what a function, module or class is called and where it stands."""
    kind = type(value).__name__
    if issubclass(type(value), type):
        return type_name(value)
    if kind == "method":
        return label(value.__func__)
    code = getattr(value, "__code__", None) if kind == "function" else None
    code = code or (
        getattr(value, "gi_code", None) or getattr(value, "cr_code", None)
        if kind in {"generator", "coroutine"}
        else None
    )
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    words = name if type(name) is str else kind
    if code is not None:
        words += " ({}:{})".format(code.co_filename.rpartition("/")[2], code.co_firstlineno)
    return words[:_MOST_CHARACTERS]
