"""Two lists of arguments as values that can be compared: options by name, other words in order."""

import re
from collections.abc import Iterable, Mapping
from typing import cast

from whet.reduction.between import Leaf
from whet.reduction.commands.arguments import Words

_OPTION = re.compile(r"--?[A-Za-z]")
_NAMED = re.compile(r"(?P<name>--?[A-Za-z][^=\s]*=)(?P<value>.*)", re.DOTALL)
_AGAIN = "\0"


def as_options(words: Words) -> dict[str, list[str]]:
    """Return arguments by option: what follows an option up to the next one belongs to it.

    What stands before the first option is called nothing. An option that comes again gets a name
    of its own, so that each of them is compared with its like.
    """
    found: dict[str, list[str]] = {"": []}
    last = ""
    for word in words:
        named = _NAMED.fullmatch(word)
        if named is None and not _OPTION.match(word):
            found[last].append(word)
            continue
        last = _free(named["name"] if named else word, found)
        found[last] = [named["value"]] if named else []
    return found


def _free(name: str, taken: Mapping[str, object]) -> str:
    while name in taken:
        name += _AGAIN
    return name


def as_words(options: object) -> Words:
    """Return the arguments again."""
    words: list[str] = []
    for key, values in cast("Mapping[str, list[str]]", options).items():
        name = key.rstrip(_AGAIN)
        if name.endswith("=") and values:
            words += [name + values[0], *values[1:]]
        else:
            words += [name, *values] if name else values
    return tuple(words)


def argument_name(leaf: Leaf) -> str:
    """Return what an argument that differs is called."""
    option, *place = leaf.path
    name = str(option).rstrip(_AGAIN).rstrip("=")
    if not name:
        return f"argument {int(place[0]) + 1}" if place else "arguments"
    return f"{name} {int(place[0]) + 1}" if place and place[0] else name


def shown_argument(value: object) -> str:
    """Return a word, or an option's words, to read."""
    return " ".join(cast("Iterable[str]", value)) if isinstance(value, list) else str(value)
