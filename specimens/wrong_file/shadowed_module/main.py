"""Uses Python's `statistics`; the file beside it has that name too."""

import random

from statistics import fmean

print(fmean([random.random() for _ in range(3)]))
