"""A corpus in many small files."""

from collections.abc import Iterator
from pathlib import Path


class Shard:
    def __init__(self, path: Path) -> None:
        self._file = path.open(encoding="utf-8")
        self.title = self._file.readline().strip()

    def words(self) -> Iterator[str]:
        for line in self._file:
            yield from line.split()


class Corpus:
    def __init__(self, folder: Path) -> None:
        self._shards = [Shard(path) for path in sorted(folder.glob("*.txt"))]

    def __iter__(self) -> Iterator[Shard]:
        return iter(self._shards)

    def __len__(self) -> int:
        return len(self._shards)
