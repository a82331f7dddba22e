"""Places where a program keeps state that outlives a test: what they hold, in words, and putting it back.

A place is a tuple of texts: its kind, and what names it. No method of the program's own objects is called.
"""

from __future__ import annotations

import os
import sys

from .report_file import is_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Tuple

    from whet.agent.site.whet_state import values
    from whet.agent.site.whet_state.secret_rule import MASK, masked

    Place = Tuple[str, ...]
else:
    from whet_state import values
    from whet_state.secret_rule import MASK, masked

GLOBAL, CLASS, DEFAULTS, VARIABLE, LOGGER, OTHER = (
    "global", "class", "defaults", "environ", "logger", "other",
)  # fmt: skip
MISSING = object()
GONE = "nothing"
_DEPTH, _MOST_ITEMS, _MOST_THINGS, _SHOWN = 4, 2000, 20_000, 60
_ANYTHING = (Exception,)
_PLAIN = (int, float, complex, bool, bytes, type(None))
_DICT: Any = dict
_FUNCTION = type(is_own)
_CODE = (_FUNCTION, type(len), type, staticmethod, classmethod, property)
_OF_TESTS = ("_pytest", "pluggy", "pytest", "whet_", "py.", "importlib", "encodings")
_OTHERS: dict[str, tuple[str, Callable[[], Any], Callable[[Any], Any]]] = {}


def places() -> Iterator[Place]:
    """Yield each place that there is now, those that most likely matter first."""
    names = (each for each in list(os.environ) if not each.startswith(("PYTEST_", "WHET_")))
    yield from ((VARIABLE, name) for name in names)
    yield from ((OTHER, name) for name in _others())
    for module, space in _modules(own=True):
        for name, value in list(space.items()):
            if name.startswith(("__", "@")):
                continue
            yield (GLOBAL, module, name)
            if type(value) is _FUNCTION and value.__module__ == module:
                yield from _defaults(module, name, value)
            if issubclass(type(value), type) and value.__module__ == module:
                yield from _of_class(module, name, value)
    yield from _loggers()
    for module, space in _modules(own=False):
        for name, value in list(space.items()):
            if not name.startswith("_") and issubclass(type(value), _CODE[:3]):
                yield (GLOBAL, module, name)


def read(place: Place) -> Any:
    """Return what a place holds now; MISSING: there is no such place."""
    kind, *names = place
    try:
        if kind == VARIABLE:
            return os.environ.get(names[0], MISSING)
        if kind == OTHER:
            return _others()[names[0]][1]()
        if kind == LOGGER:
            return getattr(_logger(names[0]), names[1], MISSING)
        space: dict[str, Any] = vars(sys.modules[names[0]])
        if kind == GLOBAL:
            return space.get(names[1], MISSING)
        if kind == CLASS:
            return _space_of(space[names[1]]).get(names[2], MISSING)
        return _function(space, names[1]).__defaults__
    except _ANYTHING:
        return MISSING


def write(place: Place, value: Any) -> None:
    """Let a place hold something; MISSING: take it away."""
    kind, *names = place
    if kind == OTHER:
        _others()[names[0]][2](value)
    elif kind == LOGGER:
        setattr(_logger(names[0]), names[1], value)
    elif kind == DEFAULTS:
        _function(vars(sys.modules[names[0]]), names[1]).__defaults__ = value
    elif kind == CLASS:
        owner = vars(sys.modules[names[0]])[names[1]]
        delattr(owner, names[2]) if value is MISSING else setattr(owner, names[2], value)
    else:
        space: Any = os.environ if kind == VARIABLE else vars(sys.modules[names[0]])
        if value is MISSING:
            space.pop(names[-1], None)
        else:
            space[names[-1]] = value


def shown_place(place: Place) -> str:
    """Return how a place is written, or called."""
    kind, *names = place
    if kind == VARIABLE:
        return "`os.environ[{!r}]`".format(names[0])
    if kind == OTHER:
        return _others()[names[0]][0]
    if kind == LOGGER:
        return "`{}` of logger `{}`".format(names[1], names[0] or "root")
    if kind == DEFAULTS:
        return "the default values of `{}.{}`".format(*names)
    return "`{}`".format(".".join(names))


