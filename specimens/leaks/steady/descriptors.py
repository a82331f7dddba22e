"""Files are opened and closed."""

import os

opened = {}


def read(number):
    with open(os.devnull, "rb", buffering=0) as file:
        opened["last"] = file
        return file.read(1)


def main():
    for number in range(100):
        read(number)


main()
