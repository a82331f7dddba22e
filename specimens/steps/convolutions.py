"""A step of a convolutional network: forward and backward."""

import torch

model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Conv2d(32, 64, 3, padding=1), torch.nn.BatchNorm2d(64), torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 10),
)  # fmt: skip
images, labels = torch.randn(16, 3, 64, 64), torch.zeros(16, dtype=torch.long)


def step() -> None:
    model.zero_grad()
    torch.nn.functional.cross_entropy(model(images), labels).backward()
