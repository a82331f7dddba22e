"""Spills to a temporary file, far from where that was made."""

import sys
import tempfile
from typing import IO

BLOCK = b"x" * 65536


def spill(file: IO[bytes], blocks: int) -> None:
    for _ in range(blocks):
        file.write(BLOCK)


def main(folder: str) -> None:
    with tempfile.TemporaryFile(dir=folder) as file:
        spill(file, 1000)


main(sys.argv[1])
