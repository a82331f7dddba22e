def check(shape):
    assert shape == (2, 3), f"bad shape {shape}"


check((2, 4))
