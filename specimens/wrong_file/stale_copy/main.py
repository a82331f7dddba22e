"""Prices with a discount, which the copy of the package in `vendor` does not know yet."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "vendor"))

from shop.prices import price

print(price(100, discount=0.1))
