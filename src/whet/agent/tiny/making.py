"""`whet tiny`: a model with the same architecture and almost no parameters, and the proof of it."""

from __future__ import annotations

import copy
import os
from typing import Any, Optional

from . import factories, fields, instances, skeleton, token_ids, tokenizer
from .estimators import making as estimators
from .jax_models import frameworks
from .jax_models import reference as jax_reference
from .refusals import RefusedError, brief
from .solver import Model, Solver
from .torch_models import modules, number_types, transformers_models

MOST_PARAMS = 100_000
FOR_REAL = 3_000_000


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Make the model that a request names, and say what became of it."""
    found = factories.named(request)
    if found is not None and found.is_estimator:
        return estimators.made(found, request)
    return made(read_reference(request, found), request, str(request["output"]))


def read_reference(request: dict[str, Any], found: Optional[factories.Named]) -> Any:
    """Return the model that a request names: modules of a class, or a model of transformers."""
    if found is not None:
        reference = _of_module(found, dict(request.get("settings") or {}))
        if reference is not None:
            return reference
    return transformers_models.read_reference(request)


def _of_module(found: factories.Named, settings: dict[str, Any]) -> Any:
    """Return the model that a module names; None: a class that transformers knows."""
    value = found.value
    framework = frameworks.framework_of(value)
    if framework is not None:
        return _of_jax(found, settings, framework)
    own_class = value if isinstance(value, type) else type(value)
    if any(base.__module__.startswith("flax.linen.") for base in own_class.__mro__):
        raise RefusedError(
            "unknown",
            "`%s` is a module of flax.linen, which whet can't make smaller" % found.name,
            "write it with flax.nnx, or make it with small numbers yourself: a linen module takes its sizes as fields",
        )
    if isinstance(value, type):
        is_own = not hasattr(value, "config_class") and modules.is_module_class(value)
        return modules.ModuleReference(found.name, value, settings) if is_own else None
    if not modules.is_module(value):
        raise RefusedError(
            "unknown",
            "`%s` gives a value of type %s, which is neither a model nor an estimator"
            % (found.name, type(value).__name__),
            "name what gives a module of torch, flax.nnx or Equinox, or what has `get_params` and `fit`",
        )
    if hasattr(value, "config_class"):
        return transformers_models.of_model(value, {} if found.function else settings)
    return instances.reference_of(found, settings, modules.ModuleReference)


def _of_jax(found: factories.Named, settings: dict[str, Any], framework: Any) -> Any:
    def reference(name: str, function: Any, given: dict[str, Any]) -> Any:
        return jax_reference.JaxReference(name, function, given, framework)

    if isinstance(found.value, type):
        return reference(found.name, found.value, settings)
    return instances.reference_of(found, settings, reference)


def made(reference: Any, request: dict[str, Any], folder: str) -> dict[str, Any]:
    """Find small dimensions, build the model, check it and save it into a folder."""
    given = reference.tree
    tokens = tokenizer.tokenizer_for(reference, request)
    if tokens is None:
        return written(reference, solved(reference, request), folder)
    reference.tree = tokens.tree
    fixed: dict[str, Any] = {**(request.get("fixed") or {}), **tokens.fixed}
    found = solved(reference, {**request, "fixed": fixed})
    reference.tree = given
    found.whole = reference.build(given)
    return written(reference, found, folder, tokens)


class Found:
    """Small dimensions.

    Attributes:
        tree: the configuration.
        tries: how many configurations were tried.
        whole: the reference, without memory.
        kinds: its skeleton.
        layers: for each count of layers, the places of the layers that show each kind.
    """

    def __init__(self, tree: Any, solver: Solver, whole: Any, kinds: Any) -> None:
        self.tree = tree
        self.tries = solver.tries
        self.layers = solver.chosen_layers
        self.whole = whole
        self.kinds = kinds


def solved(reference: Any, request: dict[str, Any]) -> Found:
    """Return small dimensions for a reference.

    Raises:
        RefusedError: if it can't be built, or no small dimensions fit.
    """
    try:
        whole = reference.build(reference.tree)
    except Exception as error:  # whatever the user's libraries raise
        raise RefusedError(
            "unsolved",
            "`%s` can't be built as it is: %s" % (reference.name, brief(error)),
            "check its configuration, or set what is missing: `--set NAME=VALUE`",
        ) from error
    wanted = skeleton.skeleton(whole)
    kinds = skeleton.layer_kinds(whole)

    def complaint(tree: Any, *, must_run: bool) -> str:
        return _complaint(reference, wanted, inside(tree), must_run=must_run)

    model = Model(
        reference.tree,
        shapes=lambda tree: skeleton.shapes(reference.build(inside(tree))),
        complaint=complaint,
        layers=kinds,
    )
    wanted_params = request.get("params")
    solver = Solver(
        model,
        wanted_params or MOST_PARAMS,
        request.get("fixed"),
        is_least=wanted_params is None,
    )
    return Found(inside(solver.solve()), solver, whole, wanted)


def inside(tree: Any) -> Any:
    """Return a configuration with each token inside of its vocabulary."""
    tree = copy.deepcopy(tree)
    token_ids.keep_inside(tree)
    return tree


def _complaint(reference: Any, wanted: Any, tree: Any, *, must_run: bool) -> str:
    """Return why a configuration isn't the architecture of the reference, or doesn't run; or nothing."""
    try:
        model = reference.build(tree)
        other = skeleton.first_difference(wanted, skeleton.skeleton(model))
        if other or skeleton.size(model) > FOR_REAL:
            return other or ("it has too many parameters to be run" if must_run else "")
        reference.run(tree)
    except Exception as error:  # whatever the user's libraries raise
        return brief(error)
    return ""


def written(
    reference: Any,
    found: Found,
    folder: str,
    tokens: Optional[tokenizer.ModelTokenizer] = None,
) -> dict[str, Any]:
    """Build a model, save it into a folder, and say what it does and how it differs."""
    os.makedirs(folder, exist_ok=True)
    model = reference.build(found.tree, is_real=True)
    # Before a call, which may change both.
    kinds, shared = skeleton.skeleton(model), skeleton.shared(model)
    model = reference.settled(model, found.tree, folder)
    given = reference.inputs(model)
    checked = reference.checks(model, given)

    def save() -> None:
        reference.save(model, found.tree, folder)

    checked.run("forward", checked.forward)
    checked.run("backward", checked.backward)
    checked.run("generate", checked.generate)
    checked.run("save and load", lambda: checked.saved(folder, reference.load, save))
    if reference.stored:
        checked.run("types of weights", lambda: number_types.differing(folder, reference.stored))
    checked.run("same kinds of layers", lambda: _same_kinds(found.kinds, kinds))
    checked.run("shared weights", lambda: _same_shared(skeleton.shared(found.whole), shared))
    if tokens is not None:
        tokens.write(folder)
        checked.run("tokenizer", lambda: tokens.compared(folder))
        checked.run("rows of embeddings", lambda: tokens.rows(model))
    return {
        "tokenizer": None if tokens is None else tokens.facts(),
        "class": reference.name,
        "params": skeleton.size(model),
        "reference_params": skeleton.size(found.whole),
        "tries": found.tries,
        "changes": [list(each) for each in fields.differences(reference.tree, found.tree)],
        "checks": checked.results,
        "made": all(each["state"] != "failed" for each in checked.results),
    }


def _same_kinds(before: Any, now: Any) -> str:
    difference = skeleton.first_difference(before, now)
    assert not difference, difference
    return ""


def _same_shared(before: Any, now: Any) -> str:
    assert before == now, "shared in the reference: %s; now: %s" % (before, now)
    return "" if before else "nothing is shared"
