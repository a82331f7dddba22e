"""Reads the sales of all shops at once, and checks the books."""

import threading
from decimal import Decimal

import feed
from tally import Tally

COUNT = 12_000


def read(shop: str, tally: Tally) -> None:
    for line in feed.lines(shop, COUNT):
        _, region, amount = line.split(";")
        tally.count_line()
        tally.add(region, Decimal(amount))


def expected() -> Decimal:
    lines = [line for shop in feed.SHOPS for line in feed.lines(shop, COUNT)]
    return sum((Decimal(line.rpartition(";")[2]) for line in lines), Decimal(0))


def check(tally: Tally) -> None:
    if tally.total != expected():
        raise ValueError("the books do not balance")


def main() -> None:
    tally = Tally()
    readers = [threading.Thread(target=read, args=(shop, tally)) for shop in feed.SHOPS]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    check(tally)
    print(f"{tally.lines} lines, {tally.total} in all")


main()
