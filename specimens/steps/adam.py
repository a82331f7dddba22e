"""A training step with Adam, which most of its time moves parameters and state."""

import torch

model = torch.nn.Sequential(torch.nn.Linear(1024, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 1024))
optimizer = torch.optim.Adam(model.parameters())
batch = torch.randn(32, 1024)


def step() -> None:
    optimizer.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
