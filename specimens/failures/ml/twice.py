"""A graph that was freed."""

import torch


def step(loss):
    loss.backward()


loss = (torch.ones(2, requires_grad=True) ** 2).sum()
step(loss)
step(loss)
