"""Render the pages of a report in processes, and keep a journal meanwhile."""

import multiprocessing

import journal

PAGES = ["cover", "summary", "sales", "appendix"]


def render(page, done):
    journal.note(f"rendering {page}")
    text = "\n".join(f"{page} line {number}" for number in range(200))
    journal.flush()
    done.put((page, len(text)))


def main():
    context = multiprocessing.get_context("fork")
    journal.start()
    journal.note("begin")
    journal.flush()
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
