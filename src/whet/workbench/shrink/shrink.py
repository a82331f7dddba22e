"""`whet shrink`: the smallest file that still fails the same way."""

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from pathlib import Path

from whet.core.budget import Budget, StopReason
from whet.core.errors import BadUsage
from whet.core.oracle import BadIf, CostsMore, Oracle, SameFailure
from whet.core.trial import STDIN_EMPTY, Trial
from whet.core.value_class import value_class
from whet.execution.warm_search import WarmSearch
from whet.reduction.reducer import reducer_of
from whet.reduction.validity import lost_header, validity_of
from whet.workbench.compare.weighing import weighing_for
from whet.workbench.files.copies import reproduce_on_copies
from whet.workbench.files.first_reading import read_first_elsewhere
from whet.workbench.files.results import result_path
from whet.workbench.shrink.also_found import OtherFailures
from whet.workbench.shrink.cost_limit import SECONDS
from whet.workbench.shrink.earlier_good import earlier_good
from whet.workbench.shrink.goals import DEFAULT_FLOOR, Goals
from whet.workbench.shrink.good_data import good_data
from whet.workbench.shrink.held_order import hold_order
from whet.workbench.shrink.resuming import Wanted, best_so_far
from whet.workbench.shrink.same_cause import NO_CAUSE, SameCause
from whet.workbench.shrink.shrink_search import ShrinkSearch
from whet.workbench.shrink.shrinking import Guard, Payload, Shrinking
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.investigation import ShrunkPayload
from whet.workbench.trials.payload import bind_payloads, read_folder, read_payload
from whet.workbench.trials.reproduce import Baseline, held_to_site, with_patience
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Place, Session, open_session


@value_class(kw_only=True)
class ShrinkOptions:
    """How to shrink.

    Attributes:
        files: the payloads, as the user named them.
        result: where the smaller payload goes; empty: beside the original.
        budget: when to stop.
        jobs: trials at once; None: all cores.
        cold: run each trial from its start.
        defaults: what the one file is brought nearer to; None: nothing.
        wishes: what is asked of the result.
        cause: why the command fails, if that is known: the result keeps it.
    """

    files: tuple[str, ...]
    result: str = ""
    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None
    cold: bool = False
    defaults: bytes | None = None
    wishes: Goals = field(default_factory=Goals)
    cause: SameCause = NO_CAUSE


def shrink(
    bench: Workbench, request: TrialRequest, options: ShrinkOptions
) -> tuple[ShrunkPayload, ...]:
    """Make the payloads of a command smaller, one after the other.

    Raises:
        BadUsage, CannotWrite: if a result would be lost, or can't be written.
        PayloadMissing, PayloadEmpty, PayloadTooLarge, PayloadUnreadable,
        PayloadNotInCommand: if a file or folder can't be shrunk.
        BadUsage: if what is asked of the result can't be had.
        BaselineDoesNotFail: if the command passes.
        CopyFailsOtherwise: if it doesn't fail on a copy of the files as it does on them.
    """
    started = time.monotonic()
    options.wishes.check(request.measures)
    # The script of another reducer finds the files in the folder that it starts in.
    is_home = bool(request.judging.interesting) and not request.command
    request = script_on_file(request, options.files)
    trial_as_typed = trial = bench.build_trial(request)
    payloads = read_all(bench, request, options.files, options.result)
    for payload in payloads:
        options.wishes.preference(payload.data)  # what can't be had is said before a run
    trial = bench.for_search(trial, places_of(payloads))
    trial = bind_all(bench, trial, request, payloads, is_home=is_home)
    start = trial
    with open_session(bench, "shrink", request, trial) as opened, ExitStack() as stack:
        weighing = weighing_for(bench, request.judging.bound, None, stack)
        if weighing is not None:
            options = replace(options, jobs=1)  # two at once would measure each other
        session = replace(opened, weighing=weighing)
        files = [payload.path for payload in payloads]
        copied = reproduce_on_copies(session, trial, files)
        cleared = replace(session, clears_temporary=True)
        order = hold_order(cleared, copied)
        searching = session if order is copied else cleared  # it was seen to fail there too
        trial, baseline = order.trial, order.baseline
        guard, place = earlier_good(session, trial_as_typed, trial, baseline, files) or (None, None)
        results: list[ShrunkPayload] = []
        for position, payload in enumerate(payloads):
            # The last run of all, from the start, is part of the time that the user has given.
            spent = time.monotonic() - started + baseline.reproduction.wall_seconds
            left = replace(options, budget=options.budget.less(spent, 0))
            shrunk = shrink_one(
                searching, trial, position, payload, baseline, options=left, start=start,
                guard=guard, place=place, is_order_held=order is not copied,
            )  # fmt: skip
            results.append(shrunk)
            trial = trial.with_payload(bench.payload_store.keep(shrunk.content), position)
            if shrunk.stopped is StopReason.INTERRUPTED:
                break
        paths = [result.result for result in results]
        session.conclude(results[-1].stopped, {"payloads": paths})
    return tuple(results)


