"""What a model is apart from its dimensions: its modules, their kinds and their switches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

_NUMBERED = ("layer_idx", "layer_id", "layer_index", "idx", "training", "block_idx")


class Part:
    """A module of a library other than torch, walked as those of torch are.

    Attributes:
        kind: the name of its class.
        shares: a parameter in two places is one.
    """

    def __init__(
        self,
        kind: str,
        settings: dict[str, Any],
        children: list[tuple[str, Any]],
        parameters: list[tuple[str, Any]],
        *,
        shares: bool,
    ) -> None:
        self.kind = kind
        self.shares = shares
        self.settings = settings
        self._children = children
        self._parameters = parameters

    @property
    def has_parts(self) -> bool:
        """Whether there is a module or a parameter in it."""
        return bool(self._children or self._parameters)

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield the modules that it holds."""
        yield from self._children

    def modules(self) -> Iterator[Any]:
        """Yield it and all modules within."""
        yield self
        for _, child in self._children:
            yield from child.modules()

    def named_parameters(
        self, *, recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield the parameters by name, those of the modules within too."""
        seen: set[int] = set()
        for name, parameter in self._all_parameters(recurse=recurse):
            if not (self.shares and remove_duplicate and id(parameter) in seen):
                seen.add(id(parameter))
                yield name, parameter

    def _all_parameters(self, *, recurse: bool) -> Iterator[tuple[str, Any]]:
        yield from self._parameters
        for name, child in self._children if recurse else ():
            for rest, parameter in child.named_parameters(remove_duplicate=False):
                yield name + "." + rest, parameter

    def parameters(self) -> Iterator[Any]:
        """Yield the parameters."""
        for _, parameter in self.named_parameters():
            yield parameter


def skeleton(module: Any) -> tuple[Any, ...]:
    """Return the structure of a model without a number in it.

    A list of modules counts as the kinds in it, in the order in which they first come: two models
    with the same skeleton have the same kinds of layers, and each layer the same switches.
    """
    children = list(module.named_children())
    name = module.kind if isinstance(module, Part) else type(module).__name__
    if children and all(key.isdigit() for key, _ in children):
        kinds = list(dict.fromkeys(skeleton(child) for _, child in children))
        return (name, tuple(kinds))
    own = module.named_parameters(recurse=False)
    parameters = tuple(dict.fromkeys(numberless(key) for key, _ in own))
    return (
        name,
        _switches(module),
        parameters,
        tuple((key, skeleton(child)) for key, child in children),
    )


def _switches(module: Any) -> tuple[tuple[str, object], ...]:
    """Return what a module was told that is no dimension."""
    found: list[tuple[str, object]] = []
    held: dict[str, Any] = module.settings if isinstance(module, Part) else module.__dict__
    for key, value in held.items():
        if key.startswith("_") or key in _NUMBERED:
            continue
        if isinstance(value, (bool, str)) or value is None:
            found.append((key, value))
        elif isinstance(value, int):
            found.append((key, "many" if value > 1 and "groups" in key else value != 0))
        elif isinstance(value, float) and "eps" in key:
            found.append((key, value))
        elif callable(value) and hasattr(value, "__name__"):
            found.append((key, value.__name__))
    return tuple(sorted(found))


def first_difference(one: Any, other: Any, where: str = "") -> str:
    """Return in words where two skeletons differ; empty: they don't."""
    if one == other:
        return ""
    if len(one) == len(other) == len(("name", "kinds")):
        return _of_lists(one, other, where)
    if one[0] != other[0] or len(one) != len(other):
        return "%s is a %s, not a %s" % (where or "the model", other[0], one[0])
    for (key, was), (new_key, now) in zip(one[1], other[1]):
        if (key, was) != (new_key, now):
            return "`%s` of %s was %s and became %s" % (key, where or one[0], was, now)
    for (key, child), (_, other_child) in zip(one[3], other[3]):
        text = first_difference(child, other_child, where + "." * bool(where) + key)
        if text:
            return text
    return "%s has other parts" % (where or "the model")


def _of_lists(one: Any, other: Any, where: str) -> str:
    lost = len(one[1]) - len(other[1])
    if lost > 0:
        return "%s lost %d of its %d kinds of layers" % (where, lost, len(one[1]))
    for mine, theirs in zip(one[1], other[1]):
        text = first_difference(mine, theirs, where + "[]")
        if text:
            return text
    return "%s has other kinds of layers" % where


def layer_kinds(model: Any) -> list[tuple[int, list[Any]]]:
    """Return for each list of modules how long it is, and the kind of each module."""
    found: list[tuple[int, list[Any]]] = []
    for module in model.modules():
        children = list(module.named_children())
        if children and all(key.isdigit() for key, _ in children):
            found.append((len(children), [skeleton(child) for _, child in children]))
    return found


def shared(model: Any) -> list[tuple[str, ...]]:
    """Return the names of the parameters that are one, without numbers of layers."""
    names: dict[int, list[str]] = {}
    if isinstance(model, Part) and not model.shares:
        return []
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(numberless(name))
    return sorted({tuple(sorted(set(each))) for each in names.values() if len(set(each)) > 1})


def numberless(name: str) -> str:
    """Return the name of a parameter with a star for each number."""
    return ".".join("*" if part.isdigit() else part for part in name.split("."))


def shapes(model: Any) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter by name."""
    return {name: tuple(each.shape) for name, each in model.named_parameters()}


def size(model: Any) -> int:
    """Return how many numbers the parameters of a model are."""
    return sum(math.prod(parameter.shape) for parameter in model.parameters())
