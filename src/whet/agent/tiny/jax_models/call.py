"""Calling a model of JAX: inputs that fit its first layers, traced without memory where that is possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

from .. import call_arguments, libraries
from ..fields import is_list, is_number
from .frameworks import draws
from .model import JaxModel

ROWS, LENGTH, SIDES = call_arguments.ROWS, call_arguments.LENGTH, call_arguments.SIDES


_UNNAMED = "*"


def called(model: Any, given: dict[str, Any]) -> Any:
    """Call a model with inputs by name; one that takes any number of them gets it without a name."""
    named = {name: value for name, value in given.items() if name != _UNNAMED}
    return model(*[given[_UNNAMED]], **named) if _UNNAMED in given else model(**named)


def outputs(result: Any) -> list[Any]:
    """Return the arrays of floating numbers that a model answers with."""
    jax = libraries.library("jax")
    return [
        each
        for each in jax.tree.leaves(result)
        if hasattr(each, "dtype") and jax.numpy.issubdtype(each.dtype, jax.numpy.inexact)
    ]


def traced(function: Callable[..., Any], *values: Any) -> Any:
    """Call a function with shapes alone; for real if its way depends on numbers.

    Returns:
        What it returns, with shapes or with numbers.
    """
    jax = libraries.library("jax")
    try:
        return jax.eval_shape(function, *values)
    except untraceable():
        return function(*jax.tree.map(_real, values))


def untraceable() -> tuple[type[Exception], ...]:
    """Return the errors of a call whose way depends on numbers."""
    errors = libraries.library("jax").errors
    return (errors.ConcretizationTypeError, errors.TracerArrayConversionError)


def _real(value: Any) -> Any:
    """Return ones for what has a shape alone."""
    jax = libraries.library("jax")
    if isinstance(value, jax.ShapeDtypeStruct):
        return jax.numpy.ones(value.shape, value.dtype)
    return value


def fitting_inputs(model: JaxModel, call: Callable[..., Any], name: str) -> dict[str, Any]:
    """Return inputs with which a model runs, tried by what its first layers take.

    Args:
        model: the model.
        call: calls it with inputs by name, and raises if they don't fit.
        name: what the class is called.

    Raises:
        RefusedError: if none is found.
    """
    takes = "its `__call__` takes arrays of floating numbers or of whole ones"
    return call_arguments.first_that_runs(_candidates(model), call, name, takes)


def _candidates(model: JaxModel) -> Iterator[dict[str, Any]]:
    jax = libraries.library("jax")
    names, switches = call_arguments.taken(model.value.__call__)
    drawn = {name: jax.random.PRNGKey(1) for name in names if draws(name)}
    kept: set[str] = {"state"} if model.state is not None else set()
    tensors = [name for name in names if name not in drawn and name not in kept] or [_UNNAMED]
    seen: set[tuple[Any, ...]] = set()
    for module in model.modules():
        for shape, most in _taken_by(module.settings):
            if (shape, most is None) not in seen:
                seen.add((shape, most is None))
                yield {**switches, **drawn, **{each: _array(shape, most) for each in tensors}}


def _array(shape: tuple[int, ...], most: int | None) -> Any:
    jax, numpy = libraries.library("jax"), libraries.library("numpy")
    if most is None:
        drawn = numpy.random.default_rng(1).standard_normal(shape)
        return jax.numpy.asarray(drawn, jax.numpy.float32)
    return jax.numpy.asarray((numpy.arange(numpy.prod(shape, dtype=int)) % most).reshape(shape))


def _taken_by(held: dict[str, Any]) -> Iterator[tuple[tuple[int, ...], int | None]]:
    """Yield the shapes that a layer takes, with the number that whole numbers stay below."""
    if "num_embeddings" in held:  # Equinox takes one example, nnx a batch of them
        for shape in ((LENGTH,), (ROWS, LENGTH), ()):
            yield shape, held["num_embeddings"]
    elif "kernel_size" in held:
        yield from ((shape, None) for shape in _images(held))
    else:
        features = ("in_features", "in_size", "input_size", "query_size", "num_features", "shape")
        taken = next((held[name] for name in features if name in held), None)
        last = _sizes(taken)
        if last:
            yield from ((shape, None) for shape in (last, (ROWS, *last), (ROWS, LENGTH, *last)))
        elif taken == "scalar":
            yield (), None


def _images(held: dict[str, Any]) -> Iterator[tuple[int, ...]]:
    sides = len(_sizes(held["kernel_size"]))
    for side in SIDES:
        if "in_channels" in held:
            channels = (held["in_channels"], *[side] * sides)
            yield channels
            yield (ROWS, *channels)
        elif "in_features" in held:
            yield (ROWS, *[side] * sides, held["in_features"])


def _sizes(value: Any) -> tuple[int, ...]:
    if is_number(value):
        return (value,)
    return tuple(value) if is_list(value) and all(map(is_number, value)) else ()
