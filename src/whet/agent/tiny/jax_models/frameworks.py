"""What flax.nnx and Equinox do in ways of their own: parts, parameters, making, saving."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import re
import sys
from typing import Any, Callable, Iterable, Iterator, Optional, Tuple

from .. import constructors, libraries
from ..fields import is_list, is_mapping

Named = Iterator[Tuple[str, Any]]
Whole = Callable[["list[Any]", "list[Any]"], Any]
Made = Tuple[Any, Any]
Split = Tuple["list[Any]", "list[Any]", Whole]

_CHANCE = re.compile(r"^(prng_?)?keys?$|^rngs?$|_key$|^rng_")
_PRIVATE = "_pytree__"


class Nnx:
    """flax.nnx."""

    shares = True
    """A parameter in two places is one."""

    def __init__(self, nnx: Any) -> None:
        self._nnx = nnx

    def is_module(self, value: object) -> bool:
        """Whether it is a module of this library."""
        return isinstance(value, self._nnx.Module)

    def is_class(self, value: type) -> bool:
        """Whether it is a class of such modules."""
        return issubclass(value, self._nnx.Module)

    def is_list(self, value: object) -> bool:
        """Whether it is a list of modules."""
        return is_list(value) or isinstance(value, self._nnx.List)

    def is_parameter(self, value: object) -> bool:
        """Whether it is a parameter."""
        return isinstance(value, self._nnx.Param)

    def array(self, parameter: Any) -> Any:
        """Return the numbers of a parameter, or what stands for them."""
        return parameter.get_value() if hasattr(parameter, "get_value") else parameter.value

    def chance(self) -> Any:
        """Return what a constructor draws its weights with."""
        return self._nnx.Rngs(0)

    def made(self, make: Callable[[], Any]) -> Made:
        """Return a model, and what it keeps beside itself."""
        return make(), None

    def made_without_memory(self, make: Callable[[], Any]) -> Made:
        """Return a model that has shapes alone, its parts in the order in which they were made."""
        made: list[Any] = []

        def noted() -> Any:
            made[:] = [make()]
            return made[0]

        model = self._nnx.eval_shape(noted)
        self._put_in_order(model, made[0], set())
        return model, None

    def _put_in_order(self, model: Any, other: Any, seen: set[int]) -> None:
        if id(model) in seen:
            return
        seen.add(id(model))
        mine: dict[str, Any] = model.__dict__
        its: dict[str, Any] = other.__dict__
        for name in [each for each in its if each in mine]:
            mine[name] = value = mine.pop(name)
            if self.is_module(value):
                self._put_in_order(value, its[name], seen)

    def split(self, model: Any, _state: Any) -> Split:
        """Return the parameters, the other arrays, and what makes a model of both."""
        jax = libraries.library("jax")
        model.eval()  # nothing is left to chance
        graph, parameters, rest = self._nnx.split(model, self._nnx.Param, ...)
        flat, form = jax.tree.flatten(parameters)
        others, other_form = jax.tree.flatten(rest)

        def whole(values: list[Any], held: list[Any]) -> Any:
            return self._nnx.merge(graph, form.unflatten(values), other_form.unflatten(held))

        return flat, others, whole

    def save(self, model: Any, _state: Any, folder: str) -> None:
        """Write its state with Orbax, which comes with flax."""
        with self._checkpointer() as file:
            file.save(_state_of(folder), self._nnx.state(model))

    def load(self, model: Any, _state: Any, folder: str) -> Made:
        """Fill a model with the state that was saved into a folder."""
        with self._checkpointer() as file:
            values = file.restore(_state_of(folder), self._nnx.state(model))
        self._nnx.update(model, values)
        return model, None

    @staticmethod
    def _checkpointer() -> Any:
        libraries.library("orbax.checkpoint")
        return importlib.import_module("orbax.checkpoint").StandardCheckpointer()


class Equinox:
    """Equinox."""

    shares = False
    """An array in two places is two after the first step; what is shared has a module of its own."""

    def __init__(self, equinox: Any) -> None:
        self._equinox = equinox

    def is_module(self, value: object) -> bool:
        """Whether it is a module of this library."""
        return isinstance(value, self._equinox.Module)

    def is_class(self, value: type) -> bool:
        """Whether it is a class of such modules."""
        return issubclass(value, self._equinox.Module)

    def is_list(self, value: object) -> bool:
        """Whether it is a list of modules."""
        return is_list(value)

    def is_parameter(self, value: Any) -> bool:
        """Whether it is an array of floating numbers, with memory or without."""
        jax = libraries.library("jax")
        return hasattr(value, "shape") and jax.numpy.issubdtype(
            getattr(value, "dtype", int), jax.numpy.inexact
        )

    def array(self, parameter: Any) -> Any:
        """Return the numbers of a parameter, or what stands for them."""
        return parameter

    def chance(self) -> Any:
        """Return what a constructor draws its weights with."""
        return libraries.library("jax").random.PRNGKey(0)

    def made(self, make: Callable[[], Any]) -> Made:
        """Return a model, and what it keeps beside itself."""
        model, state = self._equinox.nn.make_with_state(make)()
        return model, state if "state" in inspect.signature(model.__call__).parameters else None

    def made_without_memory(self, make: Callable[[], Any]) -> Made:
        """Return a model that has shapes alone, and what it keeps beside itself."""
        made: Made = self._equinox.filter_eval_shape(lambda: self.made(make))
        return made

    def split(self, model: Any, state: Any) -> Split:
        """Return the parameters, the other arrays, and what makes a model of both."""
        model = self._equinox.nn.inference_mode(model)
        leaves, form = libraries.library("jax").tree.flatten((model, state))
        arrays = [place for place, leaf in enumerate(leaves) if hasattr(leaf, "shape")]
        places = [place for place in arrays if self.is_parameter(leaves[place])]
        others = [place for place in arrays if place not in places]

        def whole(values: list[Any], held: list[Any]) -> Any:
            filled = list(leaves)
            for place, value in zip([*places, *others], [*values, *held]):
                filled[place] = value
            called, kept = form.unflatten(filled)
            return called if kept is None else functools.partial(called, state=kept)

        return [leaves[place] for place in places], [leaves[place] for place in others], whole

    def save(self, model: Any, state: Any, folder: str) -> None:
        """Write its leaves, and those of what it keeps beside itself."""
        self._equinox.tree_serialise_leaves(_leaves_of(folder), _saved(model, state))

    def load(self, model: Any, state: Any, folder: str) -> Made:
        """Return a model like this one, with the leaves that were saved into a folder."""
        loaded = self._equinox.tree_deserialise_leaves(_leaves_of(folder), _saved(model, state))
        return loaded if state is not None else (loaded, None)


def _saved(model: Any, state: Any) -> Any:
    return model if state is None else (model, state)


def _state_of(folder: str) -> str:
    return os.path.join(os.path.abspath(folder), "state")  # Orbax takes no relative path


def _leaves_of(folder: str) -> str:
    return os.path.join(folder, "model.eqx")


_LIBRARIES = (("flax.nnx", Nnx), ("equinox", Equinox))


def framework_of(value: Any) -> Any:
    """Return the library that a module or a class of modules is of; None: it is of neither.

    The user's own program has loaded it, if so.
    """
    for name, framework in _LIBRARIES:
        loaded = sys.modules.get(name)
        if loaded is None or not hasattr(loaded, "Module"):
            continue
        found = framework(loaded)
        if found.is_class(value) if isinstance(value, type) else found.is_module(value):
            return found
    return None


def draws(name: str) -> bool:
    """Whether an argument is what weights are drawn with, by its name."""
    return bool(_CHANCE.search(name))


def drawn_with(function: Any, given: Iterable[str], framework: Any = None) -> dict[str, Any]:
    """Return the arguments of a function with which it draws, unless they are given.

    Args:
        function: a function or class of the user's.
        given: the names of the arguments that it gets anyway.
        framework: the library of what it makes; None: the name of each argument tells.
    """
    drawn: dict[str, Any] = {}
    for name, each in constructors.signature(function).parameters.items():
        if draws(name) and name not in given and each.default is each.empty:
            used = framework or _framework_drawing(name)
            if used is not None:
                drawn[name] = used.chance()
    return drawn


def _framework_drawing(name: str) -> Any:
    """Return the library whose constructors take an argument of this name; None: it isn't loaded."""
    for module, framework in _LIBRARIES if "rng" in name else reversed(_LIBRARIES):
        if module in sys.modules:
            return framework(sys.modules[module])
    return None


def held(module: Any) -> dict[str, Any]:
    """Return what a module holds by name."""
    whole: dict[str, Any] = module.__dict__
    return {name: value for name, value in whole.items() if not name.startswith(_PRIVATE)}


def items(value: Any, framework: Any) -> Optional[Named]:
    """Return what a list or a mapping holds, by name; None: it is neither."""
    if framework.is_list(value):
        return ((str(place), each) for place, each in enumerate(value))
    if is_mapping(value):
        return ((str(key), each) for key, each in value.items())
    return None
