"""Numbers as they are drawn in our shop."""

DRAWN = [4, 8, 15]


def draw():
    return DRAWN.pop()
