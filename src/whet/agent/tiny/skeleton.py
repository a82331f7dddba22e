"""What a model is apart from its dimensions: its modules, their kinds and their switches."""

from __future__ import annotations

from typing import Any

_NUMBERED = ("layer_idx", "layer_id", "layer_index", "idx", "training", "block_idx")


def skeleton(module: Any) -> tuple[Any, ...]:
    """Return the structure of a model without a number in it.

    A list of modules counts as the kinds in it, in the order in which they first come: two models
    with the same skeleton have the same kinds of layers, and each layer the same switches.
    """
    children = list(module.named_children())
    name = type(module).__name__
    if children and all(key.isdigit() for key, _ in children):
        kinds = list(dict.fromkeys(skeleton(child) for _, child in children))
        return (name, tuple(kinds))
    parameters = tuple(key for key, _ in module.named_parameters(recurse=False))
    return (
        name,
        _switches(module),
        parameters,
        tuple((key, skeleton(child)) for key, child in children),
    )


def _switches(module: Any) -> tuple[tuple[str, object], ...]:
    """Return what a module was told that is no dimension."""
    found: list[tuple[str, object]] = []
    held: dict[str, Any] = module.__dict__
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
    return sum(parameter.numel() for parameter in model.parameters())
