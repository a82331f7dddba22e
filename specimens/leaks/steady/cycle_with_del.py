"""Nodes of a cycle count in `__del__` that they are gone; the collector frees them."""

import collections

CLOSED = collections.Counter()


class Node:
    def __init__(self, number):
        self.number = number
        self.data = bytearray(2000)
        self.peer = None

    def __del__(self):
        CLOSED["nodes"] += 1


def link(number):
    one, other = Node(number), Node(-number)
    one.peer, other.peer = other, one
    return one.number + other.number


def main():
    for number in range(1, 300):
        link(number)


main()
