"""A checkpoint of another model: `checkpoint.py LAYERS`."""

import sys

import torch


def load(layers):
    model = torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in range(layers)))
    model.load_state_dict({})


load(int(sys.argv[1]))
