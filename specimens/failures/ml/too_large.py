"""More memory than there is: `too_large.py BYTES`."""

import sys

import torch


def allocate(count):
    return torch.empty(count, dtype=torch.uint8)


allocate(int(sys.argv[1]))
