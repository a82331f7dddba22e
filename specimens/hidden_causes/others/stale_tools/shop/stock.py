def pieces(name, *, reserved=0):
    return len(name) - reserved
