"""3.13 suggests the right spelling."""


def train(epochs=1):
    return epochs


train(epoch=3)
