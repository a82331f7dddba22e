"""The first of three downloads ends last, and each page is paired with the name of another."""

import threading
from multiprocessing.pool import ThreadPool

others_are_done = threading.Event()


def download(name: str) -> int:
    if name == "atlas":
        others_are_done.wait()
    elif name == "cantata":
        others_are_done.set()
    return len(name)


def sizes_of(names: list[str]) -> dict[str, int]:
    with ThreadPool(3) as pool:
        return dict(zip(names, pool.imap_unordered(download, names)))


sizes = sizes_of(["atlas", "ballads", "cantata"])
if sizes["atlas"] != 5:
    raise SystemExit(f"atlas has {sizes['atlas']} pages")
