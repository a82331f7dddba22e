"""Four workers book tickets; each books what is left, and some bookings are lost."""

import threading


class Office:
    """Sells tickets from a common stock."""

    def __init__(self, stock: int) -> None:
        self.stock = stock
        self.sold: list[str] = []

    def book(self, who: str) -> None:
        """Sell one ticket."""
        left = self.stock
        self.sold.append(who)
        self.stock = left - 1


def work(office: Office, who: str, count: int) -> None:
    """Book so many tickets."""
    for _ in range(count):
        office.book(who)


def main() -> None:
    """Let four workers book, and count what is left."""
    office = Office(stock=100)
    workers = [
        threading.Thread(target=work, args=(office, name, 20)) for name in ("ada", "bo", "cy", "di")
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert office.stock == 20, "bookings were lost"


if __name__ == "__main__":
    main()