def script_on_file(request: TrialRequest, files: tuple[str, ...]) -> TrialRequest:
    """Let a script that judges take the files as its arguments when no command is given."""
    if not request.judging.script or request.command:
        return request
    if request.judging.interesting:
        _refuse_namesakes(files)
        _refuse_what_cannot_run(request)
    return replace(request, command=files)


def _refuse_namesakes(files: Sequence[str]) -> None:
    names = [Path(file).name for file in files]
    for name in names:
        if names.count(name) > 1:
            raise BadUsage(
                f"more than one file is called `{name}`, and the script identifies them by name",
                hint="shrink one at a time, or rename one",
            )


def _refuse_what_cannot_run(request: TrialRequest) -> None:
    script = Path(request.cwd or ".", request.judging.interesting)
    if script.is_file() and not os.access(script, os.X_OK):
        raise BadUsage(
            f"`{request.judging.interesting}` isn't executable",
            hint=f"make it executable: `chmod +x {request.judging.interesting}`",
        )


def read_all(
    bench: Workbench, request: TrialRequest, files: Sequence[str], output: str = ""
) -> list[Payload]:
    """Read the payloads and decide where the smaller ones go, before anything is run."""
    payloads: list[Payload] = []
    for name in files:
        path = Path(os.path.abspath(Path(request.cwd or bench.project.folder, name)))
        is_folder = path.is_dir()
        data = read_folder(path, name) if is_folder else read_payload(path, name)
        other_results = {payload.result for payload in payloads}
        is_alone = len(files) == 1
        target = result_path(bench, path, output, other_results=other_results, is_alone=is_alone)
        payloads.append(
            Payload(shown=name, path=path, result=target, data=data, is_folder=is_folder)
        )
    return payloads


def places_of(payloads: list[Payload]) -> list[Path]:
    """Return where the payloads and their results lie."""
    return [path for payload in payloads for path in (payload.path, payload.result)]


def bind_all(
    bench: Workbench,
    trial: Trial,
    request: TrialRequest,
    payloads: list[Payload],
    *,
    is_home: bool = False,
) -> Trial:
    """Return the trial with each payload bound to its place in the command.

    Args:
        bench: the workbench.
        trial: the command.
        request: what the user asked for.
        payloads: what is varied.
        is_home: whether the command starts where the payloads lie.
    """
    files = [(payload.shown, bench.payload_store.keep(payload.data)) for payload in payloads]
    bindings = bind_payloads(trial.command, Path(trial.cwd), files, stdin=request.stdin)
    bindings = tuple(replace(binding, is_home=is_home) for binding in bindings)
    reads = any(binding.argument is None for binding in bindings)
    return replace(trial, payloads=bindings, stdin=STDIN_EMPTY if reads else trial.stdin)


