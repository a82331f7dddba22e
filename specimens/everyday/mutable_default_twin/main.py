"""Orders of a small shop, with the extras that each one gets."""

from baskets import basket_of, with_gifts

ORDERS = [
    {"customer": "ada", "items": ["tea", "cup"], "gift": True},
    {"customer": "ben", "items": ["pot"], "gift": False},
    {"customer": "cleo", "items": ["tea", "pot"], "gift": True},
]


def packed(orders):
    parcels = {}
    for order in orders:
        basket = basket_of(order["items"])
        if order["gift"]:
            basket = basket + with_gifts(order["customer"])
        parcels[order["customer"]] = basket
    return parcels


def check(parcels):
    for customer, basket in parcels.items():
        assert len(basket) <= 3, f"{customer} gets {len(basket)} things"


def main():
    parcels = packed(ORDERS)
    check(parcels)
    for customer, basket in parcels.items():
        print(f"{customer}: {', '.join(basket)}")


if __name__ == "__main__":
    main()
