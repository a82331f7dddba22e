"""Looks tokens from a file up in an embedding; one of them is beyond its vocabulary."""

import sys
from pathlib import Path

import torch


def tokens_of(path):
    return [int(word) for word in Path(path).read_text().split()]


def embed(path):
    return torch.nn.Embedding(100, 16)(torch.tensor(tokens_of(path)))


print(embed(sys.argv[1]).shape)
