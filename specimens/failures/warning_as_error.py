import warnings

warnings.simplefilter("error")


def old():
    warnings.warn("old() goes away", DeprecationWarning, stacklevel=1)


old()
