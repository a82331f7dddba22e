"""`whet shrink`: the smallest file that still fails the same way."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.core.budget import Budget, StopReason
from whet.core.oracle import Oracle, SameFailure
from whet.core.trial import STDIN_EMPTY, Trial
from whet.execution.warm_search import WarmSearch
from whet.workbench.bench import Place, Workbench
from whet.workbench.copies import reproduce_on_copies
from whet.workbench.investigation import ShrunkPayload
from whet.workbench.payload import bind_payloads, read_folder, read_payload
from whet.workbench.reproduce import Baseline
from whet.workbench.request import TrialRequest
from whet.workbench.results import result_path
from whet.workbench.shrink_search import ShrinkSearch, why_not_warm
from whet.workbench.shrinking import Guard, Payload, Shrinking

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
        cold: run each trial from its start.
        defaults: what the one file is brought nearer to; None: nothing.
    """

    files: tuple[str, ...]
    result: str = ""
    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None
    cold: bool = False
    defaults: bytes | None = None


def shrink(
    bench: Workbench, request: TrialRequest, options: ShrinkOptions
) -> tuple[ShrunkPayload, ...]:
    """Make the payloads of a command smaller, one after the other.

    Raises:
        BadUsage, CannotWrite: if a result would be lost, or cannot be written.
        PayloadMissing, PayloadEmpty, PayloadTooLarge, PayloadUnreadable,
        PayloadNotInCommand: if a file or folder cannot be shrunk.
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
        is_folder = path.is_dir()
        data = read_folder(path, shown) if is_folder else read_payload(path, shown)
        taken = {payload.result for payload in payloads}
        is_alone = len(files) == 1
        target = result_path(bench, path, output, taken=taken, is_alone=is_alone)
        payloads.append(
            Payload(shown=shown, path=path, result=target, data=data, is_folder=is_folder)
        )
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
    work = Shrinking(bench, trial, position, payload, oracle, guard=guard)
    why_cold = "`--cold`" if options.cold else why_not_warm(baseline, trial)
    warm = None
    if not why_cold:
        warm = WarmSearch(bench.belongings, position=position, judge=oracle.judge)
    search = ShrinkSearch(
        bench=bench, work=work, oracle=oracle, repeats=baseline.repeats, record=record,
        place=place, jobs=options.jobs or bench.jobs, budget=options.budget, warm=warm,
        why_cold=why_cold, defaults=options.defaults,
    )  # fmt: skip
    return search.run()


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
