"""How many bytes each customer keeps in the archive."""

import numpy as np

from usage import load, per_customer


def main():
    customers, sizes = load("usage.csv")
    totals = per_customer(customers, sizes)
    for customer, total in sorted(totals.items()):
        assert total >= 0, f"{customer} keeps {total} bytes"
        print(f"{customer:<8}{total / 1e9:8.2f} GB")
    print("mean", np.mean(list(totals.values())) / 1e9)


if __name__ == "__main__":
    main()
