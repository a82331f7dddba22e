import copy


def clone(value):
    return copy.deepcopy(value)


value = []
for _ in range(100_000):
    value = [value]
clone(value)
