"""The running loss is a tensor with its graph: every step's activations stay alive."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
running = torch.zeros(())


def train_step():
    global running
    batch = torch.randn(32, 64)
    loss = model(batch).pow(2).mean()
    running = running + loss
    return loss.item()


for _ in range(60):
    train_step()
print(running.item())
