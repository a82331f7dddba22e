"""`whet shrink`: the smallest file that still fails the same way."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.core.budget import Budget, StopReason
from whet.core.event import Event, Notice, PayloadReduced, TrialFinished
from whet.core.failure import FailureSignature
from whet.core.oracle import Oracle, SameFailure
from whet.core.trial import STDIN_EMPTY, Trial
from whet.core.verdict import Verdict
from whet.execution.caching import CachingExecutor
from whet.host.files import write_atomically
from whet.reduction.problem import Reduced
from whet.reduction.reducer import Reduction, reduce_payload
from whet.workbench.bench import Place, Workbench
from whet.workbench.copies import reproduce_on_copies
from whet.workbench.driver import HOLDS_NO_MORE, Driver, Ended, Question, announce, stop_reason_of
from whet.workbench.investigation import AlsoFound, ShrunkPayload
from whet.workbench.payload import bind_payloads, read_payload
from whet.workbench.reproduce import Baseline
from whet.workbench.request import TrialRequest
from whet.workbench.results import result_path

_PATIENCE = 10
"""A candidate may take so many times as long as the original before it counts as hanging."""

_LEAST_SECONDS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkOptions:
    """How to shrink.

    Attributes:
        files: the payloads, as the user named them.
        result: where the smaller payload goes; empty: beside the original.
        budget: when to stop.
        jobs: trials at once; None: all cores.
    """

    files: tuple[str, ...]
    result: str = ""
    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A version on which a candidate must pass to count.

    Attributes:
        label: the last good version.
        on_good_side: makes of a trial the same one on the last good version.
    """

    label: str
    on_good_side: Callable[[Trial], Trial]


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A file to be made smaller.

    Attributes:
        shown: its name as the user wrote it.
        path: where it lies.
        result: where the smaller one goes.
        data: what it holds.
    """

    shown: str
    path: Path
    result: Path
    data: bytes


def shrink(
    bench: Workbench, request: TrialRequest, options: ShrinkOptions
) -> tuple[ShrunkPayload, ...]:
    """Make the payloads of a command smaller, one after the other.

    Raises:
        BadUsage, CannotWrite: if a result would be lost, or cannot be written.
        PayloadMissing, PayloadEmpty, PayloadIsFolder, PayloadUnreadable,
        PayloadNotInCommand: if a file cannot be shrunk.
        BaselineDoesNotFail: if the command passes.
        CopyFailsOtherwise: if it does not fail on a copy of the files as it does on them.
    """
    request = script_on_file(request, options.files)
    trial = bench.build_trial(request)
    payloads = read_all(bench, request, options.files, options.result)
    trial = bind_all(bench, bench.for_search(trial, places_of(payloads)), request, payloads)
    investigation = bench.notebook.begin_investigation(verb="shrink", trial=trial)

    def record(starting: Trial) -> int:
        return bench.notebook.begin(
            starting, verb="shrink", name=request.name, note=request.note,
            expectation=request.expectation, investigation=investigation,
        )  # fmt: skip

    files = [payload.path for payload in payloads]
    copied = reproduce_on_copies(bench, trial, files, request.judging, record)
    trial, baseline = copied.trial, copied.baseline
    results: list[ShrunkPayload] = []
    for position, payload in enumerate(payloads):
        shrunk = shrink_one(bench, trial, position, payload, baseline, record, options=options)
        results.append(shrunk)
        trial = trial.with_payload(bench.shelf.keep(shrunk.content), position)
        if shrunk.stopped is StopReason.INTERRUPTED:
            break
    bench.notebook.end_investigation(
        investigation, results[-1].stopped, {"payloads": [result.result for result in results]}
    )
    return tuple(results)


def script_on_file(request: TrialRequest, files: tuple[str, ...]) -> TrialRequest:
    """Let a script that judges take the files as its arguments when no command is given."""
    if request.judging.script and not request.command:
        return replace(request, command=files)
    return request


def read_all(
    bench: Workbench, request: TrialRequest, files: Sequence[str], output: str = ""
) -> list[Payload]:
    """Read the payloads and decide where the smaller ones go, before anything is run."""
    payloads: list[Payload] = []
    for shown in files:
        path = Path(os.path.abspath(Path(request.cwd or bench.project.folder, shown)))
        data = read_payload(path, shown)
        taken = {payload.result for payload in payloads}
        is_alone = len(files) == 1
        target = result_path(bench, path, output, taken=taken, is_alone=is_alone)
        payloads.append(Payload(shown=shown, path=path, result=target, data=data))
    return payloads


def places_of(payloads: list[Payload]) -> list[Path]:
    """Return where the payloads and their results lie."""
    return [path for payload in payloads for path in (payload.path, payload.result)]


def bind_all(
    bench: Workbench, trial: Trial, request: TrialRequest, payloads: list[Payload]
) -> Trial:
    """Return the trial with each payload bound to its place in the command."""
    files = [(payload.shown, bench.shelf.keep(payload.data)) for payload in payloads]
    bindings = bind_payloads(trial.command, Path(trial.cwd), files, stdin=request.stdin)
    reads = any(binding.argument is None for binding in bindings)
    return replace(trial, payloads=bindings, stdin=STDIN_EMPTY if reads else trial.stdin)


def shrink_one(  # noqa: PLR0913 - the parts of one search, each with its own lifetime
    bench: Workbench,
    trial: Trial,
    position: int,
    payload: Payload,
    baseline: Baseline,
    record: Callable[[Trial], int],
    *,
    options: ShrinkOptions,
    guard: Guard | None = None,
    place: Place | None = None,
) -> ShrunkPayload:
    """Make one payload smaller; the best result is on disk at every moment."""
    trial = with_patience(trial, baseline)
    oracle = held_to_statement(baseline, trial)

    def search(*, cached: bool) -> tuple[_Shrinking, Ended[Reduction], int]:
        work = _Shrinking(bench, trial, position, payload, oracle)
        with bench.executor(record, jobs=jobs, cached=cached, place=place) as executor:
            driver = Driver(
                executor=executor,
                oracle=oracle,
                emit=work.observe,
                budget=options.budget,
                jobs=jobs,
                repeats=baseline.repeats,
                judged=lambda number, verdict: bench.notebook.judge(
                    number, oracle.description, verdict, None
                ),
            )
            proposals = reduce_payload(payload.data, name=payload.path.name)
            ended = driver.run(proposals, lambda each: work.ask(each, guard), work.found_bad)
            return work, ended, executor.hits if isinstance(executor, CachingExecutor) else 0

    jobs = options.jobs or bench.jobs
    work, ended, cached = search(cached=baseline.repeats == 1)
    if cached and ended.stopped is not StopReason.INTERRUPTED:
        # The result may rest on memory alone, and the world may have changed in a way that no
        # key counts: a server, or a file that the command does not name.
        with bench.executor(record, place=place) as executor:
            holds = oracle.judge(executor.submit(work.best_trial).result()) is Verdict.BAD
        if not holds:
            bench.emit(Notice(text=HOLDS_NO_MORE))
            work, ended, cached = search(cached=False)
    reason = stop_reason_of(ended, StopReason.MINIMAL)
    announce(bench.emit, ended, reason)
    return work.result(ended, reason, cached=cached, guarded_by=guard.label if guard else "")


def held_to_statement(baseline: Baseline, trial: Trial) -> Oracle:
    """Return the oracle that also tells two bare asserts of one function apart.

    In a shrink the code stays as it is, unless it is the payload itself.
    """
    oracle, failure = baseline.oracle, baseline.outcome.failure
    if not isinstance(oracle, SameFailure) or failure is None or failure.place is None:
        return oracle
    if Path(failure.place.path).name in {payload.name for payload in trial.payloads}:
        return oracle
    return replace(oracle, statement=failure.statement)


def with_patience(trial: Trial, baseline: Baseline) -> Trial:
    """Return the trial with a limit of time, so that a candidate that hangs ends.

    The limit is a power of two: a slightly faster or slower baseline then gives the same
    limit, hence the same keys, and a search that is resumed finds its earlier trials.
    """
    if trial.limits.wall_seconds is not None:
        return trial
    seconds = max(_LEAST_SECONDS, _PATIENCE * baseline.reproduction.wall_seconds)
    rounded = 2.0 ** math.ceil(math.log2(seconds))
    return replace(trial, limits=replace(trial.limits, wall_seconds=rounded))


class _Shrinking:
    """The state of one shrink: the best payload so far, and what slipped."""

    def __init__(
        self, bench: Workbench, trial: Trial, position: int, payload: Payload, oracle: Oracle
    ) -> None:
        self._bench = bench
        self._trial = trial
        self._position = position
        self._payload = payload
        self._oracle = oracle
        self._best = payload.data
        self._others: dict[FailureSignature, AlsoFound] = {}

    @property
    def best_trial(self) -> Trial:
        """The trial on the smallest payload so far."""
        return self._trial.with_payload(self._bench.shelf.hold(self._best), self._position)

    def ask(self, candidate: Reduced, guard: Guard | None) -> Question:
        digest = self._bench.shelf.hold(candidate.data)
        trial = self._trial.with_payload(digest, self._position)
        return Question(
            trial=trial,
            guard=None if guard is None else guard.on_good_side(trial),
            label=f"{len(candidate.data)} bytes",
        )

    def observe(self, event: Event) -> None:
        """Keep what slipped to another failure, and pass the event on."""
        if isinstance(event, TrialFinished) and event.verdict is Verdict.SKIP:
            self._keep_other(event)
        self._bench.emit(event)

    def _keep_other(self, event: TrialFinished) -> None:
        failure = event.outcome.failure
        if failure is None or not isinstance(self._oracle, SameFailure):
            return
        if self._oracle.judge(event.outcome) is Verdict.BAD:
            return  # it fails on the good side too
        digest = event.trial.payloads[self._position].digest
        data = self._bench.shelf.payload_of(digest)
        assert isinstance(data, bytes)
        known = self._others.get(failure.signature)
        if known is None or len(data) < len(known.payload):
            place = failure.place
            self._others[failure.signature] = AlsoFound(
                summary=failure.summary,
                place="" if place is None else f"{Path(place.path).name}:{place.line}",
                payload=data,
            )

    def found_bad(self, candidate: Reduced) -> None:
        """Put a smaller payload on disk."""
        before, self._best = len(self._best), candidate.data
        self._bench.shelf.keep(candidate.data)
        write_atomically(self._payload.result, candidate.data)
        self._bench.emit(
            PayloadReduced(
                before_bytes=before, after_bytes=len(candidate.data), by_pass=candidate.by_pass
            )
        )

    def result(
        self, ended: Ended[Reduction], reason: StopReason, *, cached: int, guarded_by: str
    ) -> ShrunkPayload:
        if self._best == self._payload.data:
            write_atomically(self._payload.result, self._best)
        return ShrunkPayload(
            original=self._payload.shown,
            result=str(self._payload.result),
            before_bytes=len(self._payload.data),
            content=self._best,
            stopped=reason,
            trials=ended.trials - cached,
            cached=cached,
            wall_seconds=ended.wall_seconds,
            guarded_by=guarded_by,
            also_found=tuple(self._others.values()),
        )
