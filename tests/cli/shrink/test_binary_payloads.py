"""Programs that fail on a feature of a binary payload, and the little that is left of it."""

import subprocess
import sys

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

PYTHON = sys.executable

ORDERS = """import pickle, shop
rows = [{"order": shop.Order(number), "note": "x" * 20} for number in range(200)]
rows[77]["order"].items = []
pickle.dump(rows, open("orders.pkl", "wb"))
"""
SHOP = """class Order:
    def __init__(self, number):
        self.number, self.items = number, ["a", "b"]
"""
LOAD = """import pickle, sys, shop
for each in pickle.load(open(sys.argv[1], "rb")):
    each["order"].items[0]
"""


def test_a_pickle_keeps_the_object_that_fails(whet: Whet) -> None:
    whet.write("shop.py", SHOP)
    whet.write("make.py", ORDERS)
    whet.write("load.py", LOAD)
    subprocess.run([PYTHON, "make.py"], cwd=whet.folder, check=True)

    said = whet("shrink", "orders.pkl", "--", PYTHON, "load.py", "orders.pkl")

    assert said.code == 0
    assert said.stdout.endswith(
        '    [{"order": {"!new": {"!global": "shop Order"}, "state": {"items": []}}}]\n'
    )
    assert len((whet.folder / "orders.shrunk.pkl").read_bytes()) < 100
