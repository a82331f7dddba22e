def allocate(count):
    return bytearray(count)


allocate(1 << 60)
