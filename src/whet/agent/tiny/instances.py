"""A model that a function makes or a module holds: what it was made with."""

from __future__ import annotations

from typing import Any, Callable, Dict

from . import constructors, skeleton
from .factories import Named
from .jax_models.frameworks import draws, framework_of
from .refusals import RefusedError
from .torch_models import number_types

Reference = Callable[[str, Any, Dict[str, Any]], Any]
_NOTHING: Any = object()


def reference_of(found: Named, settings: dict[str, Any], reference: Reference) -> Any:
    """Return the reference for a model that is made already: by the arguments of what made it.

    Args:
        found: the model, and the function that made it.
        settings: what the user sets.
        reference: makes a reference of a name, what makes the model, and what the user sets.

    Raises:
        RefusedError: if they aren't known.
    """
    if found.function is not None:
        by_function = reference(found.name, found.function, settings)
        if constructors.has_sizes(by_function.tree):
            return by_function
    made: Any = found.value.__class__
    is_jax = framework_of(found.value) is not None
    names = [
        name for name in constructors.signature(made).parameters if not (is_jax and draws(name))
    ]
    held = {name: getattr(found.value, name, _NOTHING) for name in names}
    lost = [name for name, value in held.items() if not _can_be_made_again(value)]
    if not lost:
        given = {**held, **(settings if found.function is None else {})}
        by_class = reference("%s:%s" % (made.__module__, made.__qualname__), made, given)
        if not is_jax:
            by_class.types = number_types.types_in(found.value)
        same = skeleton.shapes(by_class.parts_of(found.value))
        has_sizes = constructors.has_sizes(by_class.tree)
        if has_sizes and (settings or skeleton.shapes(by_class.build(by_class.tree)) == same):
            return by_class
        lost = ["sizes"]
    raise RefusedError(
        "unsolved",
        "`%s` gives a `%s`, which doesn't keep what it was made with: `%s`"
        % (found.name, made.__name__, "`, `".join(lost)),
        "name a function or class whose arguments are its sizes:"
        " `whet tiny package.module:make --set width=512`",
    )


def _can_be_made_again(value: Any) -> bool:
    return constructors.is_plain(value) or constructors.is_object_with_sizes(value)
