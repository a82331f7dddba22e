"""A test session with failures; named so that whet's own session does not collect it."""

import shop


def test_total():
    assert shop.total([{"price": 2}]) == 3


def test_of_missing_price():
    shop.total([{"cost": 2}])


def test_of_nothing():
    assert shop.total([]) == 0
