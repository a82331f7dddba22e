"""A table at module level drops its oldest entry when it is full."""

table = {}
LIMIT = 50


def remember(number):
    table[number] = "x" * 1000
    while len(table) > LIMIT:
        table.pop(next(iter(table)))
    return len(table)


def main():
    for number in range(400):
        remember(number)


main()
