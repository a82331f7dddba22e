"""Opens one shard after the other and keeps them all."""

import resource
import sys
from pathlib import Path

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def load(path: Path) -> object:
    return path.open("rb")


def main(folder: Path) -> None:
    shards: list[object] = []
    for number in range(1000):
        path = folder / f"shard-{number}.bin"
        path.touch()
        shards.append(load(path))


main(Path(sys.argv[1]))
