"""`whet repeat`: how often and how a command fails, and how long it takes."""

from collections.abc import Sequence
from dataclasses import field, replace
from functools import partial
from statistics import median

from whet.core.budget import Budget, StopReason
from whet.core.event import Notice, RunsCounted
from whet.core.failure import FailureSignature
from whet.core.oracle import Oracle
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.flaky.rates import Enough, Interval, passes_to_be_sure, wilson
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.offered_rooms import offering_clean_rooms
from whet.workbench.trials.repeated import Repeated
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session
from whet.workbench.trials.tested import Tested

CONFIDENCE = 0.95


@value_class(kw_only=True)
class RepeatOptions:
    """How often to run.

    Attributes:
        enough: when it was run often enough.
        confidence: of the interval, and of "it is fixed".
        budget: when to stop.
        jobs: runs at once.
    """

    enough: Enough
    confidence: float = CONFIDENCE
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1


@value_class(kw_only=True)
class SameEnding:
    """Runs that ended the same way.

    Attributes:
        verdict: what that proves.
        summary: one line as the program said it; ``passes`` if it did not fail.
        place: where, such as ``app.py:12``; may be empty.
        trials: the notebook's numbers, in the order of the runs.
    """

    verdict: Verdict
    summary: str
    place: str
    trials: tuple[int, ...]


@value_class
class Times:
    """How long some runs took, in seconds."""

    median: float
    shortest: float
    longest: float


@value_class(kw_only=True)
class Repetition:
    """What the runs of one command did.

    Attributes:
        bad_means: what counts as a failure.
        failed: how many runs failed.
        passed: how many passed.
        skipped: how many proved nothing.
        interval: between which rates the true one lies.
        confidence: how surely.
        endings: the runs by how they ended, failures first, the most frequent first.
        failing: how long the failing ones took, or None.
        passing: how long the passing ones took, or None.
        passes_to_be_sure: number of passes in a row that would show a fix; None if it
            never failed.
        passes_at_most: the same if it fails as rarely as the interval allows.
        stopped: why it ended.
        wall_seconds: how long all of it took.
    """

    bad_means: str
    failed: int
    passed: int
    skipped: int
    interval: Interval
    confidence: float
    endings: tuple[SameEnding, ...]
    failing: Times | None
    passing: Times | None
    passes_to_be_sure: int | None
    passes_at_most: int | None
    stopped: StopReason
    wall_seconds: float

    @property
    def judged(self) -> int:
        """How many runs prove anything."""
        return self.failed + self.passed

    @property
    def rate(self) -> float | None:
        """Share of these that failed."""
        return self.failed / self.judged if self.judged else None


def repeat(bench: Workbench, request: TrialRequest, options: RepeatOptions) -> Repetition:
    """Run a command again and again; Ctrl-C or the budget end it with what is known by then."""
    trial = bench.build_trial(request)
    oracle = oracle_of(request.judging)
    with open_session(bench, "repeat", request, trial) as session:
        with session.executor(jobs=options.jobs) as executor:
            repeated = Repeated(
                executor=executor,
                oracle=oracle,
                trial=lambda _: trial,
                jobs=options.jobs,
                budget=options.budget,
                heard=partial(_tell, session, oracle, options.enough.most or 0),
            )
            with offering_clean_rooms(bench, trial):
                stopped = repeated.run(lambda verdicts: options.enough.more(verdicts, options.jobs))
        reason = stopped or StopReason.MEASURED
        session.stopped(reason, len(repeated.runs), repeated.wall_seconds)
        repetition = repetition_of(
            repeated.runs, oracle.description, options.confidence, reason, repeated.wall_seconds
        )
        facts = {
            "failed": repetition.failed,
            "passed": repetition.passed,
            "skipped": repetition.skipped,
        }
        session.conclude(reason, facts)
    return repetition


def _tell(session: Session, oracle: Oracle, planned: int, runs: Sequence[Tested[object]]) -> None:
    """Tell of a run; of a failure in words if it is the first of its kind."""
    last = runs[-1]
    label = f"run {len(runs)}"
    session.tell(replace(last, label=label), oracle)
    signatures = {each.outcome.signature for each in runs[:-1]}
    if last.outcome.failure is not None and last.outcome.signature not in signatures:
        summary = last.outcome.failure.summary
        session.emit(Notice(text=f"{label} (trial {last.number}): {summary}"))
    failures = sum(each.verdict is Verdict.BAD for each in runs)
    session.emit(RunsCounted(failed=failures, runs=len(runs), planned=planned))


def repetition_of(
    runs: Sequence[Tested[object]],
    bad_means: str,
    confidence: float,
    stopped: StopReason,
    wall_seconds: float,
) -> Repetition:
    """Return what runs say together."""
    by_verdict = {
        verdict: [each for each in runs if each.verdict is verdict] for verdict in Verdict
    }
    failures, passes = len(by_verdict[Verdict.BAD]), len(by_verdict[Verdict.GOOD])
    interval = wilson(failures, failures + passes, confidence)
    return Repetition(
        bad_means=bad_means,
        failed=failures,
        passed=passes,
        skipped=len(by_verdict[Verdict.SKIP]),
        interval=interval,
        confidence=confidence,
        endings=_endings(runs),
        failing=_times(by_verdict[Verdict.BAD]),
        passing=_times(by_verdict[Verdict.GOOD]),
        passes_to_be_sure=passes_to_be_sure(failures / (failures + passes), confidence)
        if failures
        else None,
        passes_at_most=passes_to_be_sure(interval.low, confidence),
        stopped=stopped,
        wall_seconds=wall_seconds,
    )


def _endings(runs: Sequence[Tested[object]]) -> tuple[SameEnding, ...]:
    groups: dict[tuple[Verdict, FailureSignature | None], list[Tested[object]]] = {}
    for each in runs:
        groups.setdefault((each.verdict, each.outcome.signature), []).append(each)
    ordered = sorted(groups.values(), key=lambda group: (_ORDER[group[0].verdict], -len(group)))
    return tuple(_ending(group) for group in ordered)


_ORDER = {Verdict.BAD: 0, Verdict.SKIP: 1, Verdict.GOOD: 2}


def _ending(group: Sequence[Tested[object]]) -> SameEnding:
    first = group[0]
    failure = first.outcome.failure
    place = None if failure is None else failure.place
    return SameEnding(
        verdict=first.verdict,
        summary=_summary(first),
        place="" if place is None else f"{place.path.rpartition('/')[2]}:{place.line}",
        trials=tuple(each.own_number for each in group),
    )


def _summary(run: Tested[object]) -> str:
    if run.outcome.failure is not None:
        return run.outcome.failure.summary
    return "passes" if run.verdict is Verdict.GOOD else f"exits {run.outcome.shell_exit_code}"


def _times(runs: Sequence[Tested[object]]) -> Times | None:
    seconds = [each.outcome.wall_seconds for each in runs]
    return Times(median(seconds), min(seconds), max(seconds)) if seconds else None
