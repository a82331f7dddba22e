"""Trains a distance with torch; the gradient is no number at the very first step."""

import torch


def distance(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return how far apart two points are."""
    return torch.sqrt(((one - other) ** 2).sum())


def main() -> None:
    """Take three steps from where there is no way to go."""
    place = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.SGD([place], lr=0.1)
    for _ in range(3):
        loss = distance(place, torch.zeros(2)) + (place * 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if not torch.isfinite(loss):
        raise ValueError(f"the loss is {loss.item()}")


if __name__ == "__main__":
    main()
