"""The search for the first bad version where a bad version doesn't fail each time.

One run proves nothing alone, so versions aren't cleared but weighed: a posterior over the
suspects is kept, the version whose run tells most is run next, and the search ends when one
suspect is as likely as was asked for (probabilistic bisection: Horstein 1963; the greedy choice
by information: Burnashev and Zigangirov 1974, Jedynak, Frazier and Sznitman 2012). How often bad
and good versions fail need not be known (`whet.search.flaky.failure_rates`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Generic

from whet.core.budget import StopReason
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import FailureRates, Runs
from whet.search.flaky.information import most_telling
from whet.search.flaky.suspicion import SuspectClass, Suspicion
from whet.search.history.version_graph import VersionGraph, VersionT
from whet.search.proposal import Search
from whet.search.round import Round

_CONFIDENCE = 0.95

_NEGLIGIBLE = 1e-9


@value_class(kw_only=True)
class NoisyResult(Generic[VersionT]):
    """What a noisy bisection found.

    Attributes:
        first_bad: the likeliest first bad version; None if it isn't likely enough.
        probability: of the likeliest suspect to be the first bad version.
        last_good: the version directly before it; None if there is none.
        ranking: suspects with their probability, the likeliest first.
        suspects: as few versions as have the confidence together, if no single one has it.
        runs: of each version that was run, how many failed and passed.
        skipped: versions that could not be judged.
        fails_if_bad: how often a bad version fails, as estimated.
        fails_if_good: how often a good version fails, as estimated.
        is_edge_tested: the first bad version has failed, and those directly before it were run.
        stopped: FOUND or AMBIGUOUS.
    """

    first_bad: VersionT | None
    probability: float
    last_good: VersionT | None
    ranking: tuple[tuple[VersionT, float], ...]
    suspects: tuple[VersionT, ...]
    runs: Mapping[VersionT, Runs]
    skipped: tuple[VersionT, ...]
    fails_if_bad: float
    fails_if_good: float
    is_edge_tested: bool
    stopped: StopReason


def _still(suspects: SuspectClass, inside: int, verdict: Verdict) -> float:
    """Return the chance that suspects are to blame and that a run ends with ``verdict``.

    Args:
        suspects: a class of them.
        inside: the set of those that the version that is run has before it.
        verdict: GOOD or BAD.
    """
    is_bad = suspects.members & inside
    fails = suspects.fails_if_bad if is_bad else suspects.fails_if_good
    return suspects.probability * (fails if verdict is Verdict.BAD else 1 - fails)


def _alike(_version: object) -> float:
    return 1.0


class NoisyBisection(Generic[VersionT]):
    """A noisy bisection under way; the members tell its state at any moment."""

    def __init__(
        self,
        parents: Mapping[VersionT, Sequence[VersionT]],
        *,
        rates: FailureRates | None = None,
        ends: tuple[Runs, Runs] = (Runs(), Runs()),
        confidence: float = _CONFIDENCE,
        at_once: int = 1,
        seconds: Callable[[VersionT], float] = _alike,
    ) -> None:
        """Start from the suspects.

        Args:
            parents: each suspect with those directly before it; a parent that is no suspect
                counts as good. One suspect has all others before it.
            rates: what is known of the two failure rates; None: nothing.
            ends: what runs of the bad end and of the good end gave before the search.
            confidence: how likely the answer must be.
            at_once: how many runs are asked for at a time.
            seconds: how long a version's run takes.

        Raises:
            ValueError: if the graph has a cycle, or the confidence isn't between 0 and 1.
        """
        if not 0 < confidence < 1:
            raise ValueError(f"a confidence of {confidence} is not between 0 and 1")
        self._graph = VersionGraph(parents)
        self._suspicion = Suspicion(self._graph.parents, rates or FailureRates.of(), ends)
        self._confidence = confidence
        self._at_once = at_once
        self._seconds = seconds
        self._runs: dict[VersionT, Runs] = {}
        self._skipped: dict[VersionT, None] = {}

    @property
    def confidence(self) -> float:
        """How likely the answer must be."""
        return self._confidence

    @property
    def runs(self) -> Mapping[VersionT, Runs]:
        """Of each version that was run, how many failed and passed."""
        return self._runs

    @property
    def skipped(self) -> tuple[VersionT, ...]:
        """The versions that could not be judged."""
        return tuple(self._skipped)

    @property
    def rates(self) -> tuple[float, float]:
        """How often a bad and a good version fail, as estimated."""
        return self._suspicion.rates()

    @property
    def entropy_bits(self) -> float:
        """What isn't known of the culprit yet."""
        return self._suspicion.entropy_bits()

    def posterior(self) -> dict[VersionT, float]:
        """Return the probability of each suspect to be the first bad one, oldest first."""
        return dict(zip(self._graph.versions, self._suspicion.probabilities(), strict=True))

    def likeliest(self) -> tuple[VersionT, float]:
        """Return the likeliest suspect and its probability."""
        position, probability = self._top()
        return self._graph.versions[position], probability

    # ---- the search ----

    def search(self) -> Search[VersionT, NoisyResult[VersionT]]:
        """Propose runs, each batch to be told whole, until one suspect is likely enough."""
        while not self.is_likely() and (batch := self.following):
            self.tell(batch, (yield Round(batch)))
        return self.result()

    @property
    def following(self) -> tuple[VersionT, ...]:
        """The versions that are run next; one may stand there twice."""
        return self._most_telling(lambda version: version not in self._skipped)

    def confirming(self, told: Mapping[VersionT, Verdict]) -> VersionT | None:
        """Return which version lowers the doubt most, if it does once more what it did.

        The doubt is the chance that another suspect than the likeliest is to blame.

        Args:
            told: the versions that may be run, with what each did.

        Returns:
            A version, of equals the first; None if none lowers the doubt.
        """
        suspicion = self._suspicion
        answer = self._likeliest_class()
        others = [each for each in suspicion.classes if each is not answer]
        chosen, least = None, math.fsum(each.probability for each in others) - _NEGLIGIBLE
        for version, verdict in told.items():
            position = self._graph.positions.get(version)
            inside = 0 if position is None else suspicion.reached(position)
            doubt = math.fsum(_still(each, inside, verdict) for each in others)
            if doubt < least:
                chosen, least = version, doubt
        return chosen

    def _most_telling(self, is_askable: Callable[[VersionT], bool]) -> tuple[VersionT, ...]:
        versions = self._graph.versions
        chosen = most_telling(
            self._suspicion,
            self._at_once,
            lambda each: is_askable(versions[each]),
            lambda each: self._seconds(versions[each]),
        )
        return tuple(versions[each] for each in chosen)

    def tell(self, versions: Sequence[VersionT], verdicts: Sequence[Verdict]) -> None:
        """Take note of runs."""
        for version, verdict in zip(versions, verdicts, strict=True):
            if verdict is Verdict.SKIP:
                self._skipped[version] = None
                continue
            failed = verdict is Verdict.BAD
            self._runs[version] = self._runs.get(version, Runs()).plus(failed=failed)
            self._suspicion.tell(self._graph.positions.get(version), failed=failed)
        self._suspicion.weigh()

    def _is_edge_tested(self, version: VersionT) -> bool:
        before = self._graph.named_parents[self._graph.positions[version]]
        return self._runs.get(version, Runs()).failed > 0 and all(map(self._runs.get, before))

    @property
    def sides(self) -> tuple[Runs, Runs]:
        """The runs of bad and of good versions, if the likeliest suspect is to blame."""
        likeliest = self._likeliest_class()
        return likeliest.bad, likeliest.good

    # ---- what is known ----

    def result(self) -> NoisyResult[VersionT]:
        """Return what is known; if the search was stopped early, as AMBIGUOUS."""
        ranking = sorted(self.posterior().items(), key=lambda each: -each[1])
        top, probability = ranking[0]
        hidden = self._not_to_be_told_from(self._graph.positions[top])
        is_found = probability >= self._confidence and len(hidden) == 1
        fails_if_bad, fails_if_good = self.rates
        before = self._graph.named_parents[self._graph.positions[top]]
        return NoisyResult(
            first_bad=top if is_found else None,
            probability=probability,
            last_good=before[0] if is_found and before else None,
            ranking=tuple(ranking),
            suspects=(top,) if is_found else self._likely_together(ranking),
            runs=dict(self._runs),
            skipped=self.skipped,
            fails_if_bad=fails_if_bad,
            fails_if_good=fails_if_good,
            is_edge_tested=self._is_edge_tested(top),
            stopped=StopReason.FOUND if is_found else StopReason.AMBIGUOUS,
        )

    def _likely_together(self, ranking: Sequence[tuple[VersionT, float]]) -> tuple[VersionT, ...]:
        found: list[VersionT] = []
        total = 0.0
        for version, probability in ranking:
            if total >= self._confidence:
                break
            found.append(version)
            total += probability
        return tuple(sorted(found, key=self._graph.positions.__getitem__))

    def _top(self) -> tuple[int, float]:
        """Return the likeliest suspect, of equals the oldest, and its probability."""
        best = self._likeliest_class()
        return self._suspicion.oldest_of(best), best.probability / best.size

    def _likeliest_class(self) -> SuspectClass:
        return max(self._suspicion.classes, key=lambda each: each.probability / each.size)

    def is_likely(self) -> bool:
        """Whether a suspect, or those that skips hide together with it, is likely enough."""
        position, probability = self._top()
        if probability >= self._confidence:
            return True
        if not self._skipped:
            return False
        shares = self._suspicion.probabilities()
        hidden = self._not_to_be_told_from(position)
        return sum(shares[each] for each in hidden) >= self._confidence

    def doubt_of(self, version: VersionT) -> float:
        """Return the chance that ``version``, and all that skips hide with it, are innocent."""
        shares = self._suspicion.probabilities()
        hidden = self._not_to_be_told_from(self._graph.positions[version])
        return math.fsum(share for each, share in enumerate(shares) if each not in hidden)

    def _not_to_be_told_from(self, position: int) -> set[int]:
        """Return the suspects that no version that may be run tells from ``position``.

        They lie next to it: on the way from it to the versions that can be run.
        """
        if not self._skipped:
            return {position}
        graph = self._graph
        children: list[list[int]] = [[] for _ in graph.versions]
        for each, above in enumerate(graph.parents):
            for parent in above:
                children[parent].append(each)
        wanted = self._seen_by(position, children)
        found, looked_at, left = {position}, {position}, [position]
        while left:
            each = left.pop()
            for near in (*graph.parents[each], *children[each]):
                if near in looked_at:
                    continue
                looked_at.add(near)
                if self._seen_by(near, children) == wanted:
                    found.add(near)
                    left.append(near)
        return found

    def _seen_by(self, position: int, children: Sequence[Sequence[int]]) -> frozenset[int]:
        """Return the versions that may be run and would fail if ``position`` were to blame."""
        reached, left = {position}, [position]
        while left:
            for child in children[left.pop()]:
                if child not in reached:
                    reached.add(child)
                    left.append(child)
        versions = self._graph.versions
        return frozenset(each for each in reached if versions[each] not in self._skipped)
