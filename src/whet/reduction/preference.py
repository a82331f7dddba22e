"""What a user prefers: another measure of what is small, and what must not be lost."""

import math
import re
from collections.abc import Callable, Mapping, Sequence

from whet.core.condition import pattern_of
from whet.core.errors import BadUsage
from whet.core.value_class import value_class
from whet.reduction.formats.text.pieces import parse_tokens
from whet.reduction.order import Order


def _lines(payload: bytes) -> int:
    return payload.count(b"\n") + (not payload.endswith(b"\n") and payload != b"")


def _tokens(payload: bytes) -> int:
    return len(parse_tokens(payload).bounds) - 1


MEASURES: Mapping[str, Callable[[bytes], int]] = {"bytes": len, "lines": _lines, "tokens": _tokens}
"""The measures that need no run."""


@value_class(kw_only=True)
class Preference:
    """What a user prefers.

    Attributes:
        objective: one of `MEASURES`: fewer of them are better, whatever it looks like; empty:
            what reads best.
        keep: patterns; what one of them matches no more is never tried.
        is_valid: whether a payload is still what its name says; None: nothing is known of that.
        shows_nothing: whether a payload says nothing even if it fails, as it is a part of one that
            passes; None: no such one is known.
    """

    objective: str = ""
    keep: tuple[re.Pattern[bytes], ...] = ()
    is_valid: Callable[[bytes], bool] | None = None
    shows_nothing: Callable[[bytes], bool] | None = None

    def order_within(self, order: Order) -> Order:
        """Return the order of payloads; among equals that of their kind decides."""
        if not self.objective:
            return order
        measure = MEASURES[self.objective]

        def weight(payload: bytes) -> float:
            return math.inf if order.weight(payload) == math.inf else measure(payload)

        return Order(weight, order.key)

    def allows(self, payload: bytes) -> bool:
        """Whether a payload may be tried: it holds what it must, and could show something."""
        if self.shows_nothing is not None and self.shows_nothing(payload):
            return False
        is_kept = all(pattern.search(payload) for pattern in self.keep)
        return is_kept and (self.is_valid is None or self.is_valid(payload))


def patterns_of(texts: Sequence[str], payload: bytes) -> tuple[re.Pattern[bytes], ...]:
    """Return the patterns of what must be kept.

    Args:
        texts: regular expressions, over lines as `^` and `$` say.
        payload: each must match it as it is.

    Raises:
        BadUsage: if one is no regular expression or matches nothing.
    """
    patterns: list[re.Pattern[bytes]] = []
    for text in texts:
        pattern = pattern_of(text, f"`--keep {text}`", BadUsage)
        if pattern.search(payload) is None:
            raise BadUsage(
                f"`--keep {text}` matches nothing in the file, so there is nothing to keep",
                hint=f"try it: `grep -nE '{text}' FILE`",
            )
        patterns.append(pattern)
    return tuple(patterns)
