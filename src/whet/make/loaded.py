"""Which library a payload is made for: the one that the program has loaded, else one it could load."""

import sys
from collections.abc import Sequence

from whet.core.errors import LibraryMissing
from whet.make.words import unknown_word


def library_for(asked: str | None, known: Sequence[str]) -> str:
    """Return the name of the library to make a payload for.

    Args:
        asked: the one that the caller wants; None: the first that is loaded, else the first that
            is installed.
        known: those that there are, in their order; the last needs no library.

    Raises:
        BadUsage: if whet makes nothing for it.
        LibraryMissing: if it isn't installed.
    """
    if asked is not None:
        if asked not in known:
            raise unknown_word("library", asked, known)
        if asked != known[-1] and not _is_there(asked):
            raise LibraryMissing(
                f"`{asked}` isn't installed for {sys.executable}",
                hint=f"install it there, or leave `library={asked!r}` out",
            )
        return asked
    loaded = [each for each in known if each in sys.modules]
    return next((each for each in (*loaded, *known[:-1]) if _is_there(each)), known[-1])


def _is_there(library: str) -> bool:
    from importlib.util import find_spec

    return sys.modules.get(library) is not None or find_spec(library) is not None
