"""Between which values somebody expects a number: ``seconds ~ 3s``, ``peak < 2G``, ``loss ~ 2..4``."""

import math
import re

from whet.core.condition import STREAMS, Comparison
from whet.core.errors import BadExpectation
from whet.core.measurements import EXAMPLES, NumberKind, full_name, kind_of, quantity_of, unit_of
from whet.core.value_class import value_class

USUAL_FACTOR = 1.5
"""How far `~ 3s` reaches: from 2 s to 4.5 s. Less than 2, so that twice as fast isn't "as expected"."""

_HUNDRED, _TWO = 100, 2
_GUESS = re.compile(r"(?P<name>[A-Za-z_][\w.]*)\s*(?:~|\bin\b)\s*(?P<value>.+)")
_ENDS = re.compile(r"\s*(?:\.\.|…|\bto\b)\s*")
_AROUND = re.compile(r"\s*(?:±|\+-|\+/-)\s*")


@value_class(kw_only=True)
class NumberRange:
    """A range that a number is expected in.

    Attributes:
        name: the number's, as its author wrote it.
        low: the least that is as expected.
        high: the most.
        guess: the value that its author believes in; None: there are only bounds.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    guess: float | None = None

    @property
    def kind(self) -> NumberKind:
        """What the number is of."""
        return kind_of(self.name)

    def holds(self, value: float) -> bool:
        """Whether a value lies in it."""
        return self.low <= value <= self.high

    def ratio(self, value: float) -> float | None:
        """Return how many times the guess, or the bound that it passes, a value is; None: none is."""
        bound = self.high if value > self.high else self.low
        expected = bound if self.guess is None else self.guess
        if not (0 < expected < math.inf and 0 < value < math.inf):
            return None
        return value / expected

    def excludes(self, other: "NumberRange") -> bool:
        """Whether no value can lie in both."""
        same = full_name(self.name) == full_name(other.name)
        return same and max(self.low, other.low) > min(self.high, other.high)


def range_of(text: str) -> NumberRange | None:
    """Read ``NAME ~ VALUE`` or ``NAME in A..B``; None: it is something else.

    Raises:
        BadExpectation: if its value can't be read.
    """
    found = _GUESS.fullmatch(text.strip())
    if found is None or found["name"] in STREAMS:
        return None
    name, value = found["name"], found["value"].strip("'\"")
    if len(ends := _ENDS.split(value)) > 1:
        return _between(name, ends, text)
    if len(around := _AROUND.split(value)) > 1:
        return _around(name, around, text)
    guess = _number(name, value, text)
    if guess == 0:
        raise BadExpectation(
            f"`{text}` has no width: nothing is a factor away from 0",
            hint=f"say how far it may be off: `{name} ~ 0 ± 0.1`",
        )
    low, high = sorted((guess / USUAL_FACTOR, guess * USUAL_FACTOR))
    return NumberRange(name=name, low=low, high=high, guess=guess)


def range_of_comparison(comparison: Comparison) -> NumberRange | None:
    """Return the range that a comparison with a number means; None: it means none."""
    number, name = comparison.number, comparison.name
    if comparison.pattern is not None or math.isnan(number):
        return None
    match comparison.operator:
        case "<":
            return NumberRange(name=name, high=math.nextafter(number, -math.inf))
        case "<=":
            return NumberRange(name=name, high=number)
        case ">":
            return NumberRange(name=name, low=math.nextafter(number, math.inf))
        case ">=":
            return NumberRange(name=name, low=number)
        case "==":
            return NumberRange(name=name, low=number, high=number, guess=number)
        case _:
            return None


def _between(name: str, ends: list[str], text: str) -> NumberRange:
    if len(ends) > _TWO:
        raise BadExpectation(
            f"`{text}` has more than two ends", hint=f"write `{name} ~ 2..4` with two numbers"
        )
    first, last = ends
    if first and not unit_of(first):
        first += unit_of(last)  # `2..4s` is from 2 s to 4 s
    low, high = _number(name, first, text), _number(name, last, text)
    if low > high:
        raise BadExpectation(
            f"`{text}` ends before it begins", hint=f"write `{name} ~ {last}..{first}`"
        )
    guess = math.sqrt(low) * math.sqrt(high) if low > 0 else (low + high) / 2
    return NumberRange(name=name, low=low, high=high, guess=guess)


def _around(name: str, parts: list[str], text: str) -> NumberRange:
    if len(parts) > _TWO:
        raise BadExpectation(
            f"`{text}` has more than one `±`", hint=f"write `{name} ~ 3 ± 20%` or `{name} ~ 2..4`"
        )
    guess = _number(name, parts[0], text)
    width = parts[1]
    if width.endswith("%"):
        reach = abs(guess) * _number("", width[:-1], text) / _HUNDRED
    else:
        reach = _number(name, width, text)
    if reach < 0:
        raise BadExpectation(
            f"`{width}` in `{text}` is below 0", hint=f"write `{name} ~ {parts[0]} ± 20%`"
        )
    return NumberRange(name=name, low=guess - reach, high=guess + reach, guess=guess)


def _number(name: str, word: str, text: str) -> float:
    kind = kind_of(name)
    number = quantity_of(word, kind)
    if number is None or not math.isfinite(number):
        what = {NumberKind.TIME: "time", NumberKind.MEMORY: "size"}.get(kind, "number")
        raise BadExpectation(
            f"`{word}` in `{text}` is not a {what}",
            hint=f"write {EXAMPLES[kind]}; patterns (`~ TEXT`) work on stdout, stderr and output",
        )
    return number
