"""A thread's own storage holds what the last job left."""

import threading

local = threading.local()


def job(number):
    local.seen = {}
    local.seen["job {}".format(number)] = bytes(1500)
    return len(local.seen)


for number in range(250):
    job(number)
