"""What calls of the user's models take."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any, Callable

from .refusals import RefusedError, brief

ROWS, LENGTH = 2, 8
SIDES = (32, 28, 64, 96, 128, 224)
"""Of images, as a model may take one size alone."""

_ANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_OFF = re.compile(r"^(is_)?(train|training|decode|return_\w+|output_\w+)$")
_ON = re.compile(r"^(is_)?(deterministic|inference|eval|evaluate)$")


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
