"""An array from nothing: its type, its shape, and the bytes that it is filled with."""

import math
from collections.abc import Sequence
from typing import cast

from whet.core.errors import BadUsage
from whet.core.value_class import value_class
from whet.make.elements.dtypes import Dtype, dtype_named
from whet.make.elements.fills import Filling, numbers_of
from whet.make.elements.guards import put_guards
from whet.make.memory import check_memory

_MOST_AXES = 64
_SHOWN = 1000
"""Of a larger array whet prints the beginning."""

_BEGINNING = 8
_MOST_DIGITS = 17


@value_class(kw_only=True)
class FilledArray:
    """An array that was made.

    Attributes:
        dtype: the type of its numbers.
        shape: how long each axis is.
        content: their bytes, little-endian, the last axis the fastest.
    """

    dtype: Dtype
    shape: tuple[int, ...]
    content: bytearray

    def lists(self) -> object:
        """Return it as lists in lists; without an axis, the number."""
        made: list[object] = list(self.dtype.decoded(self.content))
        for length in reversed(self.shape[1:]):
            made = [made[start : start + length] for start in range(0, len(made), length or 1)]
        if not self.shape:
            return made[0]
        return made if made or 0 not in self.shape[1:] else [made] * self.shape[0]

    def text(self) -> str:
        """Return its numbers as a person reads them; of many, the first."""
        count = math.prod(self.shape)
        if count > _SHOWN:
            first = self.dtype.decoded(self.content[: _BEGINNING * self.dtype.width])
            return f"[{', '.join(map(self._shown, first))}, … {count - _BEGINNING:,} more]"
        return self._nested(self.lists())

    def _nested(self, value: object) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(self._nested, cast('list[object]', value)))}]"
        return self._shown(value)

    def _shown(self, value: object) -> str:
        """Return a number with no more digits than its type has."""
        if not isinstance(value, float) or not math.isfinite(value):
            return str(value)
        stored = self.dtype.encoded([value])
        texts = (f"{value:.{digits}g}" for digits in range(1, _MOST_DIGITS))
        shortest = next((each for each in texts if self._is_stored(each, stored)), str(value))
        return repr(float(shortest)).removesuffix(".0")

    def _is_stored(self, text: str, stored: bytearray) -> bool:
        return self.dtype.holds(float(text)) and self.dtype.encoded([float(text)]) == stored


def filled_array(shape: Sequence[int], dtype: object, filling: Filling) -> FilledArray:
    """Return a new array.

    Args:
        shape: how long each axis is.
        dtype: its type, by name.
        filling: with what it is filled.

    Raises:
        BadUsage: if there is no such type, shape or fill, or they don't go together.
        NotEnoughMemory: if it is larger than what the machine has left; nothing is made then.
    """
    known = dtype_named(dtype)
    lengths = tuple(shape)
    if min(lengths, default=0) < 0 or len(lengths) > _MOST_AXES:
        raise BadUsage(
            f"an array can't have the shape {lengths}",
            hint=f"up to {_MOST_AXES} lengths, none below 0, such as `--shape 2,2`",
        )
    check_memory(math.prod(lengths) * known.width, f"{known.name} of shape {lengths}")
    content = known.encoded(numbers_of(filling, lengths, known))
    if filling.name == "deadbeef":
        put_guards(content, known, lengths, filling.border)
    return FilledArray(dtype=known, shape=lengths, content=content)
