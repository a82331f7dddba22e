def depth(node):
    return 1 + depth(node)


depth(None)
