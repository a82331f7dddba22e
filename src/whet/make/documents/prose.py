"""Texts from nothing."""

from random import Random

from whet.core.errors import BadUsage
from whet.make.edges import TEXTS
from whet.make.elements.fills import Filling, step_of
from whet.make.elements.guards import FIRST, LAST
from whet.make.memory import check_memory
from whet.make.words import unknown_word

TEXT_FILLS = ("count", "coordinates", "constant", "random", "deadbeef", "edge")
_WORDS = (
    "a",
    "in",
    "the",
    "of",
    "to",
    "is",
    "one",
    "two",
    "red",
    "small",
    "apple",
    "river",
    "house",
    "light",
)
_BYTES_OF_A_WORD = 8


def made_text(lines: int, words: int, filling: Filling) -> str:
    """Return a text, with a line break behind each line.

    Args:
        lines: how many lines it has.
        words: how many words a line has.
        filling: ``count``: words are 1, 2, 3 …; ``coordinates``: 1000 * line + word; ``constant``:
            the value; ``random``: short English ones; ``deadbeef``: as ``count``, and the first and the
            last word of each line are guards; ``edge``: a line for each text that breaks
            programs, as often as there are lines.

    Raises:
        BadUsage: if there is no such fill.
        NotEnoughMemory: if it is larger than what the machine has left.
    """
    if min(lines, words) < 0:
        raise BadUsage(f"a text can't have {min(lines, words)} lines or words", hint="0 or more")
    check_memory(lines * words * _BYTES_OF_A_WORD, f"a text of {lines} lines")
    draw = Random(filling.seed).random
    step = step_of((lines, words))
    match filling.name:
        case "count":
            made = [[str(at * words + word + 1) for word in range(words)] for at in range(lines)]
        case "coordinates":
            made = [[str(at * step + word) for word in range(words)] for at in range(lines)]
        case "constant":
            made = [[str(filling.value)] * words] * lines
        case "random":
            made = [[_WORDS[int(draw() * len(_WORDS))] for _ in range(words)] for _ in range(lines)]
        case "deadbeef":
            made = [_guarded(at * words, words) for at in range(lines)]
        case "edge":
            made = [[TEXTS[at % len(TEXTS)]] for at in range(lines)]
        case other:
            raise unknown_word("fill of a text", other, TEXT_FILLS)
    return "".join(f"{' '.join(line)}\n" for line in made)


def _guarded(start: int, words: int) -> list[str]:
    line = [str(start + word + 1) for word in range(words)]
    if line:
        line[-1], line[0] = LAST, FIRST
    return line
