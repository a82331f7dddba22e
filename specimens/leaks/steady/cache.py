"""`lru_cache(maxsize=64)` over arguments that never come again: it fills up, then it is constant."""

import functools
import random


@functools.lru_cache(maxsize=64)
def tokens(text):
    return tuple(text.split())


def serve(source):
    text = " ".join("w{}".format(source.randrange(10**9)) for _ in range(40))
    return len(tokens(text))


source = random.Random(7)
count = 0
while count < 400:
    serve(source)
    count += 1
print(count)
