"""What was expected, beside what came."""

import math
from collections.abc import Sequence

from whet.core.expectation import Score
from whet.core.measurements import SECTION_ENDINGS, shown_number

_TEN = 9.95  # what is above is shown as 10 or more
_NOTICED = 1.05
"""A ratio below that says no more than "not as expected" does."""


def score_words(score: Score) -> str:
    """Return what came of an expectation: ``7.1 s, not as expected: 2.4 × more``."""
    if score.expectation.range is None or score.expectation.range.name == "exit":
        return _met(score)
    name = score.expectation.range.name
    if score.observed is None:
        return _missing(name)
    number = shown_number(name, score.observed, score.expectation.text)
    if score.met is None:
        return f"at least {number}, then whet ended it: whet can't tell"
    ratio = score.ratio
    if score.met or ratio is None or 1 / _NOTICED < ratio < _NOTICED:
        return f"{number}, {_met(score)}"
    return f"{number}, {_met(score)}: {factor_words(ratio)}"


def _missing(name: str) -> str:
    """Say that a number never came, and how it can."""
    if name.endswith(SECTION_ENDINGS):
        return f"no section `{name.rpartition('.')[0]}` ran"
    return f"the program never reported `{name}` (`--measure '{name}=REGEX'` shows whet where)"


def _met(score: Score) -> str:
    return {True: "as expected", False: "not as expected", None: "whet can't tell"}[score.met]


def factor_words(ratio: float) -> str:
    """Return how far a number is from what was expected: ``2.4 × more``, ``3 × less``."""
    return f"{shown_factor(ratio)} × more" if ratio > 1 else f"{shown_factor(1 / ratio)} × less"


def shown_factor(factor: float) -> str:
    """Return a factor with two digits: ``2.4``, ``31``."""
    return f"{factor:,.0f}" if factor >= _TEN else f"{factor:.1f}".removesuffix(".0")


def score_lines(scores: Sequence[Score]) -> list[str]:
    """Return a line for each expectation, what came below each other."""
    width = max((len(each.expectation.text) for each in scores), default=0)
    return [f"{each.expectation.text:{min(width, 30)}}  {score_words(each)}" for each in scores]


def score_json(score: Score) -> dict[str, object]:
    """Return an expectation and what came of it as JSON data."""
    of = score.expectation.range
    return {
        "text": score.expectation.text,
        "kind": score.expectation.kind.value,
        "met": score.met,
        "observed": score.observed,
        "guess": None if of is None else of.guess,
        "low": None if of is None or not math.isfinite(of.low) else of.low,
        "high": None if of is None or not math.isfinite(of.high) else of.high,
        "ratio": score.ratio,
    }
