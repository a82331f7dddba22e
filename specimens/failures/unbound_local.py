"""3.11 words this in another way."""


def last(values):
    for value in values:
        found = value
    return found


last([])
