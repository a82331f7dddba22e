"""What makes a model of the user's: a constructor or a function, with the sizes among its arguments.

A size may stand in an argument that is an object: a data class, a class of attrs or pydantic, a
namespace, a configuration of transformers. In the tree of arguments it is a mapping of its own.
"""

from __future__ import annotations

import ast
import copy
import enum
import inspect
import re
import textwrap
import typing
from collections.abc import Container, Iterator
from typing import Any, Callable, Dict, Optional

from . import fields, libraries
from .refusals import RefusedError

Tree = Dict[str, Any]

_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_NOTHING: Any = object()
_OPEN = (inspect.Parameter.empty, Any, "Any", object, "object")
_PLACE = re.compile(r"^[\w.]+:[\w.]+$")


class Constructor:
    """A class or function, the arguments it is called with, and the objects among them.

    Attributes:
        make: the class or function.
        tree: its arguments, objects as mappings.
        objects: what makes each of the objects.
        others: arguments that can't be written as JSON, which stay as they are.
    """

    def __init__(
        self, make: Callable[..., Any], tree: Tree, objects: dict[str, Constructor], others: Tree
    ) -> None:
        self.make = make
        self.tree = tree
        self.objects = objects
        self.others = others

    def arguments(self, tree: Tree) -> Tree:
        """Return the arguments of one call: those of a tree, with its objects built."""
        given = copy.deepcopy(tree)
        for name, each in self.objects.items():
            given[name] = each.made(given[name])
        return {**given, **self.others}

    def made(self, tree: Tree) -> Any:
        """Return what the call with the arguments of a tree makes."""
        return self.make(**self.arguments(tree))

    def description(self, place: str, tree: Tree) -> dict[str, Any]:
        """Return as JSON data how to make the model again.

        Args:
            place: where its class or function can be imported from.
            tree: the arguments.
        """
        classes = {"classes": self.places()} if self.objects else {}
        return {"class": place, "arguments": tree, **classes}

    def places(self) -> dict[str, str]:
        """Return where the classes of the objects can be imported from, by argument."""
        found: dict[str, str] = {}
        for name, each in self.objects.items():
            found[name] = "%s:%s" % (each.make.__module__, each.make.__qualname__)
            found.update(("%s.%s" % (name, inner), place) for inner, place in each.places().items())
        return found


class _Filled(Constructor):
    """An object whose constructor takes nothing: its attributes are set."""

    def __init__(self, template: Any, tree: Tree) -> None:
        super().__init__(template.__class__, tree, {}, {})
        self._template = template

    def made(self, tree: Tree) -> Any:
        made = copy.copy(self._template)
        for name, value in copy.deepcopy(tree).items():
            setattr(made, name, value)
        return made


