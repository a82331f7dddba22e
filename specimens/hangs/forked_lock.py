"""A process that is forked while a thread of its parent holds the lock which it takes."""

import multiprocessing
import threading

LOCK = threading.Lock()
taken = threading.Event()
over = threading.Event()


def hold() -> None:
    with LOCK:
        taken.set()
        over.wait()


def work() -> None:
    with LOCK:
        print("in")


if __name__ == "__main__":
    threading.Thread(target=hold, name="holder").start()
    taken.wait()
    child = multiprocessing.get_context("fork").Process(target=work, name="worker")
    child.start()
    over.set()
    child.join()
