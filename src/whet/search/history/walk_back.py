"""The search for any good version before a bad one, by steps that double."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.proposal import Search
from whet.search.round import Round


@value_class(kw_only=True)
class WalkBackResult:
    """Where a walk back ended; versions by how far they lie before the bad one.

    Attributes:
        good: the good version; None if none was found.
        bad: the oldest version known to be bad after the good one; 0 is where the walk began.
        tested: each version tested, with what it was, in the order of testing.
    """

    good: int | None
    bad: int
    tested: tuple[tuple[int, Verdict], ...]


def walk_back(
    oldest: int, landmarks: Collection[int] = (), width: int = 1
) -> Search[int, WalkBackResult]:
    """Search a good version among 1 to ``oldest`` steps before a bad one.

    Goes 1, 2, 4, 8 ... steps back and ends at the first good version. Where the walk only met
    bad versions and then some that can't be judged (very old code often no longer runs), it
    halves what lies between the last bad and the first skipped one, as a good one may be there.
    It takes at most 2 * ⌈log2 oldest⌉ + 2 tests, and doesn't test every version: a short
    good stretch among bad ones may be missed.

    Args:
        oldest: how many versions there are before the bad one.
        landmarks: distances to prefer over others nearby, such as those of tagged commits:
            a release is more likely to work than what lies between.
        width: how many are tested at once; the nearest good one counts all the same.
    """
    tested: dict[int, Verdict] = {}
    marked = sorted(landmarks)
    bad = 0
    steps = list(_steps(oldest, marked))
    for start in range(0, len(steps), width):
        batch = steps[start : start + width]
        verdicts = yield Round(batch, partial(_beyond_good, batch))
        for candidate, verdict in zip(batch, verdicts, strict=True):
            tested[candidate] = verdict
            if verdict is Verdict.GOOD:
                return _result(candidate, tested)
    skipped = [each for each, verdict in tested.items() if verdict is Verdict.SKIP]
    bad = max((each for each, verdict in tested.items() if verdict is Verdict.BAD), default=0)
    unclear = min((each for each in skipped if each > bad), default=bad)
    while unclear - bad > 1:
        middle = (bad + unclear) // 2
        (tested[middle],) = yield (middle,)
        if tested[middle] is Verdict.GOOD:
            return _result(middle, tested)
        if tested[middle] is Verdict.BAD:
            bad = middle
        else:
            unclear = middle
    return _result(None, tested)


def _steps(oldest: int, marked: list[int]) -> Iterator[int]:
    """Yield the distances to test while none is good."""
    distance = 1
    while distance <= oldest:
        candidate = _preferred(distance, oldest, marked)
        yield candidate
        distance = max(2 * distance, candidate + 1)
        if distance > oldest > candidate:
            distance = oldest


def _beyond_good(batch: Sequence[int], known: Mapping[int, Verdict]) -> set[int]:
    """Return those that are farther away than one known to be good."""
    good = [each for each, verdict in known.items() if verdict is Verdict.GOOD]
    return {each for each in batch if good and each > min(good)}


def _preferred(distance: int, oldest: int, marked: list[int]) -> int:
    """Return the first landmark from ``distance`` to below twice that, else ``distance``."""
    beyond = min(2 * distance, oldest + 1)
    return next((each for each in marked if distance <= each < beyond), distance)


def _result(good: int | None, tested: dict[int, Verdict]) -> WalkBackResult:
    bad = [each for each, verdict in tested.items() if verdict is Verdict.BAD]
    return WalkBackResult(
        good=good,
        bad=max((each for each in bad if good is None or each < good), default=0),
        tested=tuple(tested.items()),
    )
