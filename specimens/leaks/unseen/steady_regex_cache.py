"""Patterns are compiled anew each time: `re` keeps a bounded number of them."""

import re


def match(number):
    pattern = "a{}b?c*".format(number)
    return bool(re.match(pattern, "a{}".format(number)))


hits = 0
for number in range(1500):
    hits += match(number)
print(hits)
