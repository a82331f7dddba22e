"""The code under test."""


def total(basket):
    return sum(item["price"] for item in basket)