def constructor(
    found: Any, settings: Tree, others: Container[str] = (), place: str = ""
) -> Constructor:
    """Return a constructor or function with its arguments: its defaults, and what the user sets.

    Args:
        found: the constructor or function.
        settings: what the user sets: values, objects, and by `name.inner` what an object holds.
        others: arguments that whet gives.
        place: of which argument it makes the value: `config.`; empty: it makes the model.

    Raises:
        RefusedError: if it doesn't take something, or needs more.
    """
    parameters = signature(found).parameters
    known = {
        name: each
        for name, each in parameters.items()
        if each.kind is not each.VAR_POSITIONAL and name not in others
    }
    own = {name: value for name, value in settings.items() if "." not in name}
    takes_any = any(each.kind is each.VAR_KEYWORD for each in known.values())
    unknown = [
        name
        for name in settings
        if name.partition(".")[0] not in known and not (takes_any and name in own)
    ]
    if unknown:
        raise RefusedError(
            "usage", "`%s` takes no `%s`" % (found.__name__, unknown[0]),
            "it takes: %s" % ", ".join(known),
        )  # fmt: skip
    objects: dict[str, Constructor] = {}
    given: Tree = {}
    kept: Tree = {}
    for name, each in known.items():
        if each.kind is each.VAR_KEYWORD:
            continue
        value = own.get(name, each.default)
        inner = _below(settings, name)
        made = _object(found, place + name, value, inner)
        is_known = value is not each.empty and (is_plain(value) or name in own or not place)
        if made is None and inner and is_known:
            raise RefusedError(
                "usage",
                "`%s` holds no sizes by name, so `%s.%s` can't be set"
                % (name, name, next(iter(inner))),
                "if it's an object, name its class: `--set %s%s=package.module:Config`"
                % (place, name),
            )
        if made is not None:
            objects[name] = made
            given[name] = made.tree
        elif value is not each.empty and is_plain(value):
            given[name] = value
        elif name in own:
            kept[name] = value
    given.update((name, value) for name, value in own.items() if name not in known)
    missing = [
        name
        for name, each in known.items()
        if each.default is each.empty and each.kind is not each.VAR_KEYWORD
        and name not in given and name not in kept
    ]  # fmt: skip
    if missing:
        first = place + missing[0]
        hint = "give the sizes of the real one: `--set %s=VALUE`" % first
        if known[missing[0]].annotation in _OPEN:
            hint += "; if it's an object, its class: `--set %s=package.module:Config`" % first
        raise RefusedError(
            "usage", "`%s` needs `%s`" % (found.__name__, "`, `".join(missing)), hint
        )  # fmt: skip
    return Constructor(found, given, objects, kept)


def _below(settings: Tree, name: str) -> Tree:
    """Return what the user sets of an argument that is an object."""
    start = name + "."
    return {key[len(start) :]: value for key, value in settings.items() if key.startswith(start)}


def signature(found: Any) -> inspect.Signature:
    """Return what a function or a constructor takes; a metaclass may hide that of a class."""
    shown = inspect.signature(found)
    if isinstance(found, type) and all(each.kind in _ANY for each in shown.parameters.values()):
        made: Any = found
        own = inspect.signature(made.__init__)
        return own.replace(parameters=list(own.parameters.values())[1:])
    return shown


def has_sizes(arguments: Tree) -> bool:
    """Whether a whole number is among the arguments."""
    return any(True for _ in fields.numbers(arguments))


def is_plain(value: Any) -> bool:
    """Whether a value can be written as JSON."""
    return value is None or isinstance(value, (bool, int, float, str, list, tuple, dict))


def is_object_with_sizes(value: Any) -> bool:
    """Whether a value is an object that holds sizes, and can be made again with others."""
    return _of_instance(value, {}, "") is not None


def _object(found: Any, place: str, value: Any, inner: Tree) -> Optional[Constructor]:
    """Return what makes an argument that is an object with sizes; None: it is none, or isn't known."""
    name = place.rpartition(".")[2]
    if value is inspect.Parameter.empty:
        made = _annotated(found, name)
        return _of_class(_read_by(found, name) if made is None else made, inner, place)
    if isinstance(value, str) and _PLACE.match(value) and _annotated(found, name) is None:
        return _of_class(libraries.imported(value), inner, place)
    if isinstance(value, type):
        return None
    if is_plain(value):
        is_wanted = value is None and bool(inner)
        return _of_class(_annotated(found, name), inner, place) if is_wanted else None
    return _of_instance(value, inner, place)


def _of_class(found: Any, settings: Tree, place: str) -> Optional[Constructor]:
    if not isinstance(found, type) or found.__module__ == "builtins" or _is_model(found):
        return None
    if issubclass(found, enum.Enum):
        return None
    if not _names(found):
        return _of_instance(_instance(found), settings, place)
    made = constructor(found, settings, place=place + ".")
    held = _made_anew(made)
    if held:
        made = constructor(found, {**held, **settings}, place=place + ".")
    return made if has_sizes(made.tree) else None


def _made_anew(made: Constructor) -> Tree:
    """Return the defaults that only an object shows: those that a factory makes."""
    names = [
        name for name, each in signature(made.make).parameters.items()
        if each.kind not in _ANY and name not in made.tree and name not in made.others
    ]  # fmt: skip
    try:
        instance = made.made(made.tree) if names else None
    except Exception:  # whatever the user's class raises
        return {}
    return {name: getattr(instance, name) for name in names if hasattr(instance, name)}


