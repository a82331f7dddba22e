"""Print the mean attention of scores: python softmax.py FILE"""

import sys

import numpy

scores = numpy.load(sys.argv[1])
weights = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
weights /= weights.sum(axis=-1, keepdims=True)
if numpy.isnan(weights).any():
    raise FloatingPointError("a weight is not a number")
print(weights.mean())
