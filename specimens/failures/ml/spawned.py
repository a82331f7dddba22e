"""A worker of torch.multiprocessing that fails: `spawned.py WORKERS`."""

import sys

import torch.multiprocessing


def work(rank):
    raise ValueError(f"rank {rank} has no data")


if __name__ == "__main__":
    torch.multiprocessing.spawn(work, nprocs=int(sys.argv[1]))
