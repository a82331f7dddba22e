"""Sums of money by region, kept by whoever reads the sales."""

import threading
from decimal import Decimal


class Tally:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[str, Decimal] = {}
        self._lines = 0

    def count_line(self) -> None:
        with self._lock:
            self._lines += 1

    def add(self, region: str, amount: Decimal) -> None:
        known = self._sums.get(region, Decimal(0))
        self._sums[region] = self._rounded(known + amount)

    def _rounded(self, amount: Decimal) -> Decimal:
        return amount.quantize(Decimal("0.01"))

    @property
    def total(self) -> Decimal:
        return sum(self._sums.values(), Decimal(0))

    @property
    def lines(self) -> int:
        return self._lines
