"""A pool of which a worker is killed, as by the kernel for want of memory: its task is lost."""

import multiprocessing
import os
import signal


def work(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(pool.map(work, range(5), chunksize=1))
