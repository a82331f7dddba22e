"""Words of a shell line that a person reads and may paste: nothing in them is hidden or obeyed."""

import shlex
from collections.abc import Iterable

from whet.core.text.shown_text import visible_line

_BYTES = frozenset(map(chr, range(0xDC80, 0xDD00)))
"""How `os.fsdecode` keeps a byte that isn't UTF-8."""


def quoted(word: str) -> str:
    r"""Return ``word`` as one word of a shell; what would not be seen as `$'\x1b'`."""
    if visible_line(word) == word:
        return shlex.quote(word)
    return f"$'{''.join(map(_in_quotes, word))}'"


def joined(words: Iterable[str]) -> str:
    """Return a command as a line."""
    return " ".join(map(quoted, words))


def _in_quotes(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if visible_line(character) == character:
        return character
    errors = "surrogateescape" if character in _BYTES else "surrogatepass"
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", errors))
