"""A column that is not there."""


def price_of(row):
    return row["price"]


def load(rows):
    return [price_of(row) for row in rows]


load([{"price": 1}, {"cost": 2}])
