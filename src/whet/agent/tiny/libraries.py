"""The libraries of the user's Python."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from .refusals import RefusedError, brief


def library(name: str) -> Any:
    """Return a library of the user's.

    Raises:
        RefusedError: if it isn't installed there.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise RefusedError(
            "missing",
            "`%s` has no %s: %s" % (sys.executable, name, brief(error)),
            "name the Python of your program: `--python PATH`",
        ) from error


def torch() -> Any:
    """Return torch, on one thread: more cost time with a small model."""
    found = library("torch")
    if found.get_num_threads() > 1:
        found.set_num_threads(1)
    return found


def imported(name: str) -> Any:
    """Return what `pkg.mod:Name` names, which the user's own module in the current folder may hold.

    Raises:
        RefusedError: if it can't be imported, or isn't there.
    """
    place, _, attribute = name.partition(":")
    # Only now, as a clone can bring along a `torch.py`, which a folder with a model doesn't need.
    sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(place)
    except Exception as error:
        raise RefusedError(
            "unknown",
            "`%s` can't be imported: %s" % (place, brief(error)),
            "check the name, and `--python`",
        ) from error
    if not hasattr(module, attribute):
        import difflib

        near = difflib.get_close_matches(attribute, dir(module), 1)
        hint = "did you mean `%s:%s`?" % (place, near[0]) if near else "name a class in it"
        raise RefusedError("unknown", "`%s` has no `%s`" % (place, attribute), hint)
    return getattr(module, attribute)
