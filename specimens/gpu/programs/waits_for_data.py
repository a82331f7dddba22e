"""Trains on a GPU that mostly waits: each batch is made on the CPU, by Python."""

import random

import torch


def make_batch(generator):
    rows = [[generator.random() for _ in range(256)] for _ in range(256)]
    return torch.tensor(rows)


def train(steps):
    generator = random.Random(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1)
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    total = 0.0
    for _ in range(steps):
        batch = make_batch(generator).cuda()
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


print(train(60))
