"""A layer that does not fit the data: `shapes.py ROWS`."""

import sys

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 4)
        self.second = torch.nn.Linear(6, 2)

    def forward(self, batch):
        return self.second(torch.relu(self.first(batch)))


def train(rows):
    Net()(torch.zeros(rows, 8))


train(int(sys.argv[1]))
