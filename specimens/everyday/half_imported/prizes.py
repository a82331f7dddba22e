"""What can be won."""

import tickets

NAMES = ["a bicycle", "a lamp", "a book"]
CODES = {tickets.PREFIX + name[:3]: name for name in NAMES}


def name(number):
    return NAMES[number]
