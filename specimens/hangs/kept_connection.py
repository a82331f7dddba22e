"""Hangs: whoever finds nothing leaves with the connection; the next one waits for it."""

import queue

IDLE: queue.Queue[object] = queue.Queue()
PAGES = {"a": "one", "b": "two"}


def fetch(path: str) -> str:
    connection = IDLE.get()
    page = PAGES.get(path)
    if page is None:
        return ""
    IDLE.put(connection)
    return page


IDLE.put(object())
for name in ["a", "b", "c", "a"]:
    fetch(name)
