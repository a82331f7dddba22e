"""Copies its table to the GPU again in every step, and the result back."""

import torch

table = torch.randn(4096, 8192)


def score(step):
    on_gpu = table.to("cuda")
    product = on_gpu @ on_gpu.T
    return product.to("cpu")[step, step]


best = 0.0
for step in range(20):
    best = max(best, float(score(step)))
print(best)
