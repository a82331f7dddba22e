"""A compiled function that meets another constant, and so is compiled anew, each time."""

import torch


@torch.compile
def scaled(values, factor):
    return (values * factor.scale).sum()


class Factor:
    def __init__(self, scale):
        self.scale = scale


values = torch.ones(1000, device="cuda")
print(sum(float(scaled(values, Factor(f"{n}" and n * 0.5))) for n in range(6)))
