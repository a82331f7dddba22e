"""The line of versions with how likely each is to be the first bad one, as plain text."""

from collections.abc import Callable, Mapping
from typing import Generic

from whet.core.value_class import value_class
from whet.search.flaky.failure_rates import Runs
from whet.search.history.version_graph import VersionT

_LEAST_SHOWN = 0.01
_LEAST_HUNDREDTHS = 0.1
_BAR = 12
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@value_class(kw_only=True)
class Odds(Generic[VersionT]):
    """What is known of each version.

    Attributes:
        probability: of each suspect, oldest first.
        runs: of those that were run, how many failed and passed.
        skipped: those that could not be judged.
        first_bad: the answer, if there is one.
        word: what such a version is called, ``bad`` unless told otherwise.
    """

    probability: Mapping[VersionT, float]
    runs: Mapping[VersionT, Runs]
    skipped: frozenset[VersionT]
    first_bad: VersionT | None
    word: str = "bad"


def odds_picture(odds: Odds[VersionT], title: Callable[[VersionT], str]) -> str:
    """Draw the versions that were run or are likely, oldest first; the others share lines.

    Args:
        odds: what is known.
        title: what to say of a version: its name, date, subject.
    """
    lines: list[str] = []
    folded: list[float] = []
    for version, probability in odds.probability.items():
        runs = odds.runs.get(version)
        is_shown = runs is not None or version in odds.skipped or probability >= _LEAST_SHOWN
        if not is_shown and version != odds.first_bad:
            folded.append(probability)
            continue
        if folded:
            lines.append(_folded(folded))
            folded = []
        lines.append(_line(odds, version, title(version)))
    if folded:
        lines.append(_folded(folded))
    return "\n".join(line.rstrip() for line in lines)


def _line(odds: Odds[VersionT], version: VersionT, title: str) -> str:
    is_answer = version == odds.first_bad
    mark = "▶" if is_answer else "●"
    note = f"  ← first {odds.word}" if is_answer else ""
    if version in odds.skipped:
        did = "skip"
    else:
        runs = odds.runs.get(version, Runs())
        did = f"{runs.failed} of {runs.total} {odds.word}" if runs.total else "not run"
    return f"{mark} {did:>14}  {_chance(odds.probability[version])}  {title}{note}"


def _folded(probabilities: list[float]) -> str:
    count = len(probabilities)
    noun = "version" if count == 1 else "versions"
    return f"┊ {'':14}  {_chance(sum(probabilities))}  {count} {noun} not run"


def _chance(probability: float) -> str:
    """Return a probability as a bar and as a number."""
    eighths = round(probability * _BAR * 8)
    bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    return f"{bar:{_BAR}} {shown_chance(probability):>7}"


def shown_chance(probability: float) -> str:
    """Return a probability as a person reads it, never as a certainty."""
    hundredths = 100 * probability
    if hundredths < _LEAST_HUNDREDTHS:
        return "< 0.1 %"
    if hundredths > 100 - _LEAST_HUNDREDTHS:
        return "> 99.9 %"
    return f"{hundredths:.1f} %"
