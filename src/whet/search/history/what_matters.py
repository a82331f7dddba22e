"""A bisection that asks only where an answer is to be expected, and takes what follows for known.

Of many versions most change nothing that a test looks at. What a test looks at is known for
those that were tested. Two things follow. A version that is equal to a tested one in all that
this one looked at needs no test: that is certain. And a version that is equal to those before
it in all that any test has looked at so far isn't the first bad one, unless it is looked at in
another way: that is a guess, and says what to ask next. What is concluded rests on the first.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from whet.core.verdict import Verdict
from whet.search.history.bisection import Bisection, BisectionResult
from whet.search.history.version_graph import VersionT
from whet.search.proposal import Search
from whet.search.round import Round


class Sameness(Protocol[VersionT]):
    """What is known of versions without a test of their own."""

    def follows(self, versions: Collection[VersionT]) -> Mapping[VersionT, Verdict]:
        """Return the verdicts of those that are equal to a tested one, as far as that looked."""
        ...

    def that_matter(self, parents: Mapping[VersionT, Sequence[VersionT]]) -> Collection[VersionT]:
        """Return those that differ from one before them in something that a test looked at."""
        ...


def bisect_what_matters(
    bisection: Bisection[VersionT], sameness: Sameness[VersionT], width: int = 1
) -> Search[VersionT, BisectionResult[VersionT]]:
    """Search the first bad version of a bisection with fewer tests.

    Args:
        bisection: the search; it knows in the end what it would know of itself.
        sameness: what follows from the tests so far; it learns of each one before its verdict
            is told here.
        width: how many are tested at once.
    """
    while True:
        conclude(bisection, sameness)
        search = _narrowed(bisection, sameness).search(width)
        batch = next(search, None) or next(bisection.search(width), None)
        if batch is None:
            return bisection.result()
        verdicts = yield batch
        told = dict(zip(batch, verdicts, strict=False))
        if isinstance(batch, Round):
            # What the others made needless was told as a skip, and was not run.
            known = {each: told[each] for each in told if told[each] is not Verdict.SKIP}
            needless = batch.needless(known)
            told = {each: told[each] for each in told if each in known or each not in needless}
        bisection.learn(told)


def conclude(bisection: Bisection[VersionT], sameness: Sameness[VersionT]) -> None:
    """Let a bisection know all that follows from the tests so far."""
    *open_ones, _ = bisection.suspects
    known = sameness.follows(open_ones)
    by_verdict = {
        verdict: [each for each in open_ones if known.get(each) is verdict] for verdict in Verdict
    }
    # What failed, passed and failed again has several first bad versions: the last one is found.
    for verdict, versions in (
        (Verdict.GOOD, by_verdict[Verdict.GOOD][::-1]),
        (Verdict.BAD, by_verdict[Verdict.BAD]),
        (Verdict.SKIP, by_verdict[Verdict.SKIP]),
    ):
        left = set(bisection.suspects[:-1])
        for version in versions:
            if version in left:
                bisection.learn({version: verdict})
                left = set(bisection.suspects[:-1])


def _narrowed(bisection: Bisection[VersionT], sameness: Sameness[VersionT]) -> Bisection[VersionT]:
    """Return a bisection of those suspects that can matter."""
    suspected = bisection.suspected()
    bad = next(iter(suspected))
    kept = {*sameness.that_matter(suspected), bad}
    narrowed = Bisection(limited(suspected, kept), bad)
    skipped = (version for version, verdict in bisection.tested if verdict is Verdict.SKIP)
    narrowed.learn({version: Verdict.SKIP for version in skipped if version in kept})
    return narrowed


def limited(
    parents: Mapping[VersionT, Sequence[VersionT]], kept: Collection[VersionT]
) -> dict[VersionT, tuple[VersionT, ...]]:
    """Return a graph without some of its versions: what was before them is before those behind.

    Args:
        parents: the graph, its keys children before parents.
        kept: those that stay.
    """
    stands_for: dict[VersionT, tuple[VersionT, ...]] = {}

    def before(version: VersionT) -> tuple[VersionT, ...]:
        named = (each for up in parents[version] for each in stands_for.get(up, (up,)))
        return tuple(dict.fromkeys(named))

    for version in reversed(list(parents)):
        stands_for[version] = (version,) if version in kept else before(version)
    return {version: before(version) for version in parents if version in kept}
