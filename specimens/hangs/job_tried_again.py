"""Hangs: a worker waits for one more job than there are; jobs that failed are put back into the queue."""

import queue

JOBS: queue.Queue[tuple[str, ...]] = queue.Queue()
DONE: list[str] = []


def work(fails: bool) -> None:
    job = JOBS.get()
    if not fails:
        DONE.extend(job)
        return
    JOBS.put(job)


JOBS.put(("a",))
for each in [True, True, True, False, False]:
    work(each)
