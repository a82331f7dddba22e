"""A worker is killed in the middle of one task, and its pool says no more than that it is gone."""

import os
import signal
from concurrent.futures import ProcessPoolExecutor


def area(side: int) -> int:
    if side == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return side * side


def total(sides: range) -> int:
    with ProcessPoolExecutor(2) as pool:
        futures = [pool.submit(area, side) for side in sides]
        return sum(future.result() for future in futures)


if __name__ == "__main__":
    print(total(range(10)))
