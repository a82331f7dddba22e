"""Never ends its epoch."""

import torch


def train_for_ever():
    weight = torch.ones(256, 256)
    while True:
        weight = torch.tanh(weight @ weight)


train_for_ever()