def text_of(value: Any, depth: int = _DEPTH) -> str:
    """Return a value in words; those of two values are equal only if both are alike."""
    kind = _class_of(value)
    if kind in _PLAIN:
        return repr(value)
    if value is MISSING:
        return GONE
    if kind is str:
        return str.__repr__(value)
    if issubclass(kind, _CODE):
        return "<{} {}>\0{}".format(kind.__name__, getattr(value, "__qualname__", ""), id(value))
    if depth == 0 or not _Room.is_left(depth):
        return "…"
    return _text_inside(value, kind, depth - 1)


def _text_inside(value: Any, kind: Any, depth: int) -> str:
    if issubclass(kind, dict):
        pairs = _some(_DICT.items(value))
        inner = ["{}: {}".format(text_of(key, depth), text_of(one, depth)) for key, one in pairs]
        return "{" + ", ".join(inner) + "}" + _rest(_DICT.__len__(value))
    base: Any
    for base, border in ((list, "[]"), (tuple, "()"), (set, "{}"), (frozenset, "{}")):
        if issubclass(kind, base):
            parts = [text_of(one, depth) for one in _some(base.__iter__(value))]
            parts = sorted(parts) if border == "{}" else parts
            parts = [parts[0] + ","] if border == "()" and len(parts) == 1 else parts
            return border[0] + ", ".join(parts) + border[1] + _rest(base.__len__(value))
    if kind.__name__ == "_lru_cache_wrapper" and hasattr(kind, "cache_info"):
        return "a cache of {}".format(kind.cache_info(value).currsize)
    if issubclass(kind, type(sys)):
        return "<module {}>".format(_space_of(value).get("__name__", ""))
    attributes = _some((_attributes(value) or {}).items())
    inner = ["{}={}".format(name, text_of(one, depth)) for name, one in attributes]
    return "{}({})\0{}".format(kind.__name__, ", ".join(inner), id(value))


def shown_text(place: Place, text: str) -> str:
    """Return the words for what a place held as a reader gets them, without secrets."""
    parts = text.split("\0")
    whole = parts[0] + "".join(part.lstrip("0123456789") for part in parts[1:])
    if text != GONE:
        whole = MASK if values.is_secret(place[-1], whole) else masked(whole)
    return whole if len(whole) <= _SHOWN else whole[: _SHOWN - 1] + "…"


class _Room:
    """How much of one value is looked at."""

    left = 0

    @classmethod
    def is_left(cls, depth: int) -> bool:
        """Whether one more thing may be looked at; at the value itself, the count starts again."""
        cls.left = _MOST_THINGS if depth == _DEPTH else cls.left - 1
        return cls.left > 0


class Saved:
    """What a place held at a moment: the value, and what was in it."""

    def __init__(self, value: Any, depth: int = _DEPTH) -> None:
        self._value = value
        self._inside: list[Any] | None = None
        kind = _class_of(value)
        if depth == 0 or issubclass(kind, _CODE) or not _Room.is_left(depth):
            return
        pairs: list[tuple[Any, Any]]
        if issubclass(kind, dict):
            pairs = list(_DICT.items(value))
        elif issubclass(kind, (list, tuple, set)):
            self._inside = [Saved(one, depth - 1) for one in _members(kind, value)]
            return
        else:
            attributes = _attributes(value)
            if attributes is None:
                return
            pairs = list(attributes.items())
        self._inside = [(key, Saved(one, depth - 1)) for key, one in pairs]

    def back(self) -> Any:
        """Return the value with what was in it put back."""
        value, inside = self._value, self._inside
        if inside is None:
            return value
        kind = _class_of(value)
        if issubclass(kind, list):
            value[:] = [each.back() for each in inside]
        elif issubclass(kind, set):
            value.clear()
            value.update([each.back() for each in inside])
        elif issubclass(kind, tuple):
            for each in inside:
                each.back()
        else:
            target = value if issubclass(kind, dict) else _attributes(value)
            if target is not None:
                target.clear()
                target.update({key: each.back() for key, each in inside})
        return value


def put_back(place: Place, saved: Saved) -> None:
    """Have a place hold what it held."""
    value = saved.back()
    if type(value).__name__ == "_lru_cache_wrapper":
        value.cache_clear()
    else:
        write(place, value)


def _some(items: Any) -> list[Any]:
    chosen = list(items)
    half = _MOST_ITEMS // 2
    return chosen if len(chosen) <= _MOST_ITEMS else [*chosen[:half], *chosen[-half:]]


def _rest(count: int) -> str:
    return "" if count <= _MOST_ITEMS else " of {}".format(count)


