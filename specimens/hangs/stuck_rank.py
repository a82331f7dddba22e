"""Four ranks of which one saves a checkpoint to a place that never takes it; the others wait for it.

The place is a FIFO that nobody reads, named by the first argument.
"""

import multiprocessing
import sys
from multiprocessing.synchronize import Barrier

RANKS = 4
STUCK = 2


def all_reduce(barrier: Barrier) -> None:
    barrier.wait()


def save(path: str) -> None:
    with open(path, "wb") as file:
        file.write(b"weights")


def train(rank: int, barrier: Barrier, path: str) -> None:
    if rank == STUCK:
        save(path)
    all_reduce(barrier)


if __name__ == "__main__":
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(RANKS)
    ranks = [fork.Process(target=train, args=(n, barrier, sys.argv[1])) for n in range(RANKS)]
    for each in ranks:
        each.start()
    print("training", flush=True)
    for each in ranks:
        each.join()
