"""The code under test."""


def price_of(item):
    return item["price"]


def total(basket):
    return sum(map(price_of, basket))
