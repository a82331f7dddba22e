"""Numbers for tickets, from a counter of the module."""

import sys
import threading

sys.setswitchinterval(1e-5)
issued = 0
tickets = []


def label(number):
    return f"T{number:06d}"


def next_ticket():
    global issued
    text = label(issued)
    issued = int(text[1:]) + 1
    return text


def counter_desk():
    for _ in range(3000):
        tickets.append(next_ticket())


desks = [threading.Thread(target=counter_desk) for _ in range(6)]
for desk in desks:
    desk.start()
for desk in desks:
    desk.join()
if len(set(tickets)) != len(tickets):
    raise RuntimeError("two customers have the same ticket")
