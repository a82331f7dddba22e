"""Sections and marks around GPU work."""

import torch
import whet


@whet.annotate("step")
def step(weights):
    with whet.section("product"):
        return weights @ weights


with whet.section("load"):
    weights = torch.randn(2048, 2048, device="cuda")
with whet.capture():
    for _ in range(20):
        weights = step(weights).clamp(-1, 1)
torch.cuda.synchronize()
print(weights.sum().item())
