"""Luck that can be repeated."""

import random

SEED = 7


def pick(things, count):
    return random.Random(SEED).sample(things, count)
