"""Memory that is kept for the moment at which a program has none left. Standard library only, Python 3.8 or later."""

from __future__ import annotations

_SIZES = (96 << 20, *(4 << 20,) * 6)
"""Bytes of each part; the first is for looking and writing, the others for when a look itself is short of memory."""


class SpareMemory:
    """Zeros for which the kernel gives no memory, but which a limit counts."""

    def __init__(self) -> None:
        """Take as much as there is room for."""
        self._parts: list[bytes] = []
        for size in _SIZES:
            try:
                self._parts.append(bytes(size))
            except MemoryError:
                continue

    def give_back(self) -> None:
        """Give all of it back: the program has no memory left."""
        self._parts.clear()

    def give_way(self) -> None:
        """Give a part of it back: the memory was short during a look, and not yet for the program."""
        if self._parts:
            self._parts.pop()
