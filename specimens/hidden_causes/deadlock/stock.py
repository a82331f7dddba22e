"""What lies on the shelves."""

import threading


class Stock:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pieces: dict[str, int] = {"lamp": 10_000_000, "chair": 10_000_000}

    def take(self, name: str, pieces: int) -> None:
        self.pieces[name] -= pieces

    def put_back(self, name: str, pieces: int) -> None:
        self.pieces[name] += pieces
