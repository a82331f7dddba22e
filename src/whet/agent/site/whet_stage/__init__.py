"""Takes over the main script so that frozen copies of the process can be taken on the way."""

import sys

BEFORE = frozenset(sys.modules)
"""What was imported before whet imported what it needs."""
