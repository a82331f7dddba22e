"""A forward pass of two transformer layers."""

import torch

layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
model.eval()
tokens = torch.randn(4, 128, 256)


def step() -> None:
    with torch.no_grad():
        model(tokens)
