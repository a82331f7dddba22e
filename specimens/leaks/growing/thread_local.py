"""A thread's own storage collects what each job leaves."""

import threading

local = threading.local()


def job(number):
    if not hasattr(local, "seen"):
        local.seen = {}
    local.seen["job {}".format(number)] = bytes(1500)
    return len(local.seen)


for number in range(250):
    job(number)
