"""Loads a small model of flax.nnx and fails if it has more than two heads."""

import json
import sys
from pathlib import Path

import jax
import orbax.checkpoint as ocp
from flax import nnx
from nnx_models import Transformer

folder = Path(sys.argv[1]).absolute()
sizes = json.loads((folder / "config.json").read_text())["arguments"]
model = nnx.eval_shape(lambda: Transformer(**sizes, rngs=nnx.Rngs(0)))
with ocp.StandardCheckpointer() as file:
    nnx.update(model, file.restore(folder / "state", nnx.state(model)))
heads = jax.numpy.split(model.blocks[0].attention.query.kernel, sizes["heads"], axis=1)
print(sum(float(each.sum()) for each in heads), "of", ["left", "right"][len(heads) - 1])
