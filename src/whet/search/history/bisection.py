"""The search for the first bad version, on a line and on a graph of commits.

The choice of the next version to test is that of `git bisect` (git 2.39, `bisect.c`), ties
included, so that both test the same commits of the same history. Differences: git takes a
commit that is within 0.1 % of half of a large history, whet only the best one; git counts what
a merge reaches by walking, once for each merge (quadratic), where whet adds sets of bits; after
a skip git goes to a place by chance, whet to the one from which most is to be expected
(`whet.search.history.skips`); and whet can ask many at once (`whet.search.history.questions`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Generic

from whet.core.budget import StopReason
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.history.questions import spread
from whet.search.history.reach import weights
from whet.search.history.version_graph import VersionGraph, VersionT
from whet.search.proposal import Search
from whet.search.round import Round


@value_class(kw_only=True)
class BisectionResult(Generic[VersionT]):
    """What a bisection found.

    Attributes:
        first_bad: the first bad version; None if skips leave more than one.
        last_good: a version known to be good, directly before the first bad one if anything is;
            None if none is known, as when the bad versions reach back to the only root.
        suspects: versions of which one is the first bad one, oldest first.
        skipped: versions that could not be judged.
        tested: each version tested, with what it was, in the order of testing.
        stopped: FOUND or AMBIGUOUS.
    """

    first_bad: VersionT | None
    last_good: VersionT | None
    suspects: tuple[VersionT, ...]
    skipped: tuple[VersionT, ...]
    tested: tuple[tuple[VersionT, Verdict], ...]
    stopped: StopReason


class Standing(Enum):
    """What is known of a version while a bisection continues."""

    TESTED_GOOD = "good"
    TESTED_BAD = "bad"
    SKIPPED = "skip"
    IMPLIED_GOOD = "good, because a later version is"
    IMPLIED_BAD = "bad, because an earlier version is"
    BESIDE = "not on the way to the failure"
    SUSPECT = "not tested"


class Bisection(Generic[VersionT]):
    """A bisection under way: what is left, what was tested, and the search itself.

    `search` may be run once. The other members tell the state at any moment, also of a
    search that was stopped before its end.
    """

    def __init__(
        self,
        parents: Mapping[VersionT, Sequence[VersionT]],
        bad: VersionT,
        good: Collection[VersionT] = (),
    ) -> None:
        """Start from a graph.

        Args:
            parents: each version with those directly before it. The order of the keys, newest
                first, breaks ties. A parent that is no key counts as good.
            bad: a version known to be bad.
            good: versions known to be good; with them all before them.

        Raises:
            ValueError: if ``bad`` isn't in the graph, is known to be good, or the graph has
                a cycle.
        """
        self._graph = VersionGraph(parents)
        self._good = tuple(good)
        self._bad_end = bad
        self._bad = self._graph.position(bad)
        suspects = list(range(len(self._graph.versions)))
        for version in good:
            if version in parents:
                before = self._graph.ancestors(self._graph.position(version), suspects)
                suspects = [each for each in suspects if not before[each]]
        if not suspects or self._bad not in suspects:
            raise ValueError(f"{bad} is not after the good versions")
        self._suspects = self._before(self._bad, suspects)
        self.started_with = len(self._suspects)
        """How many versions could be the first bad one at the start, the bad end included."""
        self._tested: dict[VersionT, Verdict] = {}
        self.contradictions: list[tuple[VersionT, VersionT]] = []
        """A bad version with a good one after it: the failure was introduced more than once."""

    @property
    def old_end(self) -> VersionT | None:
        """A version that was known to be good at the start; None if none was."""
        return next(iter(self._good), None)

    @property
    def new_end(self) -> VersionT:
        """The version that was known to be bad at the start."""
        return self._bad_end

    @property
    def version_count(self) -> int:
        """How many versions the graph has."""
        return len(self._graph.versions)

    @property
    def remaining(self) -> int:
        """How many versions may still be the first bad one."""
        return len(self._suspects)

    def steps_left(self, width: int = 1) -> int:
        """Return the most rounds of ``width`` tests that the remaining versions take, if they are a line."""
        steps, reached = 0, 1
        while reached < len(self._suspects):
            steps, reached = steps + 1, reached * (width + 1)
        return steps

    @property
    def suspects(self) -> tuple[VersionT, ...]:
        """The versions that may still be the first bad one, oldest first."""
        return tuple(self._graph.versions[each] for each in self._suspects)

    @property
    def lineage(self) -> dict[VersionT, tuple[VersionT, ...]]:
        """The suspects, newest first, each with all those directly before it."""
        graph = self._graph
        return {
            graph.versions[each]: graph.named_parents[each] for each in reversed(self._suspects)
        }

    @property
    def tested(self) -> tuple[tuple[VersionT, Verdict], ...]:
        """The versions tested, in the order of testing."""
        return tuple(self._tested.items())

    @property
    def following(self) -> VersionT | None:
        """The version that is tested next; None if none is left to test."""
        return next(iter(self.questions()), None)

    def standings(self) -> dict[VersionT, Standing]:
        """Return what is known of each version of the graph, oldest first."""
        graph = self._graph
        implied_good = self._reaching_back((*self._good, *self._judged(Verdict.GOOD)))
        implied_bad = {
            graph.positions[each] for each in (self._bad_end, *self._judged(Verdict.BAD))
        }
        suspects = set(self._suspects)
        standings: dict[VersionT, Standing] = {}
        for position, version in enumerate(graph.versions):
            if not implied_bad.isdisjoint(graph.parents[position]):
                implied_bad.add(position)
            if version in self._tested:
                standings[version] = _TESTED[self._tested[version]]
            elif version == self._bad_end:
                standings[version] = Standing.TESTED_BAD
            elif implied_good[position]:
                known = version in self._good
                standings[version] = Standing.TESTED_GOOD if known else Standing.IMPLIED_GOOD
            elif position in suspects:
                standings[version] = Standing.SUSPECT
            else:
                is_bad = position in implied_bad
                standings[version] = Standing.IMPLIED_BAD if is_bad else Standing.BESIDE
        return standings

    def is_before_good(self, version: VersionT) -> bool:
        """Whether a version that is known to be good is this one, or has it before it."""
        good = self._reaching_back((*self._good, *self._judged(Verdict.GOOD)))
        at = self._graph.positions.get(version)
        return at is not None and bool(good[at])

    def _reaching_back(self, versions: Iterable[VersionT]) -> bytearray:
        """Return a flag for each position: whether it is one of ``versions`` or before one."""
        flags = bytearray(len(self._graph.versions))
        for version in versions:
            if version in self._graph.positions:
                flags[self._graph.positions[version]] = 1
        for position in range(len(flags) - 1, -1, -1):
            if flags[position]:
                for parent in self._graph.parents[position]:
                    flags[parent] = 1
        return flags

    def questions(self, width: int = 1) -> tuple[VersionT, ...]:
        """Return the versions to test next, oldest first; none if nothing is left to test.

        Args:
            width: how many are tested at once.
        """
        skipped = self._skipped_suspects
        is_one = width == 1 and not skipped
        reached = weights(self._suspects, self._graph.parents, all_of_them=not is_one)
        if is_one:
            chosen = [self._halving(reached)]
        else:
            chosen = spread(reached, skipped, width, partial(self._flags, among=self._suspects))
        return tuple(self._graph.versions[each] for each in chosen if each != self._bad)

    def search(self, width: int = 1) -> Search[VersionT, BisectionResult[VersionT]]:
        """Propose versions until the first bad one is known.

        Args:
            width: how many are tested at once; all verdicts of such a round are told.
        """
        while questions := self.questions(width):
            if width == 1:
                verdicts = yield questions
            else:
                verdicts = yield Round(questions, partial(self._needless, questions))
            self.learn(dict(zip(questions, verdicts, strict=True)))
        return self.result()

    def learn(self, told: Mapping[VersionT, Verdict]) -> None:
        """Narrow the suspects by verdicts, whether `search` has asked for them or not."""
        was_suspect = set(self._suspects)
        self._bad, self._suspects, odd = self._narrowed(told)
        newest_bad = self._graph.versions[self._bad]
        self.contradictions += [(newest_bad, version) for version in odd]
        # Of two that are bad the one that reaches less comes last, as the one that counts.
        in_order = sorted(told, key=lambda each: told[each] is not Verdict.BAD)
        number_bad = sum(verdict is Verdict.BAD for verdict in told.values())
        in_order[:number_bad] = in_order[:number_bad][::-1]
        for version in in_order:
            verdict = told[version]
            position = self._graph.positions[version]
            # A skip that changes nothing may be of a version that was never run.
            counts = verdict is not Verdict.SKIP or position in self._suspects
            if position in was_suspect and counts and version not in odd:
                self._tested[version] = verdict

    def _narrowed(self, told: Mapping[VersionT, Verdict]) -> tuple[int, list[int], list[VersionT]]:
        """Return the bad version and the suspects that are left, and what contradicts them.

        Of several bad versions the one that reaches least counts. That the first bad version
        must be before all of them isn't concluded: two branches may have got the same change.
        """
        position = self._graph.positions
        bad, suspects = self._bad, self._suspects
        tested_bad = {position[each] for each in told if told[each] is Verdict.BAD}
        tested_bad.intersection_update(suspects)  # another one tells nothing of those that are left
        before = {each: self._before(each, self._suspects) for each in sorted(tested_bad)}
        if before:
            bad = min(before, key=lambda each: len(before[each]))
            suspects = before[bad]
        odd: list[VersionT] = []
        for version in (each for each in told if told[each] is Verdict.GOOD):
            flags = self._flags(position[version], among=self._suspects)
            if flags[bad]:
                odd.append(version)
            else:
                suspects = [each for each in suspects if not flags[each]]
        return bad, suspects, odd

    def _needless(
        self, questions: Sequence[VersionT], known: Mapping[VersionT, Verdict]
    ) -> set[VersionT]:
        """Return the questions that can't divide what the known verdicts leave."""
        _, left, _ = self._narrowed(known)
        needless: set[VersionT] = set()
        for version in questions:
            before = self._flags(self._graph.positions[version], among=self._suspects)
            if sum(before[each] for each in left) in {0, len(left)}:
                needless.add(version)
        return needless

    def _flags(self, position: int, among: Sequence[int]) -> bytearray:
        return self._graph.ancestors(position, among)

    def suspected(self) -> dict[VersionT, tuple[VersionT, ...]]:
        """Return the versions that may still be the first bad one, newest first, as a graph."""
        named = self._graph.named_parents
        return {self._graph.versions[each]: named[each] for each in reversed(self._suspects)}

    def result(self) -> BisectionResult[VersionT]:
        """Return what is known; if the search was stopped early, as AMBIGUOUS."""
        is_found = len(self._suspects) == 1
        return BisectionResult(
            first_bad=self._graph.versions[self._bad] if is_found else None,
            last_good=self._last_good(is_found=is_found),
            suspects=self.suspects,
            skipped=self._judged(Verdict.SKIP),
            tested=self.tested,
            stopped=StopReason.FOUND if is_found else StopReason.AMBIGUOUS,
        )

    def _judged(self, verdict: Verdict) -> tuple[VersionT, ...]:
        return tuple(version for version, was in self._tested.items() if was is verdict)

    def _before(self, position: int, among: Sequence[int]) -> list[int]:
        """Return ``position`` and its ancestors among ``among``."""
        before = self._graph.ancestors(position, among)
        return [each for each in among if before[each]]

    def _last_good(self, *, is_found: bool) -> VersionT | None:
        good = self._judged(Verdict.GOOD)
        if is_found:
            # One that was run says more than one that is good because a later one is.
            parents = self._graph.named_parents[self._bad]
            known = [parent for parent in parents if parent in good or parent in self._good]
            if known or parents:
                return (known or parents)[0]
        if good:
            return good[-1]
        return next(iter(self._good), None)

    @property
    def _skipped_suspects(self) -> list[int]:
        skipped = (self._graph.positions[version] for version in self._judged(Verdict.SKIP))
        return sorted(set(skipped).intersection(self._suspects))

    def _halving(self, reached: Mapping[int, int]) -> int:
        """Return the first version that halves best.

        Of exact halves git takes merges first and roots last, in the order in which it counts.
        """
        total = len(self._suspects)
        exact = [each for each in reached if abs(2 * reached[each] - total) <= 1]
        if not exact:
            # `max` takes the first of equals, as git does.
            return max(reached, key=lambda each: _merit(reached[each], total))
        here = set(self._suspects)
        parents = self._graph.parents
        return min(exact, key=lambda each: -min(len(here.intersection(parents[each])), 2))


def bisect_graph(
    parents: Mapping[VersionT, Sequence[VersionT]],
    bad: VersionT,
    good: Collection[VersionT] = (),
) -> Search[VersionT, BisectionResult[VersionT]]:
    """Search the first bad version of a graph; arguments as of `Bisection`."""
    return Bisection(parents, bad, good).search()


_TESTED = {
    Verdict.GOOD: Standing.TESTED_GOOD,
    Verdict.BAD: Standing.TESTED_BAD,
    Verdict.SKIP: Standing.SKIPPED,
}


def _merit(reached: int, total: int) -> int:
    """Return how many suspects are left out at least, whatever the verdict."""
    return min(reached, total - reached)
