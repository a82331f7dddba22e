"""The bits of a door."""

LOCKED = 0b001
LIT = 0b010
MOVING = 0b100


def read(state):
    return state & 0b111


def is_free(state):
    locked = state & LOCKED
    return not locked and not state & MOVING == MOVING | LIT
