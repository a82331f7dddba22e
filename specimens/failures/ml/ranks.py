"""To be started by torchrun: rank 1 fails."""

import os


def train(rank):
    if rank == 1:
        raise ValueError(f"rank {rank} read a bad row")


train(int(os.environ["RANK"]))
