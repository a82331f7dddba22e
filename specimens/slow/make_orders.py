"""Writes a log of orders, a line of JSON each: `python make_orders.py orders.jsonl`."""

import json
import random
import sys

CUSTOMERS, ORDERS = 2_000, 20_000


def main() -> None:
    choose = random.Random(0)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        for number in range(ORDERS):
            order = {
                "order": number,
                "customer": f"customer-{choose.randrange(CUSTOMERS):05}",
                "price": choose.randint(1, 500),
                "count": choose.randint(1, 9),
            }
            file.write(json.dumps(order) + "\n")


if __name__ == "__main__":
    main()
