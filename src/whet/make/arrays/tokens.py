"""Numbers of tokens: whole numbers below the size of a vocabulary."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import cycle, islice
from math import prod

from whet.core.errors import BadUsage
from whet.make.arrays.filled import FilledArray, filled_array
from whet.make.elements.dtypes import Number, dtype_named
from whet.make.elements.fills import FILLS, Filling, numbers_of
from whet.make.memory import check_memory

TOKEN_FILLS = [each for each in FILLS if each not in {"deadbeef", "normal", "nan", "inf"}]
"""The fills that make tokens."""


def token_array(
    shape: Sequence[int], vocabulary: int, filling: Filling, dtype: object = "int64"
) -> FilledArray:
    """Return an array of tokens.

    Args:
        shape: how long each axis is; the last is the sequence.
        vocabulary: how many tokens there are; a count starts again at 0 behind the last one.
        filling: with what it is filled; random ones are of the whole vocabulary.
        dtype: the type of their numbers.

    Raises:
        BadUsage: if a number isn't below the size of the vocabulary.
        NotEnoughMemory: if it is larger than what the machine has left.
    """
    known = dtype_named(dtype)
    if vocabulary < 1 or not known.is_whole or vocabulary - 1 > known.exact:
        raise BadUsage(
            f"{known.name} can't hold the tokens of a vocabulary of {vocabulary}",
            hint="choose a vocabulary of at least 1, and a whole type, such as int64",
        )
    if filling.name == "random" and filling.high is None:
        filling = replace(filling, high=vocabulary - 1)
    check_memory(prod(shape) * known.width, f"{known.name} of shape {tuple(shape)}")
    numbers: Iterable[Number] = numbers_of(filling, shape, known)
    if filling.name == "count":
        numbers = (place % vocabulary for place in range(1, prod(shape) + 1))
    if filling.name == "edge":
        edges = dict.fromkeys((0, vocabulary - 1, min(1, vocabulary - 1), max(vocabulary - 2, 0)))
        numbers = islice(cycle(edges), prod(shape))
    content = known.encoded(numbers)
    made = replace(filled_array((0,), known.name, Filling()), shape=tuple(shape), content=content)
    unknown = next(
        (each for each in known.decoded(content) if not 0 <= each.real < vocabulary), None
    )
    if unknown is not None:
        raise BadUsage(
            f"{unknown} isn't below {vocabulary}, the size of the vocabulary",
            hint="choose a larger vocabulary, or a fill that stays below it, such as `count`",
        )
    return made
