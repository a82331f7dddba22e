"""Render the pages of a report in processes, and keep a journal meanwhile."""

import multiprocessing
import threading
import time

import journal

PAGES = ["cover", "summary", "sales", "appendix"]


def render(page, done):
    journal.note(f"rendering {page}")
    text = "\n".join(f"{page} line {number}" for number in range(200))
    done.put((page, len(text)))


def main():
    context = multiprocessing.get_context("fork")
    journal.note("begin")
    flusher = threading.Thread(target=journal.flush_now_and_then, daemon=True)
    flusher.start()
    time.sleep(0.05)
    done = context.Queue()
    processes = [context.Process(target=render, args=(page, done)) for page in PAGES]
    for process in processes:
        process.start()
    sizes = dict(done.get() for _ in processes)
    for process in processes:
        process.join()
    print(sum(sizes.values()), "characters on", len(sizes), "pages")


if __name__ == "__main__":
    main()
