"""The line of versions that is searched, in few enough stretches to show."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from whet.core.event import Stretch
from whet.core.verdict import Verdict
from whet.search.flaky.noisy_bisection import NoisyBisection
from whet.search.history.bisection import Bisection, Standing
from whet.search.history.version_graph import VersionT

COLUMNS = 60

_MOST_LOOKED_AT = 20_000
"""With more versions whet shows no line: computing it costs time at every step."""

_TOLD = {
    Standing.TESTED_GOOD: Verdict.GOOD,
    Standing.TESTED_BAD: Verdict.BAD,
    Standing.SKIPPED: Verdict.SKIP,
}


def line_of_bisection(bisection: Bisection[VersionT]) -> tuple[Stretch, ...]:
    """Return the line of a search, each of its suspects as likely as the other."""
    if bisection.version_count > _MOST_LOOKED_AT:
        return ()
    standings = bisection.standings()
    suspects = set(bisection.suspects)
    share = 1 / max(1, len(suspects))
    return stretches(
        [_TOLD.get(standing) for standing in standings.values()],
        [share if version in suspects else 0.0 for version in standings],
    )


def line_of_odds(
    bisection: NoisyBisection[VersionT], ends: Mapping[VersionT, Verdict]
) -> tuple[Stretch, ...]:
    """Return the line of a search that weighs runs.

    Args:
        bisection: the search.
        ends: those versions whose kind was known before.
    """
    odds = bisection.posterior()
    if len(odds) > _MOST_LOOKED_AT:
        return ()
    told: dict[VersionT, Verdict] = dict(ends)
    for version, runs in bisection.runs.items():
        told[version] = Verdict.BAD if runs.failed else Verdict.GOOD
    told.update(dict.fromkeys(bisection.skipped, Verdict.SKIP))
    return stretches([told.get(version) for version in odds], list(odds.values()))


def stretches(
    told: Sequence[Verdict | None], probability: Sequence[float], columns: int = COLUMNS
) -> tuple[Stretch, ...]:
    """Return versions in up to ``columns`` stretches of about the same length.

    Of a stretch in which several were tested BAD is shown before GOOD, and that before SKIP.
    """
    count = len(told)
    columns = min(columns, count)
    borders = [round(number * count / columns) for number in range(columns + 1)] if count else []
    return tuple(
        Stretch(told=_shown(told[start:stop]), probability=sum(probability[start:stop]))
        for start, stop in pairwise(borders)
    )


def _shown(told: Sequence[Verdict | None]) -> Verdict | None:
    return next((each for each in (Verdict.BAD, Verdict.GOOD, Verdict.SKIP) if each in told), None)
