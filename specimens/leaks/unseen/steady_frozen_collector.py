"""The collector is frozen after the set-up and runs by hand, as before a fork."""

import gc


def build():
    return [{"row": number, "cells": list(range(10))} for number in range(2000)]


data = build()
gc.collect()
gc.freeze()
gc.disable()


def request(number):
    node = {"number": number, "cells": list(range(50))}
    node["self"] = node
    if number % 20 == 0:
        gc.collect()
    return len(data)


for number in range(300):
    request(number)
