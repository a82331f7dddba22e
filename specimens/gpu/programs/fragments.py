"""Takes blocks of growing size and lets go of every second one, in named functions."""

import torch


def load_embeddings():
    return torch.zeros(64 << 20, dtype=torch.float32, device="cuda")


def make_caches():
    return [torch.zeros((3 + n) << 18, dtype=torch.float32, device="cuda") for n in range(40)]


embeddings = load_embeddings()
caches = make_caches()
kept = caches[::2]
del caches
biggest = torch.zeros(32 << 20, dtype=torch.float32, device="cuda")
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
