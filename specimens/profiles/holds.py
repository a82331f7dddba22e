"""Holds blocks of one line, frees those of another one, and ends as it is told."""

import os
import sys


def keep(count):
    return [bytes(10_000) for _ in range(count)]


def drop(count):
    return len([bytes(10_000) for _ in range(count)])


def main():
    drop(100)
    rows = keep(2_000)
    if sys.argv[1:] == ["killed"]:
        os.kill(os.getpid(), 9)
    return len(rows)


main()
sys.exit(4)
