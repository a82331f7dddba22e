"""Workers claim jobs by files that mark them; two may claim the same job."""

import multiprocessing
import os
import sys
import tempfile


def claim(folder: str, job: int) -> bool:
    """Claim a job unless somebody has."""
    mark = os.path.join(folder, f"job-{job}")
    if os.path.exists(mark):
        return False
    with open(mark, "x", encoding="utf-8") as file:
        file.write(str(os.getpid()))
    return True


def work(folder: str, ready: "multiprocessing.synchronize.Barrier") -> None:
    """Claim all jobs that are left."""
    ready.wait()
    for job in range(5):
        claim(folder, job)


def main() -> None:
    """Let two workers claim five jobs."""
    ready = multiprocessing.Barrier(2)
    with tempfile.TemporaryDirectory() as folder:
        workers = [
            multiprocessing.Process(target=work, args=(folder, ready), daemon=True)
            for _ in range(2)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    if any(worker.exitcode for worker in workers):
        sys.exit("a job was claimed twice")


if __name__ == "__main__":
    main()
