"""Does the answer of a search hold that took each run at its word?

A bisection takes one pass for a proof. If the failure comes only sometimes, that pass may have
been luck, and the search continued in the wrong half. Nothing is lost by seeing that at the end:
the runs of the search are evidence on their own. A failure that always comes explains any
pattern of verdicts, one that comes sometimes explains some better than others: many passes
before the answer and few failures after it. So all of it is weighed (`NoisyBisection`), as if it
were even odds that the failure comes only sometimes, and versions are run again until the answer
is likely enough.

Which are run again follows from what is feared. Where the answer is wrong, a version that passed
is bad: it fails in a second run as often as the failure comes at all, and one that failed passes
as often as it doesn't come. So that run is made next after which, if it is the same once more,
least doubt is left: mostly the answer and the versions directly before it in turns. A first run
that does something else settles it, so that each run but the last is known beforehand, and as
many go at once as may.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import FailureRates, Runs
from whet.search.flaky.noisy_bisection import NoisyBisection
from whet.search.history.version_graph import VersionT
from whet.search.proposal import Search
from whet.search.round import Round

STEADY = 0.5
"""The share of the failures seen every time so far that really always happen: even odds."""

CONFIDENCE = 0.98

MOST_AGAIN = 8
"""After this many runs with the same result whet accepts the answer, whatever else it has seen."""

FEARED = (0.5, 0.2)
"""Failure rates for which whet reports the remaining doubt."""


@value_class(kw_only=True)
class AnswerCheck(Generic[VersionT]):
    """What came of running versions again.

    Attributes:
        differed: the first version that did something else than before; None: none did.
        runs: how many runs did the same.
        doubts: failure rates, each with the chance that the answer is wrong, were it even odds
            that the failure comes at this rate and not always; empty where a version differed.
    """

    differed: VersionT | None
    runs: int
    doubts: tuple[tuple[float, float], ...] = ()


@dataclass(slots=True, kw_only=True)
class _Evidence(Generic[VersionT]):
    """All runs that the answer rests on.

    Attributes:
        parents: the suspects, as of `NoisyBisection`.
        ends: runs of the end that fails besides, as of `NoisyBisection`.
        is_fix: the old kind is the one that fails.
        seen: what was run, with what it did.
    """

    parents: Mapping[VersionT, Sequence[VersionT]]
    ends: tuple[Runs, Runs]
    is_fix: bool
    seen: list[tuple[VersionT, Verdict]]

    def weighed(self, else_at: float | None = None) -> NoisyBisection[VersionT]:
        """Weigh it; if the failure doesn't come each time, it comes at the rate ``else_at``."""
        weighed = NoisyBisection(
            self.parents,
            rates=FailureRates.likely_steady(STEADY, else_at=else_at, is_fix=self.is_fix),
            ends=self.ends,
            confidence=CONFIDENCE,
        )
        weighed.tell(*zip(*self.seen, strict=True))
        return weighed

    def doubts(self) -> tuple[tuple[float, float], ...]:
        """Return what doubt of the answer is left at some rates."""
        answer, _ = self.weighed().likeliest()
        return tuple((rate, self.weighed(rate).doubt_of(answer)) for rate in FEARED)


def second_look(
    parents: Mapping[VersionT, Sequence[VersionT]],
    told: Mapping[VersionT, Verdict],
    *,
    remembered: Mapping[VersionT, Verdict] | None = None,
    is_fix: bool = False,
    failures: int = 0,
    at_once: int = 1,
) -> Search[VersionT, AnswerCheck[VersionT]]:
    """Propose versions to be run again until the answer is likely enough.

    Args:
        parents: the suspects, as of `NoisyBisection`.
        told: what each version that was run did, GOOD meaning the old kind.
        remembered: the same of versions that were run some other day. Those that were not run
            since then aren't run again, as what does something else now need not be flaky.
        is_fix: the old kind is the one that fails.
        failures: how often the kind that fails was run besides, and failed each time.
        at_once: how many runs are asked for at a time.
    """
    failed = Runs(0, failures) if is_fix else Runs(failures, 0)
    evidence = _Evidence(
        parents=parents,
        ends=(Runs(), failed) if is_fix else (failed, Runs()),
        is_fix=is_fix,
        seen=[*told.items(), *(remembered or {}).items()],
    )
    askable = {each: verdict for each, verdict in told.items() if verdict is not Verdict.SKIP}
    weighed, asked, same = evidence.weighed(), 0, 0
    while batch := _batch(weighed, askable, min(at_once, MOST_AGAIN - asked)):
        asked += len(batch)
        verdicts = yield Round(batch)
        for version, verdict in zip(batch, verdicts, strict=True):
            if verdict is Verdict.SKIP:  # that says nothing about this failure
                askable.pop(version, None)
            elif verdict is not told[version]:
                return AnswerCheck(differed=version, runs=same)
            else:
                same += 1
                evidence.seen.append((version, verdict))
        if Verdict.SKIP in verdicts:  # what was told of it beforehand did not come
            weighed = evidence.weighed()
    return AnswerCheck(differed=None, runs=same, doubts=evidence.doubts())


def _batch(
    weighed: NoisyBisection[VersionT], askable: Mapping[VersionT, Verdict], most: int
) -> list[VersionT]:
    """Return what is run next, and tell that each of them did the same once more."""
    batch: list[VersionT] = []
    while len(batch) < most and not weighed.is_likely():
        version = weighed.confirming(askable)
        if version is None:
            break
        batch.append(version)
        weighed.tell((version,), (askable[version],))
    return batch
