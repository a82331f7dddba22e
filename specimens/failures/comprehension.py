"""A comprehension has a frame of its own before 3.12."""


def invert(values):
    return [1 / value for value in values]


invert([1, 0])
