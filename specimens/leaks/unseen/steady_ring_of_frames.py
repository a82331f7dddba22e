"""The last 32 frames of a video are kept in a deque, and temporary buffers come and go."""

import collections
import random

ring = collections.deque(maxlen=32)
source = random.Random(3)


def frame(number):
    scratch = bytearray(source.randrange(1000, 50_000))
    ring.append(bytes(scratch[:2000]))
    return len(scratch)


seen = 0
for number in range(500):
    seen += frame(number)
print(seen)
