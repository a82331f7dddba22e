def pieces(name):
    return len(name)
