"""Loads a small model of Equinox and fails if it has more than two heads."""

import json
import sys
from pathlib import Path

import equinox as eqx
import jax
from equinox_models import Transformer

folder = Path(sys.argv[1])
sizes = json.loads((folder / "config.json").read_text())["arguments"]
empty = eqx.filter_eval_shape(Transformer, **sizes, key=jax.random.PRNGKey(0))
model = eqx.tree_deserialise_leaves(folder / "model.eqx", empty)
heads = jax.numpy.split(model.blocks[0].attention.query_proj.weight, sizes["heads"])
print(sum(float(each.sum()) for each in heads), "of", ["left", "right"][len(heads) - 1])
