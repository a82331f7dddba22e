"""What can be won."""

NAMES = ["a bicycle", "a lamp", "a book"]
CODES = {"T" + name[:3]: name for name in NAMES}


def name(number):
    return NAMES[number]
