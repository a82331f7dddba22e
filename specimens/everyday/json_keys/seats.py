"""Seats of the hall."""

import json


def assign(guests):
    taken = {}
    for name, wish in guests:
        seat = wish
        while seat in taken:
            seat += 1
        taken[seat] = name
    return taken


def write(path, taken):
    path.write_text(json.dumps(taken, indent=1))


def read(path):
    return json.loads(path.read_text())
