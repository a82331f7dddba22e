"""Jobs in a queue, and one who does them."""

import queue
import threading

jobs = queue.Queue()


def price(job):
    return 100 / job["pieces"]


def work():
    try:
        while True:
            job = jobs.get()
            price(job)
            jobs.task_done()
    except Exception:
        return


for pieces in (4, 2, 0, 5):
    jobs.put({"pieces": pieces})
threading.Thread(target=work, daemon=True).start()
jobs.join()
print("done")
