"""Sums of bills."""


def total_of(rows):
    return round(sum(value for _, value in rows), 2)
