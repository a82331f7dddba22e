"""Prices, with what was delivered as a zip file."""

import sys
import zipfile
from pathlib import Path

here = Path(__file__).parent
with zipfile.ZipFile(here / "delivered.zip", "w") as archive:
    archive.writestr("prices/__init__.py", "")
    archive.writestr("prices/lamps.py", "PRICE = 30\n")
sys.path.insert(0, str(here / "delivered.zip"))
from prices.lamps import PRICE, VAT

print(PRICE * VAT)
