"""A step of a multilayer perceptron: forward and backward."""

import torch

model = torch.nn.Sequential(
    torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512), torch.nn.ReLU()
)
batch = torch.randn(128, 512)


def step() -> None:
    model.zero_grad()
    model(batch).square().mean().backward()
