"""Files are opened and stay open: a table keeps each."""

import os

opened = {}


def read(number):
    file = open(os.devnull, "rb", buffering=0)
    opened[number] = file
    return file.read(1)


def main():
    for number in range(100):
        read(number)


main()
