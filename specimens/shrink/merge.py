"""Merge low-rank adapters into the weights of a model: python merge.py FILE"""

import sys

import numpy
from safetensors.numpy import load_file

tensors = load_file(sys.argv[1])
for name in sorted(tensors):
    if name.endswith(".lora_A"):
        layer = name.removesuffix(".lora_A")
        change = tensors[layer + ".lora_B"] @ tensors[name]
        if numpy.isnan(change).any():
            raise FloatingPointError("a merged weight is not a number")
        if layer + ".weight" in tensors:
            tensors[layer + ".weight"] += change
print(len(tensors))
