import copy


def clone(value):
    return copy.deepcopy(value)


value = []
for _ in range(2_000):
    value = [value]
clone(value)
