"""Ten samples of each big array are kept: as a view."""

import numpy

samples = {}


def sample(number):
    data = numpy.full(50_000, float(number))
    samples["{}".format(number)] = data[::5000]
    return data.sum()


total = 0.0
for number in range(80):
    total += sample(number)
print(total)
