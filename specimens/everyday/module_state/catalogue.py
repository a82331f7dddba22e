"""Prices of articles, with a discount that the season sets."""

PRICES = {"lamp": 40.0, "chair": 75.0, "rug": 120.0}
SETTINGS = {"discount": 0.0, "currency": "EUR"}


def configure(**changes):
    SETTINGS.update(changes)


def price(article):
    return round(PRICES[article] * (1 - SETTINGS["discount"]), 2)


def label(article):
    return f"{article}: {price(article):.2f} {SETTINGS['currency']}"