def shrink_one(  # noqa: PLR0913 - the parts of one search, each with its own lifetime
    session: Session,
    trial: Trial,
    position: int,
    payload: Payload,
    baseline: Baseline,
    *,
    options: ShrinkOptions,
    guard: Guard | None = None,
    place: Place | None = None,
    start: Trial | None = None,
    is_order_held: bool = False,
) -> ShrunkPayload:
    """Make one payload smaller; the best result is on disk at every moment.

    Raises:
        BadUsage: if what is asked of the result can't be had.
    """
    bench, wishes = session.bench, options.wishes
    if not payload.is_folder:
        read_first_elsewhere(payload.data, payload.path.name)
    preference = wishes.preference(payload.data)
    preference = replace(preference, keep=(*preference.keep, *options.cause.records))
    is_valid = None if payload.is_folder else validity_of(payload.data, payload.path.name)
    adapts = trial.limits.wall_seconds is None
    trial = with_patience(trial, baseline.reproduction.wall_seconds)
    good = None
    if isinstance(baseline.oracle, SameFailure):  # else the user says what counts
        preference = replace(preference, is_valid=is_valid)
        if not payload.is_folder and options.defaults is None:
            good = good_data(session, trial, position, payload.path, baseline, place)
            preference = replace(preference, shows_nothing=None if good is None else good.holds)
    oracle = wishes.judged_by(held_to_site(baseline, trial, options.cause.values), baseline)
    work = Shrinking(bench, trial, position, payload, oracle, guard=guard)
    work.others = OtherFailures(
        original=baseline.outcome.failure, content=payload.data, is_valid=is_valid
    )
    work.adapts = adapts
    floor = wishes.floor(baseline)
    # The best towards defaults isn't the smallest: the notebook answers the same questions.
    if wishes.resume and start is not None and options.defaults is None:
        problem = reducer_of(payload.data, name=payload.path.name, preference=preference).problem
        request = Wanted(oracle=oracle, problem=problem, floor=floor or DEFAULT_FLOOR)
        work.resume_from(best_so_far(bench, request, start=start, now=trial, position=position))
    why_cold = "`--cold`" if options.cold else why_not_warm(baseline, trial, wishes, floor)
    warm = None
    if not why_cold:
        warm = WarmSearch(bench.cleanup_journal, position=position, judge=oracle.judge)
    search = ShrinkSearch(
        session=session, work=work, oracle=oracle, repeats=baseline.repeats, floor=floor,
        place=place, jobs=options.jobs or bench.jobs, budget=options.budget,
        warm=warm, why_cold=why_cold, preference=preference, pretty=wishes.pretty,
        defaults=options.defaults, is_order_held=is_order_held, is_shown=options.cause.is_shown,
    )  # fmt: skip
    result = search.run()
    return replace(
        result,
        is_refused=is_valid is not None and not is_valid(result.content),
        lost_header=lost_header(payload.data, result.content, payload.path.name),
        good_file="" if good is None else good.label,
        not_excluded="" if guard is not None else _not_excluded(baseline, oracle),
        keeps=options.cause.says,
    )


def _not_excluded(baseline: Baseline, oracle: Oracle) -> str:
    """Return what a result may show instead, where nothing that passes was there to compare with."""
    failure = baseline.outcome.failure
    if not isinstance(oracle, SameFailure) or failure is None:
        return ""  # the user says what counts
    if oracle.site is None:
        return "another bug with the same message"
    is_assertion = failure.signature.exception.endswith("AssertionError")
    if is_assertion and oracle.site.sign is None:
        return "another value at the same assert"
    return "an older bug in the same place"


def why_not_warm(baseline: Baseline, trial: Trial, wishes: Goals, floor: float) -> str:
    """Return why no trial of a search may run on from a frozen copy; empty if it may."""
    if floor:
        return "it fails only sometimes: how often is measured from the start"
    oracle = baseline.oracle
    weighs = isinstance(oracle, CostsMore) or (
        isinstance(oracle, BadIf) and oracle.condition.weighs_resources
    )
    if weighs or wishes.objective == SECONDS:
        return "it is judged by time or memory"
    if any(payload.is_home for payload in trial.payloads):
        return "the script starts in the folder of the file, which is a new one each time"
    return ""
