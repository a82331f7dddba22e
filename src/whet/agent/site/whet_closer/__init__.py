"""A second, closer look at a program that is known to fail: slower, for what a first look can't see.

It writes what it sees at once, a line of JSON for each thing: the program may be killed, or crash.
Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

from .look import Look

__all__ = ["Look", "begin"]


def begin(folder: str, wish: str) -> Look:
    """Look from here on; return what compiles the user's modules."""
    look = Look(folder, wish)
    look.begin()
    return look
