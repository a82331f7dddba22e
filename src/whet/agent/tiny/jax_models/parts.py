"""The modules of a model of JAX, as `skeleton.py` walks them."""

from __future__ import annotations

from typing import Any, Optional

from ..skeleton import Part
from .frameworks import held, items


def part_of(value: Any, framework: Any, above: tuple[int, ...] = ()) -> Part:
    """Return a module, a list or a mapping with the modules and parameters that it holds.

    Args:
        value: the module.
        framework: its library.
        above: the identities of the modules that hold it, as one may name the module above.
    """
    children: list[tuple[str, Part]] = []
    parameters: list[tuple[str, Any]] = []
    settings: dict[str, Any] = {}
    above = (*above, id(value))
    is_plain = framework.is_module(value) and not framework.is_list(value)
    for name, each in held(value).items() if is_plain else items(value, framework) or ():
        if framework.is_parameter(each):
            parameters.append((name, each))
            continue
        child = None if id(each) in above else _child(each, framework, above)
        if child is not None:
            children.append((name, child))
        else:
            settings[name] = each
    return Part(type(value).__name__, settings, children, parameters, shares=framework.shares)


def _child(value: Any, framework: Any, above: tuple[int, ...]) -> Optional[Part]:
    if framework.is_module(value):
        return part_of(value, framework, above)
    if items(value, framework) is None:
        return None
    part = part_of(value, framework, above)
    return part if part.has_parts else None
