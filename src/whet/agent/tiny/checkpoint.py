"""`--keep-weights`: what the configuration says of the layers, and whether the copied ones load."""

from __future__ import annotations

import json
from typing import Any, Optional

from . import fields, skeleton, tokenizer
from .refusals import brief
from .torch_models import inputs, transformers_models
from .torch_models.checks import TorchChecks

_SHOWN = 3
_FAULTS = ("missing_keys", "unexpected_keys", "mismatched_keys")


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the whole configuration; with a folder of copied layers, what became of it."""
    reference = transformers_models.read_reference(request)
    tokens = tokenizer.tokenizer_for(reference, request)
    if "copied" in request:
        return _loaded(reference, str(request["copied"]), tokens)
    return {
        "settings": json.loads(json.dumps(reference.tree, default=str)),
        "numbers": [] if tokens is None else tokens.numbers,
        "tables": [] if tokens is None else _tables(reference, tokens.tree),
    }


def _tables(reference: Any, tree: Any) -> list[list[Any]]:
    """Return the tensors with a row for each token: name, shape, and the place of the rows in it."""
    before = reference.build(reference.tree).state_dict()
    after = reference.build(tree).state_dict()
    return [
        [name, list(each.shape), axis]
        for name, each in before.items()
        for axis, length in enumerate(each.shape)
        if name in after and after[name].shape[axis] != length
    ]


def _loaded(
    reference: Any, folder: str, tokens: Optional[tokenizer.ModelTokenizer]
) -> dict[str, Any]:
    whole = reference.build(reference.tree)
    if tokens is not None:
        tokens.write(folder)
        tokens.rewrite(folder, reference.tree)
    told: dict[str, Any] = {
        "class": reference.name,
        "params": 0,
        "reference_params": skeleton.size(whole),
        "changes": [],
        "checks": [],
        "fits": False,
    }
    try:
        model, found = reference.model_class.from_pretrained(folder, output_loading_info=True)
    except Exception as error:  # whatever the user's libraries raise
        return {**told, "checks": [_check("load", brief(error))]}
    faults = [
        "%s: %s" % (kind.replace("_", " "), _some(found.get(kind)))
        for kind in _FAULTS
        if found.get(kind)
    ]
    model.eval()
    done = TorchChecks(model, inputs.made_inputs(model))
    done.results.append(_check("load", "; ".join(faults)))
    done.run("forward", done.forward)
    done.run("generate", done.generate)
    done.run("shared weights", lambda: _same_shared(whole, model))
    if tokens is not None:
        done.run("tokenizer", lambda: tokens.compared(folder))
        done.run("rows of embeddings", lambda: tokens.rows(model))
    new = model.config.to_dict()
    return {
        **told,
        "params": skeleton.size(model),
        "changes": [
            list(each) for each in fields.differences(reference.tree, new) if _is_told(each[0])
        ],
        "checks": done.results,
        "tokenizer": None if tokens is None else tokens.facts(),
        "fits": not faults,
    }


def _same_shared(whole: Any, model: Any) -> str:
    before, now = skeleton.shared(whole), skeleton.shared(model)
    assert before == now, "shared in the reference: %s; now: %s" % (before, now)
    return "" if before else "nothing is shared"


def _check(name: str, why: str) -> dict[str, str]:
    return {"name": name, "state": "failed" if why else "ok", "why": why}


def _is_told(field: str) -> bool:
    return field not in ("transformers_version", "dtype", "torch_dtype")


def _some(keys: Any) -> str:
    names = sorted(each if isinstance(each, str) else str(each[0]) for each in keys)
    more = " and %d more" % (len(names) - _SHOWN) if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
