"""Half precision overflows in a product, and the loss becomes NaN a few lines later."""

import torch

torch.manual_seed(0)
features = torch.randn(64, 256, device="cuda") * 400
layer = torch.nn.Linear(256, 256).cuda()

with torch.autocast("cuda", dtype=torch.float16):
    hidden = layer(features)
    scores = hidden @ hidden.T
    weights = scores - scores.max()
    loss = weights.mean()
assert torch.isfinite(loss), f"the loss is {loss.item()}"
print(loss.item())
