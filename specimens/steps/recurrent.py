"""A step of a recurrent network: forward and backward."""

import torch

model = torch.nn.LSTM(128, 256, num_layers=2)
sequence = torch.randn(32, 16, 128)


def step() -> None:
    model.zero_grad()
    output, _ = model(sequence)
    output.sum().backward()
