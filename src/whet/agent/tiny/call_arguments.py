"""What constructors and calls of the user's classes take."""

from __future__ import annotations

import inspect
import re
from collections.abc import Container, Iterable
from typing import Any, Callable

from . import fields
from .refusals import RefusedError, brief

ROWS, LENGTH = 2, 8
SIDES = (32, 28, 64, 96, 128, 224)
"""Of images, as a model may take one size alone."""

_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_OFF = re.compile(r"^(is_)?(train|training|decode|return_\w+|output_\w+)$")
_ON = re.compile(r"^(is_)?(deterministic|inference|eval|evaluate)$")


def constructor_arguments(
    found: Any, settings: dict[str, Any], others: Container[str] = ()
) -> dict[str, Any]:
    """Return what a constructor or function is called with: plain defaults, and what the user sets.

    Args:
        found: the constructor or function.
        settings: what the user sets.
        others: arguments that whet gives.

    Raises:
        RefusedError: if it doesn't take something, or needs more.
    """
    parameters = signature(found).parameters
    known = {
        name: each
        for name, each in parameters.items()
        if each.kind is not each.VAR_POSITIONAL and name not in others
    }
    takes_any = any(each.kind is each.VAR_KEYWORD for each in known.values())
    unknown = [name for name in settings if name not in known and not takes_any]
    if unknown:
        raise RefusedError(
            "usage", "`%s` takes no `%s`" % (found.__name__, unknown[0]),
            "it takes: %s" % ", ".join(known),
        )  # fmt: skip
    given = {
        name: each.default
        for name, each in known.items()
        if each.default is not each.empty and is_plain(each.default)
    }
    given.update(settings)
    missing = [
        name
        for name, each in known.items()
        if each.default is each.empty and name not in given and each.kind is not each.VAR_KEYWORD
    ]
    if missing:
        raise RefusedError(
            "usage", "`%s` needs `%s`" % (found.__name__, "`, `".join(missing)),
            "give the sizes of the real one: `--set %s=VALUE`" % missing[0],
        )  # fmt: skip
    return given


def signature(found: Any) -> inspect.Signature:
    """Return what a function or a constructor takes; a metaclass may hide that of a class."""
    shown = inspect.signature(found)
    if isinstance(found, type) and all(each.kind in _ANY for each in shown.parameters.values()):
        made: Any = found
        own = inspect.signature(made.__init__)
        return own.replace(parameters=list(own.parameters.values())[1:])
    return shown


def has_sizes(arguments: dict[str, Any]) -> bool:
    """Whether a whole number is among the arguments."""
    return any(True for _ in fields.numbers(arguments))


def is_plain(value: Any) -> bool:
    """Whether a value can be written as JSON."""
    return value is None or isinstance(value, (bool, int, float, str, list, tuple, dict))


def taken(call: Any) -> tuple[list[str], dict[str, Any]]:
    """Return which arguments a call needs: those that take tensors, and switches with their values."""
    tensors: list[str] = []
    switches: dict[str, Any] = {}
    for name, each in inspect.signature(call).parameters.items():
        if each.default is not each.empty or each.kind in _ANY:
            continue
        is_bool = each.annotation in (bool, "bool")
        if is_bool or _OFF.match(name) or _ON.match(name):
            switches[name] = bool(_ON.match(name))
        else:
            tensors.append(name)
    return tensors, switches


def first_that_runs(
    candidates: Iterable[dict[str, Any]],
    call: Callable[[dict[str, Any]], object],
    name: str,
    takes: str,
) -> dict[str, Any]:
    """Return the first inputs with which a model runs.

    Args:
        candidates: inputs by name.
        call: calls the model, and raises if they don't fit.
        name: what the model is called.
        takes: what has to be true of it, for the hint.

    Raises:
        RefusedError: if there are none.
    """
    last: BaseException | None = None
    for given in candidates:
        try:
            call(given)
        except Exception as error:
            last = error
        else:
            return given
    why = "it takes no arguments" if last is None else brief(last)
    raise RefusedError(
        "unsolved", "no input was found with which `%s` runs: %s" % (name, why),
        "check that " + takes,
    )  # fmt: skip
