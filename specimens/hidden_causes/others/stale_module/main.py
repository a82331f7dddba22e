"""Cleans names."""

import sys

sys.path[:0] = ["scripts"]
from helpers import clean

print(clean("a-b", keep="-"))
