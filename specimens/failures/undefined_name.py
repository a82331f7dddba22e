def total(values):
    return sum(values) + offest


offset = 1
total([1, 2])
