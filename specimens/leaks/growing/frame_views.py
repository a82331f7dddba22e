"""The head of each table is kept: a view, so that the whole table stays."""

import numpy
import pandas

heads = {}


def load(number):
    table = pandas.DataFrame({"a": numpy.arange(20000.0) + number})
    heads[number] = table.iloc[:3]
    return table["a"].sum()


def main():
    return sum(load(number) for number in range(3)) + loop()


def loop():
    total = 0.0
    for number in range(60):
        total += load(number + 3)
    return total


print(main())
