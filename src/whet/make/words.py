"""What is said of a word that names nothing here, or of a number that doesn't fit."""

from collections.abc import Iterable

from whet.core.errors import BadUsage


def unknown_word(what: str, given: str, known: Iterable[str]) -> BadUsage:
    """Return the error for a word that isn't among those there are; it names the closest ones.

    Args:
        what: the sort of word, such as ``dtype``.
        given: the word.
        known: all there are.
    """
    import difflib

    words = list(known)
    near = difflib.get_close_matches(given.lower(), words, n=3, cutoff=0.5)
    named = " or ".join(f"`{each}`" for each in near)
    hint = f"did you mean {named}?" if near else f"there are: {', '.join(words)}"
    return BadUsage(f"`{given}` is not a {what} that whet can make", hint=hint)
