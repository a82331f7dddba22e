"""Counts the comments in a configuration."""

import sys

from clib import CFile


def comments(lines: list[bytes]) -> int:
    return sum(line.startswith(b"#") for line in lines)


def main() -> None:
    file = CFile(sys.argv[1] if len(sys.argv) > 1 else __file__)
    lines = file.lines()
    file.close()
    print(comments(lines), "of", len(lines))


main()
