"""What `pkg.mod:name` names: a class, or a model or estimator that a function makes or a module holds."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from typing import Any, Optional

from . import constructors, libraries
from .jax_models import frameworks
from .refusals import RefusedError, brief

_PICKLES = (".pkl", ".pickle", ".joblib")


class Named:
    """Something that a module of the user's holds or makes.

    Attributes:
        name: `pkg.mod:name`.
        value: the class, or what the function made.
        function: the function; None: the module holds the value itself.
        expression: what makes it in the user's program.
    """

    def __init__(self, name: str, value: Any, function: Any, expression: str) -> None:
        self.name = name
        self.value = value
        self.function = function
        self.expression = expression

    @property
    def is_estimator(self) -> bool:
        """Whether it can be fitted and says its parameters."""
        return not isinstance(self.value, type) and _has_parameters(self.value)


def named(request: dict[str, Any]) -> Optional[Named]:
    """Return what a request names in a module; None: it names a folder, or a class of a library.

    Raises:
        RefusedError: if it can't be had, or names a pickle, which would run code.
    """
    name = str(request["model"])
    if name.endswith(_PICKLES) and os.path.exists(name):
        raise RefusedError(
            "usage",
            "`%s` is a pickle, which runs code when it is read, so whet doesn't read it" % name,
            "name the function that makes the estimator: `whet tiny train:pipeline`",
        )
    if ":" not in name or request.get("may_download") or os.path.exists(name):
        return None
    found = libraries.imported(name)
    settings = dict(request.get("settings") or {})
    own = name.rpartition(":")[2]
    if isinstance(found, type):
        if not _has_parameters(found):
            return Named(name, found, None, own)
        return Named(name, _called(own, found, settings), None, _call(own, settings))
    if _has_parameters(found):
        try:
            found.set_params(**settings)
        except Exception as error:
            raise RefusedError("usage", brief(error), "check `--set`") from error
        return Named(name, found, None, own)
    if inspect.isroutine(found):
        return Named(name, _called(own, found, settings), found, _call(own, settings))
    return Named(name, found, None, own)


def _has_parameters(found: Any) -> bool:
    return all(hasattr(found, each) for each in ("get_params", "set_params", "fit"))


def _call(own: str, settings: dict[str, Any]) -> str:
    return "%s(%s)" % (own, ", ".join("%s=%r" % item for item in settings.items()))


def _called(own: str, function: Any, settings: dict[str, Any]) -> Any:
    drawn = frameworks.drawn_with(function, settings)
    made = constructors.constructor(function, settings, drawn)
    try:
        with _without_memory():
            return function(**made.arguments(made.tree), **drawn)
    except Exception as error:
        raise RefusedError(
            "unknown",
            "`%s` makes nothing: %s" % (own, brief(error)),
            "check `--set` and `--python`",
        ) from error


def _without_memory() -> Any:
    """Return a block in which torch, where the user's module uses it, makes models without memory."""
    torch = sys.modules.get("torch")
    return contextlib.nullcontext() if torch is None else torch.device("meta")
