"""A batch whose candidates are made when somebody asks for them.

A sweep over a large payload has thousands of candidates, of which the first few decide. A
driver with one job reads a batch in order and stops at the first BAD one, so what it never
reads is never made.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar, overload

ItemT = TypeVar("ItemT")


class LazyBatch(Sequence[ItemT]):
    """A sequence over an iterable, read no further than asked.

    Whether it is empty costs one item; its length costs them all.
    """

    def __init__(self, source: Iterable[ItemT]) -> None:
        self._source = iter(source)
        self._items: list[ItemT] = []

    def __bool__(self) -> bool:
        return self._read(1)

    def __len__(self) -> int:
        self._items.extend(self._source)
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> ItemT: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ItemT]: ...
    def __getitem__(self, index: int | slice) -> ItemT | Sequence[ItemT]:
        if isinstance(index, slice) or index < 0:
            _ = len(self)
            return self._items[index]
        if not self._read(index + 1):
            raise IndexError(index)
        return self._items[index]

    def _read(self, count: int) -> bool:
        """Have ``count`` items; return whether there are as many."""
        while len(self._items) < count:
            try:
                self._items.append(next(self._source))
            except StopIteration:
                return False
        return True
