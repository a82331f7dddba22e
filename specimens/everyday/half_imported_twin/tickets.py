"""The tickets of the raffle."""

import chance
import prizes

PREFIX = "T"


def sold(count):
    return [f"{PREFIX}{number:03d}" for number in range(count)]


def draw(tickets, count):
    return [f"{each} wins {prizes.name(n)}" for n, each in enumerate(chance.pick(tickets, count))]
