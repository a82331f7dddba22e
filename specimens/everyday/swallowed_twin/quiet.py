"""Small helpers for reading untidy files."""

from contextlib import contextmanager


@contextmanager
def skipping(*kinds):
    """Go on with the next row where one cannot be read."""
    try:
        yield
    except kinds:
        pass


def tidy(name):
    return " ".join(name.split()).lower()
