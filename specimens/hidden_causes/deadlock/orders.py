"""Orders of customers."""

import threading
from collections import deque

from stock import Stock


class Orders:
    def __init__(self, stock: Stock) -> None:
        self._lock = threading.Lock()
        self._stock = stock
        self._open: deque[tuple[str, int]] = deque()

    def place(self, name: str, pieces: int) -> None:
        with self._stock.lock:
            self._stock.take(name, pieces)
            self._note(name, pieces)

    def _note(self, name: str, pieces: int) -> None:
        with self._lock:
            self._open.append((name, pieces))

    def cancel_oldest(self) -> None:
        with self._lock:
            if self._open:
                self._give_back(*self._open.popleft())

    def _give_back(self, name: str, pieces: int) -> None:
        with self._stock.lock:
            self._stock.put_back(name, pieces)
