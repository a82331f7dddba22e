"""Trains with a learning rate that is far too large; exits with 0 all the same."""

import torch

weight = torch.ones(8, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1e6)
for step in range(8):
    loss = (weight**4).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss: {loss.item()}")
