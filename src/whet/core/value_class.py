"""Classes of values: frozen dataclasses with slots, made in a quarter of the time.

`dataclass` compiles six methods for each class while its module is imported: a third of the work of
`whet run -- true`, which makes values of one class in three. Here a class compiles its `__init__` when
its first value is made, and the other methods are compiled once for all classes.
"""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from types import FunctionType
from typing import TypeVar, dataclass_transform, overload

ClassT = TypeVar("ClassT")


@overload
def value_class(cls: type[ClassT], /) -> type[ClassT]: ...
@overload
def value_class(
    *, kw_only: bool = False, eq: bool = True
) -> Callable[[type[ClassT]], type[ClassT]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_class(
    cls: type[ClassT] | None = None, /, *, kw_only: bool = False, eq: bool = True
) -> type[ClassT] | Callable[[type[ClassT]], type[ClassT]]:
    """Make a class what ``dataclass(frozen=True, slots=True, kw_only=kw_only, eq=eq)`` makes of it.

    The functions of `dataclasses`, such as `replace`, take its values too. `InitVar` isn't supported.
    """

    def make(given: type[ClassT]) -> type[ClassT]:
        own = {name for name, value in vars(given).items() if value is not None}
        # Without a sentence `dataclass` puts the signature there: the first time, 3 ms.
        given.__doc__ = given.__doc__ or given.__name__
        made = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(given)
        _lead_super_to(made, given)
        methods = {"__repr__": _repr, **(_comparison(made) if eq else {})}
        given_by_default = {"__init__": _LateInit(made), **methods}
        for name, method in given_by_default.items():
            if name not in own:
                setattr(made, name, method)
        for name, method in _ALWAYS.items():
            setattr(made, name, method)
        return made

    return make if cls is None else make(cls)


def _lead_super_to(made: type, given: type) -> None:
    """Let ``super()`` in the methods mean the class with slots, which is another one (CPython #90562)."""
    for method in vars(given).values():
        for cell in getattr(getattr(method, "__func__", method), "__closure__", None) or ():
            if cell.cell_contents is given:
                cell.cell_contents = made


class _LateInit:
    """An ``__init__`` that is compiled when it is first asked for."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, instance: object, owner: type | None = None) -> object:
        method = _compiled_init(self._cls)
        type.__setattr__(self._cls, "__init__", method)
        return method if instance is None else method.__get__(instance, owner)


class _Factory:
    """What is in a signature for a default that is made again for each value."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _compiled_init(cls: type) -> FunctionType:
    names: dict[str, object] = {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    ordered: list[str] = ["self"]
    by_name: list[str] = []
    lines: list[str] = []
    for each in _fields(cls):
        usual, value = _default(each, names)
        if each.init:
            (by_name if each.kw_only else ordered).append(f"{each.name}{usual}")
        if each.init or value != each.name:
            lines.append(f"    _set(self, {each.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    arguments = ", ".join([*ordered, *(["*", *by_name] if by_name else [])])
    exec("\n".join([f"def __init__({arguments}):", *(lines or ["    pass"])]), names)
    made = names["__init__"]
    assert isinstance(made, FunctionType)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    made.__annotations__ = {each.name: each.type for each in _fields(cls) if each.init}
    made.__annotations__["return"] = None
    return made


def _default(of: "Field[object]", names: dict[str, object]) -> tuple[str, str]:
    """Return how an argument says its default, and the expression of the field's value."""
    if of.default_factory is not MISSING:
        names[f"_make_{of.name}"] = of.default_factory
        made = f"_make_{of.name}()"
        return "=_FACTORY", f"{made} if {of.name} is _FACTORY else {of.name}" if of.init else made
    if of.default is not MISSING:
        names[f"_usual_{of.name}"] = of.default
        return f"=_usual_{of.name}", of.name if of.init else f"_usual_{of.name}"
    return "", of.name


def _fields(cls: type) -> "Iterator[Field[object]]":
    return iter(fields(cls))


def _comparison(cls: type) -> dict[str, object]:
    names = [each.name for each in _fields(cls) if each.compare]
    contents: Callable[[object], object] = attrgetter(*names) if names else lambda _value: ()

    def is_equal(self: object, other: object) -> object:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return contents(self) == contents(other)

    def hash_of(self: object) -> int:
        return hash(contents(self))

    return {"__eq__": is_equal, "__hash__": hash_of}


@recursive_repr()
def _repr(self: object) -> str:
    shown = (
        f"{each.name}={getattr(self, each.name)!r}" for each in _fields(type(self)) if each.repr
    )
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(_self: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: object) -> list[object]:
    return [getattr(self, each.name) for each in _fields(type(self))]


def _restore(self: object, state: list[object]) -> None:
    for each, value in zip(_fields(type(self)), state, strict=True):
        object.__setattr__(self, each.name, value)


_ALWAYS = {
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,
    "__setstate__": _restore,
}
