"""Sorts more records than it wants to hold: runs of them in temporary files, then a merge."""

import heapq
from collections.abc import Iterator

from spool import Spool

RECORDS, RUN = 60_000, 5_000


def records() -> Iterator[str]:
    number = 7
    for _ in range(RECORDS):
        number = number * 48271 % 2147483647
        yield f"{number:010d} customer-{number % 977:03d} " + "x" * 40


def batches() -> Iterator[list[str]]:
    batch: list[str] = []
    for record in records():
        batch.append(record)
        if len(batch) == RUN:
            yield batch
            batch = []
    if batch:
        yield batch


def main() -> None:
    spool = Spool()
    for batch in batches():
        spool.add(batch)
    count = sum(1 for _ in heapq.merge(*spool))
    print(f"{count} records in order")


main()