def _attributes(value: Any) -> dict[str, Any] | None:
    try:
        found = object.__getattribute__(value, "__dict__")
    except _ANYTHING:
        return None
    return found if _class_of(found) is dict and not issubclass(type(value), type(sys)) else None


def _modules(*, own: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, module in list(sys.modules.items()):
        space = getattr(module, "__dict__", None)
        if type(space) is not dict or name.startswith(_OF_TESTS):
            continue
        if is_users(name) is own:
            yield name, space


def is_users(module: str) -> bool:
    """Whether a module is the user's own."""
    path = vars(sys.modules[module]).get("__file__") if module in sys.modules else None
    return type(path) is str and is_own(path)


def _of_class(module: str, name: str, owner: type) -> Iterator[Place]:
    for attribute, value in list(vars(owner).items()):
        if attribute.startswith("__") and attribute.endswith("__") and attribute != "__init__":
            continue
        yield (CLASS, module, name, attribute)
        if type(value) is _FUNCTION:
            yield from _defaults(module, "{}.{}".format(name, attribute), value)


def _defaults(module: str, name: str, function: Any) -> Iterator[Place]:
    if function.__defaults__:
        yield (DEFAULTS, module, name)


def _function(space: dict[str, Any], name: str) -> Any:
    owner, _, method = name.partition(".")
    return _space_of(space[owner])[method] if method else space[owner]


def _loggers() -> Iterator[Place]:
    logging = sys.modules.get("logging")
    if logging is not None:
        for name in ["", *list(vars(logging)["root"].manager.loggerDict)]:
            for attribute in ("level", "handlers", "disabled", "propagate"):
                yield (LOGGER, name, attribute)


def _logger(name: str) -> Any:
    root = vars(sys.modules["logging"])["root"]
    return root.manager.loggerDict[name] if name else root


def _others() -> dict[str, tuple[str, Callable[[], Any], Callable[[Any], Any]]]:
    """Return the places that no name of a module stands for: what each is called, to read and to write it."""
    if not _OTHERS:
        _OTHERS["folder"] = ("the working folder", os.getcwd, os.chdir)
        _OTHERS["path"] = ("`sys.path`", lambda: list(sys.path), _into(sys.path))
        _OTHERS["limit"] = (
            "the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit,
        )  # fmt: skip
    _know("warnings", "warnings.filters", "`warnings.filters`", lambda m: (
        lambda: list(m["filters"]), _into(m["filters"])))  # fmt: skip
    _know("random", "random", "the state of `random`", lambda m: (m["getstate"], m["setstate"]))
    _know("numpy.random", "numpy.random", "the state of `numpy.random`", lambda m: (
        lambda: [str(one) for one in m["get_state"]()[1:]], _nothing))  # fmt: skip
    _know("locale", "locale", "the locale", lambda m: (
        lambda: m["setlocale"](m["LC_ALL"]), lambda name: m["setlocale"](m["LC_ALL"], name)))  # fmt: skip
    _know("decimal", "decimal", "the precision of `decimal`", lambda m: (
        lambda: m["getcontext"]().prec, lambda prec: setattr(m["getcontext"](), "prec", prec)))  # fmt: skip
    _know("socket", "timeout", "the default timeout of sockets", lambda m: (
        m["getdefaulttimeout"], m["setdefaulttimeout"]))  # fmt: skip
    _know("signal", "alarm", "the handler of SIGALRM", lambda m: (
        lambda: m["getsignal"](m["SIGALRM"]), lambda one: m["signal"](m["SIGALRM"], one)))  # fmt: skip
    return _OTHERS


def _know(
    module: str,
    name: str,
    shown: str,
    made: Callable[[dict[str, Any]], tuple[Callable[[], Any], Callable[[Any], Any]]],
) -> None:
    """Add a place of a module of Python's, once the program has imported that."""
    if name not in _OTHERS and module in sys.modules:
        try:
            _OTHERS[name] = (shown, *made(vars(sys.modules[module])))
        except _ANYTHING:
            return


def _into(items: list[Any]) -> Callable[[Any], None]:
    def put(value: list[Any]) -> None:
        items[:] = value

    return put


def _nothing(_value: Any) -> None:
    """Leave it: it can't be put back."""


def _members(kind: Any, value: Any) -> list[Any]:
    return list(kind.__iter__(value))


def _class_of(value: object) -> Any:
    return type(value)


def _space_of(owner: object) -> dict[str, Any]:
    return vars(owner)
