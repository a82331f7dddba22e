"""Starts ranks of a job that meet at the end of each step; the last rank computes for longer."""

import os
import subprocess
import sys
import time


def compute(seconds):
    begun = time.process_time()
    while time.process_time() - begun < seconds:
        sum(number * number for number in range(1000))


def meet():
    os.write(1, b"x")  # this rank is there
    os.read(0, 1)  # until all are


def step(rank, last):
    compute(1.5 if rank == last else 0.1)
    meet()


if __name__ == "__main__":
    count = int(sys.argv[1])
    if "RANK" in os.environ:
        step(int(os.environ["RANK"]), count - 1)
    else:
        ranks = [
            subprocess.Popen(
                [sys.executable, *sys.argv],
                env={**os.environ, "RANK": str(rank)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for rank in range(count)
        ]
        for each in ranks:
            each.stdout.read(1)
        for each in ranks:
            each.stdin.write(b"x")
            each.stdin.flush()
        sys.exit(max(each.wait() for each in ranks))