def _names(found: Any) -> list[str]:
    """Return the arguments that a class names."""
    try:
        taken = signature(found).parameters.items()
    except (TypeError, ValueError):  # written in C
        return []
    return [name for name, each in taken if each.kind not in _ANY and not _is_optional(each)]


def _is_optional(parameter: inspect.Parameter) -> bool:
    """Whether an argument has no name in a call and may be left out: a namespace's, from Python 3.13."""
    return parameter.kind is parameter.POSITIONAL_ONLY and parameter.default is not parameter.empty


def _instance(found: Any) -> Any:
    try:
        return found()
    except Exception:  # whatever the user's class raises
        return None


def _of_instance(value: Any, settings: Tree, place: str) -> Optional[Constructor]:
    found: Any = value.__class__
    if found.__module__ == "builtins" or _is_model(found) or callable(value):
        return None
    names = _names(found)
    if names:
        held = {name: getattr(value, name, _NOTHING) for name in names}
        if any(each is _NOTHING for each in held.values()):
            return None
        made = constructor(found, {**held, **settings}, place=place + ".")
        return made if has_sizes(made.tree) else None
    held = {
        name: each
        for name, each in _attributes(value).items()
        if is_plain(each) and not name.startswith("_")
    }
    unknown = [name for name in settings if name not in held]
    if unknown and held:
        raise RefusedError(
            "usage", "`%s` has no `%s`" % (found.__name__, unknown[0]),
            "it has: %s" % ", ".join(held),
        )  # fmt: skip
    return _Filled(value, {**held, **settings}) if has_sizes(held) else None


def _attributes(value: Any) -> Tree:
    """Return what an object and its classes hold by name."""
    held: Tree = {}
    for each in reversed(type(value).__mro__[:-1]):
        held.update(vars(each))
    held.update(getattr(value, "__dict__", {}))
    return held


def _is_model(found: type) -> bool:
    """Whether a class makes models, whose sizes are in what made them."""
    modules = [(each.__module__, each.__name__) for each in found.__mro__]
    return any(name == "Module" and not place.startswith("__") for place, name in modules)


def _function(found: Any) -> Any:
    """Return a function, or that of a constructor."""
    return found.__init__ if inspect.isclass(found) else found


def _annotated(found: Any, name: str) -> Any:
    """Return the class that the annotation of an argument names; None: it names none."""
    function = _function(found)
    try:
        hint = typing.get_type_hints(function).get(name)
    except Exception:  # a name that is there for a type checker alone
        hint = inspect.signature(function).parameters[name].annotation
        space = getattr(function, "__globals__", {})
        hint = space.get(hint) if isinstance(hint, str) else hint
    choices = [each for each in typing.get_args(hint) if each is not type(None)]
    if len(choices) == 1 and type(None) in typing.get_args(hint):
        hint = choices[0]
    is_class = isinstance(hint, type) and hint.__module__ not in ("builtins", "inspect", "typing")
    return hint if is_class else None


def _read_by(found: Any, name: str) -> Any:
    """Return the one class of a module that has what a constructor reads of an argument; or None."""
    function = _function(found)
    needed = set(_read_of(function, name))
    if not needed:
        return None
    space = dict(getattr(function, "__globals__", {}))
    classes = {each for each in space.values() if isinstance(each, type)}
    fitting = [each for each in classes if needed <= _names_of(each)]
    return fitting[0] if len(fitting) == 1 else None


def _read_of(function: Any, name: str) -> Iterator[str]:
    """Yield the attributes of an argument that a function reads."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return
    for node in ast.walk(body):
        if isinstance(node, ast.Attribute):
            held = node.value
            if isinstance(held, ast.Name) and held.id == name:
                yield node.attr


def _names_of(found: Any) -> set[str]:
    """Return what objects of a class have by name."""
    if _is_model(found):
        return set()
    return {*_names(found), *dir(found), *_read_of(found.__init__, "self")}
