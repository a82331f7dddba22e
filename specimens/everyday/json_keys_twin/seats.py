"""Seats of the hall."""

import json


def assign(guests):
    taken = {}
    for name, wish in guests:
        seat = wish
        if seat in taken:
            taken[seat + 1] = taken.pop(seat)
            seat += 2
        taken[seat] = name
    return taken


def write(path, taken):
    path.write_text(json.dumps(taken, indent=1))


def read(path):
    return {int(seat): name for seat, name in json.loads(path.read_text()).items()}
