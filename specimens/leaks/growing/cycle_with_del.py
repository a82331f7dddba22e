"""A node of a cycle comes back to life in `__del__`: it puts itself into a table of closed nodes."""

CLOSED = {}


class Node:
    def __init__(self, number):
        self.number = number
        self.data = bytearray(2000)
        self.peer = None

    def __del__(self):
        CLOSED[self.number] = self


def link(number):
    one, other = Node(number), Node(-number)
    one.peer, other.peer = other, one
    return one.number + other.number


def main():
    for number in range(1, 300):
        link(number)


main()
