"""Writes many bytes as fast as it can, with no end of line, then tells how many on stderr."""

import os
import sys

size = int(sys.argv[1])
block = b"\xff\xfe\x00whet" * 16384
left = size
while left:
    left -= os.write(1, block[: min(left, len(block))])
os.write(2, str(size).encode())
