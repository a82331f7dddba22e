"""Counts what is there, with the tools."""

import os.path
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "tools"))
import count

print(count.count(["lamp"]))
