"""The running loss is a number."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
running = 0.0


def train_step():
    global running
    optimizer.zero_grad()
    batch = torch.randn(32, 64)
    loss = model(batch).pow(2).mean()
    loss.backward()
    optimizer.step()
    running = running + loss.item()
    return loss.item()


for _ in range(60):
    train_step()
print(running)
