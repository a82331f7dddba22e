"""Three ranks average their gradients; the samples are not a multiple of three."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from data import shard

RANKS, SAMPLES = 3, 10


def average(model: torch.nn.Module) -> None:
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= RANKS


def epoch(model: torch.nn.Module, rank: int) -> None:
    for sample in shard(rank, RANKS, SAMPLES):
        model.zero_grad()
        model(sample).sum().backward()
        average(model)


def save(model: torch.nn.Module, rank: int) -> None:
    dist.barrier()
    if rank == 0:
        print("saved", sum(parameter.numel() for parameter in model.parameters()))


def work(rank: int) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=os.environ["PORT"], RANK=str(rank))
    torch.manual_seed(0)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    model = torch.nn.Linear(4, 2)
    epoch(model, rank)
    save(model, rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        os.environ["PORT"] = str(free.getsockname()[1])
    print("training", flush=True)
    mp.spawn(work, nprocs=RANKS)
