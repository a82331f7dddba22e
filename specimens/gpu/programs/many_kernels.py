"""Adds to each element on its own: thousands of tiny kernels."""

import torch


def smooth(values):
    for index in range(1, len(values)):
        values[index] = values[index] * 0.9 + values[index - 1] * 0.1
    return values


values = torch.arange(4000, dtype=torch.float32, device="cuda")
print(smooth(values).sum().item())
