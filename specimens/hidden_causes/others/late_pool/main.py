"""Reads all parts at once, then puts them together."""

from concurrent.futures import ThreadPoolExecutor

PARTS = {"north": "12", "south": "9", "harbour": "n/a"}
sums = {}


def read(name):
    sums[name] = int(PARTS[name])


def total():
    return sum(sums[name] for name in PARTS)


with ThreadPoolExecutor() as pool:
    for name in PARTS:
        pool.submit(read, name)
print(total())
