"""`whet investigate`: reproduce, classify, find the first bad version, shrink, report."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING

from whet.core.budget import OutOfTimeError, StopReason
from whet.core.errors import (
    BaselineDoesNotFail,
    BudgetTooSmall,
    CopyFailsOtherwise,
    DiskFull,
    WhetError,
)
from whet.core.event import Notice
from whet.core.failure import Failure, FailureKind
from whet.core.observations.clue import Clue, Mention, Sureness
from whet.core.text.quantity import shown_bytes, shown_seconds
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.delta.cases import Cases
from whet.workbench.files.copies import Copied, reproduce_on_copies
from whet.workbench.files.named_files import payload_names
from whet.workbench.files.report_place import ReportFolder
from whet.workbench.files.reproducer import make_reproducer
from whet.workbench.files.results import free_path
from whet.workbench.inspect.observed_failure import seen_lines
from whet.workbench.investigate.passing.good_sides import good_configuration
from whet.workbench.investigate.progress.investigating import (
    MORE_SECONDS,
    MOST_SECONDS,
    TIMES_FAILURE,
    History,
    HistoryOf,
    InvestigateOptions,
    Work,
    place_of,
)
from whet.workbench.investigate.progress.steps import Steps
from whet.workbench.investigate.steps.cost_steps import cost_in_words, find_cost, weighed
from whet.workbench.investigate.steps.costs import (
    look_at_busy_lines,
    look_at_memory,
    look_at_slower_lines,
)
from whet.workbench.investigate.steps.earlier_tests import fewer_tests
from whet.workbench.investigate.steps.fixed_already import look_at_releases
from whet.workbench.investigate.steps.histories import settle_history
from whet.workbench.investigate.steps.investigated_changes import (
    compare_configurations,
    compare_packages,
    compare_with_good,
    search_history,
)
from whet.workbench.investigate.steps.investigated_evidence import (
    fail_sooner,
    find_enough,
    hold_numbers,
    hold_order,
    look_at_its_calls,
    look_closer,
    order_results,
)
from whet.workbench.investigate.steps.missing_modules import look_for_module
from whet.workbench.investigate.steps.own_readings import look_at_readings
from whet.workbench.investigate.steps.polled_files import look_at_polled_files
from whet.workbench.investigate.steps.smaller import (
    cause_to_keep,
    said_when_empty,
    sampled,
    tiny_model,
    why_left_whole,
)
from whet.workbench.investigate.steps.so_far import Known, so_far
from whet.workbench.investigate.steps.surroundings import look_at_surroundings
from whet.workbench.investigate.steps.time_limit import as_asked, limited
from whet.workbench.investigate.symptoms.seldom import seldom_failure
from whet.workbench.investigate.traces.origins import with_users_files
from whet.workbench.shrink.shrink import ShrinkOptions, bind_all, places_of, read_all, shrink_one
from whet.workbench.shrink.shrinking import Guard, Payload
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.investigation import (
    Investigation,
    Reproducer,
    ShrunkPayload,
)
from whet.workbench.trials.reproduce import QUICK_SECONDS, Baseline
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session
from whet.workbench.versions.own_failure import check_shows_failure

if TYPE_CHECKING:
    from whet.workbench.bisect.packages import PackageSet

_AT_MOST = (
    f"it takes at most {MOST_SECONDS / 60:.0f} minutes, and no longer than {TIMES_FAILURE} times "
    "the"
    f" failure and {MORE_SECONDS:.0f} s; `--budget` changes that"
)
_BETWEEN_REPORTS = 1.0
_TIMES_SELDOM = 3
_BEFORE_HISTORY, _BEFORE_OTHERS, _BEFORE_LAST = 0.5, 0.8, 0.95
"""How much of the time the closer look may take: where there are versions to run, where there are none, and
where there is no data to make smaller either."""

_FOR_SURROUNDINGS = 0.25
"""How much of the time runs in another time zone, locale or shell may take."""

_FOR_READINGS = 0.7
"""How much of the time it may take to tell what costs it where a program measures itself."""

_BEFORE_CHECK = 0.8
"""How much of the time for a shrink it has before whet checks that its result has the same cause."""

_SLOW_SECONDS = 3.0
"""Of a program that takes longer, to write down all steps takes minutes."""

_SILENT_SECONDS = 3.0
"""A program that neither writes nor computes for this long may be stuck."""


def investigate(
    bench: Workbench,
    request: TrialRequest,
    options: InvestigateOptions,
    history_of: HistoryOf,
    pages: Callable[[Investigation], Mapping[str, bytes]],
) -> Investigation:
    """Find out why a command fails; every step is told while it is done.

    Once the failure is reproduced there is always a report: a step that has no time left, that
    can't be done or that Ctrl-C ends is said to be so, and costs no other one.

    Args:
        bench: the workbench.
        request: the command.
        options: how to investigate.
        history_of: finds the versions to search.
        pages: makes the files of the report from what is known; called after a step.

    Raises:
        BaselineDoesNotFail: if it doesn't fail.
    """
    started_at = datetime.now(UTC).isoformat()
    question = _asked(bench, request, options, history_of)
    # The failure is to be seen once with all that its frames held.
    tasks = AgentTasks(keeps_locals=True)
    with (
        open_session(bench, "investigate", request, question.trial, tasks=tasks) as session,
        ExitStack() as stack,
    ):
        work = _begin(session, options, question)
        work.session = weighed(work, stack)
        investigation = _investigated(work, started_at, pages)
        session.conclude(investigation.stopped, {"folder": str(work.folder)})
    work.report.write(pages(investigation))
    return investigation


def _investigated(
    work: Work, started_at: str, pages: Callable[[Investigation], Mapping[str, bytes]]
) -> Investigation:
    """Reproduce the failure, and take the steps."""
    payloads = _payloads(work)
    work.trial = work.bench.for_search(work.trial, [*places_of(payloads), work.folder])
    asked, work.trial = work.trial.limits.wall_seconds, limited(work)
    try:
        payloads, baseline = _reproduce(work, payloads)
    except OutOfTimeError:
        raise BudgetTooSmall(
            f"the command didn't fail within {shown_seconds(work.most_seconds)}",
            hint="give it more time: `--budget 10m`",
        ) from None
    work.trial = as_asked(work, baseline, asked)
    work.allot(baseline.reproduction.wall_seconds)
    settle_history(work, baseline)
    seen = seen_lines(with_users_files(baseline.outcome, work.trial))
    facts = Known(seen="\n".join(seen))
    published = 0.0

    def write(*, is_last: bool = False) -> None:
        nonlocal published
        if is_last or time.monotonic() - published > _BETWEEN_REPORTS:
            work.report.write(pages(so_far(work, baseline, facts, started_at)))
            published = time.monotonic()

    work.publish = write
    work.attempt(lambda: _classify(work, baseline), None)
    if work.session.weighing is None:
        _find_cause(work, facts, baseline, payloads)
    else:
        find_cost(work, facts, baseline)
    return so_far(work, baseline, facts, started_at)


def _payloads(work: Work) -> list[Payload]:
    """Return the files that are made smaller, each with where its result goes."""
    bench, request = work.bench, work.request
    payloads: list[Payload] = []
    # What a smaller file costs takes many runs of each candidate: `whet shrink` does that.
    is_weighed = work.session.weighing is not None
    names = [] if is_weighed else payload_names(work.trial, request.stdin)
    for payload in read_all(bench, request, names, str(work.folder)):
        other_results = {other.result for other in payloads}
        target = work.folder / payload.path.name
        result = free_path(bench, target, payload.path, other_results)
        payloads.append(replace(payload, result=result))
    return payloads


def _find_cause(work: Work, facts: Known, baseline: Baseline, payloads: list[Payload]) -> None:
    """Do one step after the other; each adds to what is known."""
    options = work.options
    none_left: tuple[Baseline, tuple[Clue, ...]] = (baseline, ())
    fewer, left = work.attempt(lambda: fewer_tests(work, baseline), none_left)
    none_seen: tuple[Clue, ...] = ()
    seeded = work.attempt(lambda: hold_numbers(work, fewer), None)
    results = none_seen if seeded else work.attempt(lambda: order_results(work, fewer), none_seen)
    unordered: tuple[Baseline, tuple[Clue, ...]] = (fewer, results)
    if not results and not seeded:
        unordered = work.attempt(lambda: hold_order(work, fewer), unordered)
    order, ordered = unordered
    facts.clues += ordered
    lacking = work.attempt(lambda: look_for_module(work, order), none_seen)
    facts.clues += lacking
    facts.clues += work.attempt(
        lambda: look_at_polled_files(work, order), none_seen, share=_FOR_SURROUNDINGS
    )
    if all(each.sureness is Sureness.POSSIBLE for each in lacking) and not _is_shown(facts):
        facts.clues += work.attempt(
            lambda: look_at_surroundings(work, order), none_seen, share=_FOR_SURROUNDINGS
        )
        _look_at_values(work, facts, order, seeded, _for_closer_look(work, payloads))
    known = tuple(facts.clues)
    facts.clues += work.attempt(lambda: look_at_memory(work, order, known), ())
    facts.clues += work.attempt(lambda: look_at_busy_lines(work, order), ())
    facts.clues[:0] = _of_releases(work, facts, order)
    # That an earlier test matters is sure; which line of it, or of a fixture, the others may say.
    is_told = any(each.sureness is not Sureness.POSSIBLE for each in facts.clues)
    facts.clues += left if is_told else (replace(each, sureness=Sureness.SHOWN) for each in left)
    as_it_is: tuple[Baseline, list[str]] = (order, [])
    sooner, quicker = work.attempt(lambda: fail_sooner(work, order), as_it_is)
    facts.conclusions += quicker
    is_named = options.good_trial is not None
    work.attempt(lambda: compare_with_good(work, order), None, is_asked=is_named)
    work.attempt(lambda: compare_configurations(work), None, is_asked=True)
    work.attempt(lambda: compare_packages(work), None, is_asked=True)
    is_named = bool(options.package or options.good or options.bad)
    work.attempt(lambda: search_history(work, sooner), None, is_asked=is_named)
    work.attempt(lambda: look_at_slower_lines(work, order), None)
    facts.conclusions += work.attempt(lambda: find_enough(work, order), [])
    for position, payload in enumerate(payloads):
        _shrink(work, facts, (position, payload), sooner)
    none_made: list[str] = []
    facts.conclusions += work.attempt(lambda: tiny_model(work, baseline), none_made)
    headline = (
        baseline.outcome.failure.summary
        if baseline.outcome.failure
        else ""
        if work.request.judging.condition is None
        else work.request.judging.condition.text
    )
    facts.reproducer = work.attempt(lambda: _hand_over(work, headline, order), None, is_last=True)


def _look_at_values(
    work: Work,
    facts: Known,
    baseline: Baseline,
    seeded: tuple[Trial, Baseline, Clue] | None,
    share: float,
) -> None:
    """Look for the cause in what the program held, unless all it fails by is what it costs.

    Args:
        work: the investigation.
        facts: what is known; gains what is found.
        baseline: how the command fails.
        seeded: with which random numbers it fails each time, how, and what is said of it.
        share: how much of the time a closer look may have.
    """
    none_seen: tuple[Clue, ...] = ()
    measured = work.attempt(
        lambda: look_at_readings(work, baseline), none_seen, share=_FOR_READINGS
    )
    facts.clues += measured
    # What takes the time of a run may also bring a value that is out of date: that is looked at, too.
    is_slow = baseline.reproduction.wall_seconds > _SLOW_SECONDS
    if any(
        each.sureness is Sureness.SHOWN
        or (each.sureness is Sureness.SEEN and (is_slow or Mention.MEMORY in each.mentions))
        for each in measured
    ):
        return
    # A change in the history is proof; what a closer look finds mostly is none.
    trial, (work.trial, looked_at, drawn) = work.trial, seeded or (work.trial, baseline, None)
    facts.clues += work.attempt(
        lambda: look_closer(work, looked_at, share, drawn, is_shown=_is_shown(facts)),
        none_seen,
        share=share,
    )
    work.trial = trial
    facts.clues += [] if drawn is None else [drawn]


def _for_closer_look(work: Work, payloads: list[Payload]) -> float:
    if work.history.versions is not None:
        return _BEFORE_HISTORY
    return _BEFORE_OTHERS if payloads else _BEFORE_LAST


def _is_shown(facts: Known) -> bool:
    return any(each.sureness is Sureness.SHOWN for each in facts.clues)


def _of_releases(work: Work, facts: Known, baseline: Baseline) -> tuple[Clue, ...]:
    """Return what other releases say: to install them takes long, so the program's own data go first."""
    none_tried: tuple[Clue, ...] = ()
    # A package that only reports an error of the user's code does so in each release.
    is_reporting = any(Mention.NEARER in each.mentions for each in facts.clues)
    if _is_shown(facts) or is_reporting:
        return none_tried
    return work.attempt(lambda: look_at_releases(work, baseline), none_tried, is_asked=True)


@value_class
class _Asked:
    """What is investigated: the command, what it is compared with, and where the report goes."""

    trial: Trial
    history: History
    report: ReportFolder
    configurations: Cases | None
    packages: "str | PackageSet" = ""


def _asked(
    bench: Workbench, request: TrialRequest, options: InvestigateOptions, history_of: HistoryOf
) -> _Asked:
    trial = bench.build_trial(request)
    if trial.hang_seconds is None and request.timeout_seconds is None:
        trial = replace(trial, hang_seconds=_SILENT_SECONDS, hangs_if_idle=True)
    packages: str | PackageSet = ""
    if options.good_packages:
        from whet.workbench.bisect.packages import read_set

        packages = read_set(bench, trial, options.good_packages)
    report = ReportFolder(bench, options.folder)
    try:
        configurations = good_configuration(
            bench, request, trial, options.good_config, output=str(report.path)
        )
    except WhetError:
        report.remove_if_empty()
        raise
    history = _history(bench, request, trial, options, history_of)
    if history.is_pinned and history.versions is not None:
        trial = history.versions.on(trial, history.versions.new)
    if options.budget.wall_seconds is None:
        bench.emit(Notice(text=_AT_MOST))
    return _Asked(trial, history, report, configurations, packages)


def _begin(session: Session, options: InvestigateOptions, question: _Asked) -> Work:
    work = Work(
        session=session, options=options, trial=question.trial, steps=Steps(session=session),
        report=question.report, history=question.history, configurations=question.configurations,
        packages=question.packages, began=options.began or time.monotonic(),
    )  # fmt: skip
    work.session = replace(session, deadline=work.began + work.most_seconds)
    return work


def _history(
    bench: Workbench,
    request: TrialRequest,
    trial: Trial,
    options: InvestigateOptions,
    history_of: HistoryOf,
) -> History:
    """Return the versions to search; a good one that is none costs that search alone."""
    try:
        return history_of(bench, request, trial, options)
    except WhetError as error:
        if options.package or not (options.good or options.bad):
            raise
        bench.emit(Notice(text=f"whet searches no history: {error}"))
        return History(versions=None, remark=f"whet searched no history: {error}")


def _reproduce(work: Work, payloads: list[Payload]) -> tuple[list[Payload], Baseline]:
    """Run the command on copies of its files, and once as it was typed, to see that it is one bug."""
    is_weighed = work.session.weighing is not None
    reason = "run it again, to see whether it fails the same way each time"
    if is_weighed:
        reason = "run it several times, to see what it costs"
    with work.steps.step("Reproduce", reason):
        if work.history.is_pinned and work.history.versions is not None and not is_weighed:
            check_shows_failure(work.session, work.trial, work.history.versions)
        payloads, copied = _on_copies(work, payloads)
        work.trial, baseline = copied.trial, copied.baseline
        reproduction = baseline.reproduction
        if is_weighed:
            result = cost_in_words(work, baseline)
        elif reproduction.is_deterministic:
            result = f"it failed the same way in each of {reproduction.attempts} runs"
        else:
            others = "; ".join(reproduction.other_failures)
            result = (
                f"flaky: it failed the same way in {reproduction.same_failures} of {reproduction.attempts} runs"
                f" (otherwise: {others}); each candidate is repeated until it is clear"
            )
        work.steps.conclude(f"{result}, {shown_seconds(reproduction.wall_seconds)} each")
    return payloads, baseline


def _on_copies(work: Work, payloads: list[Payload]) -> tuple[list[Payload], Copied]:
    """Reproduce on copies of the payloads; those whose copy fails in another way are left out."""

    def tried(chosen: list[Payload]) -> Copied:
        trial = bind_all(work.bench, work.trial, work.request, chosen)
        files = [payload.path for payload in chosen]
        session, place = work.session, place_of(work)
        try:
            return reproduce_on_copies(
                session, trial, files, place=place, quick_seconds=QUICK_SECONDS
            )
        except BaselineDoesNotFail:
            if session.weighing is not None:
                raise
            seldom = seldom_failure(session, trial, place)
            if seldom is None:
                raise
            failing, runs, attempts, how = seldom
            work.bench.emit(
                Notice(text=f"the first runs passed; it failed after {runs} more, {how}")
            )
            attempts = max(_TIMES_SELDOM * runs, attempts)
            return reproduce_on_copies(session, failing, files, place=place, attempts=attempts)

    try:
        copied = tried(payloads)
    except CopyFailsOtherwise as together:
        on_copies: list[Payload] = []
        for payload in payloads if len(payloads) > 1 else []:
            with suppress(CopyFailsOtherwise):
                tried([payload])
                on_copies.append(payload)
        left = ", ".join(f"`{payload.shown}`" for payload in payloads if payload not in on_copies)
        work.bench.emit(Notice(text=f"didn't shrink {left or 'the files'}: {together}"))
        return on_copies, tried(on_copies)
    run = _run_files(payloads, copied.baseline.outcome.failure)
    if not run:
        return payloads, copied
    names = ", ".join(f"`{payload.shown}`" for payload in run)
    work.bench.emit(Notice(text=f"didn't shrink {names}: its code runs where it fails"))
    return _on_copies(work, [payload for payload in payloads if payload not in run])


def _run_files(payloads: list[Payload], failure: Failure | None) -> list[Payload]:
    """Return the files that are code of the failing stack: a launcher was given its program."""
    frames = () if failure is None else failure.frames
    running = {PurePath(frame.path).name for frame in frames}
    return [payload for payload in payloads if payload.path.name in running]


def _classify(work: Work, baseline: Baseline) -> None:
    with work.steps.step(
        "Classify", "identify the failure, so that no search drifts to another one"
    ):
        failure = baseline.outcome.failure
        if failure is None:
            work.steps.conclude(f"bad means {baseline.oracle.description}")
            return
        kind = "hang" if baseline.outcome.hung_seconds is not None else failure.kind.value
        waits = "waits in" if baseline.outcome.hung_seconds is not None else "raised in"
        work.steps.conclude(f"{kind}: {_sentence(failure, waits)}")
    calls = look_at_its_calls(work, baseline)
    if failure.kind is FailureKind.NO_SPACE_LEFT and not failure.limit:
        from whet.workbench.investigate.symptoms.space import space_words

        with work.steps.step("Check the disk", "find what is full"):
            work.steps.conclude(space_words(failure, work.trial, calls.path, calls.facts))


def _sentence(failure: Failure, does: str) -> str:
    if failure.names_its_lines:
        return failure.summary
    signature = failure.signature
    parts = [failure.summary]
    if signature.user_function:
        parts.append(f"in your {signature.user_function}")
    if signature.library_function:
        parts.append(f"{does} {signature.library_function}")
    return ", ".join(parts)


def _shrink(work: Work, facts: Known, which: tuple[int, Payload], baseline: Baseline) -> None:
    """Make one of the payloads smaller."""
    position, whole = which
    whole_because = why_left_whole([*work.shown, *facts.clues], baseline)
    if whole_because:
        facts.conclusions.append(f"{whole.shown} is as it was: {whole_because}.")
        return
    payload = work.attempt(lambda: sampled(work, which, baseline), whole)

    def shrink() -> None:
        cause = cause_to_keep(work, payload, [*work.shown, *facts.clues], baseline)
        budget = work.budget
        if cause.is_shown is not None and budget.wall_seconds is not None:
            budget = replace(budget, wall_seconds=budget.wall_seconds * _BEFORE_CHECK)
        options = ShrinkOptions(
            files=(), budget=budget, jobs=work.options.jobs, cold=work.options.cold, cause=cause
        )
        with work.steps.step(f"Shrink {payload.shown}", "remove what the failure doesn't need"):
            shrunk = shrink_one(
                work.session, work.trial, position, payload, baseline,
                options=options, guard=_guard(work), place=place_of(work),
            )  # fmt: skip
            shrunk = replace(shrunk, before_bytes=whole.size_of(whole.data))
            said = "" if shrunk.content else said_when_empty(work, position, baseline)
            if said:
                payload.result.unlink(missing_ok=True)
                kept = f"with an empty file it says something else, `{said}`"
                facts.conclusions.append(f"{whole.shown} is as it was: {kept}.")
                work.steps.conclude(f"whet leaves it as it is: {kept}")
                return
            facts.shrunk.append(shrunk)
            digest = work.bench.payload_store.keep(shrunk.content)
            work.trial = work.trial.with_payload(digest, position)
            work.steps.conclude(_shrunk_words(shrunk))
            if shrunk.stopped is StopReason.OUT_OF_TIME:
                work.steps.cut()

    work.attempt(shrink, None)


def _shrunk_words(shrunk: ShrunkPayload) -> str:
    """Say what has become of a payload."""
    sizes = f"{shown_bytes(shrunk.before_bytes)} → {shown_bytes(shrunk.after_bytes)}"
    guarded = f", passing on {shrunk.guarded_by}" if shrunk.guarded_by else ""
    warm = f" ({shrunk.warm} of {shrunk.trials} trials warm)" if shrunk.warm else ""
    if shrunk.cold_because and not shrunk.warm:
        warm = f" (trials ran from the start: {shrunk.cold_because})"
    part = (
        ""
        if shrunk.content
        else ". With the empty file it fails at the same place, perhaps for another reason"
    )
    keeps = f", which keeps {shrunk.keeps}" if shrunk.keeps else ""
    return f"{sizes}{guarded}{keeps}: {shrunk.stopped.value}{warm}{part}"


def _guard(work: Work) -> Guard | None:
    """Return the last good version, on which a candidate must pass.

    Without it a shrink slips to an older bug with the same signature, as was seen.
    """
    versions, first_bad = work.history.versions, work.found
    if versions is None or first_bad is None or first_bad.last_good is None or not work.is_guarded:
        return None
    last_good = first_bad.last_good
    return Guard(
        label=f"{versions.subject} {versions.label(last_good)}",
        on_good_side=lambda trial: versions.on(trial, last_good),
    )


def _hand_over(work: Work, headline: str, baseline: Baseline) -> Reproducer | None:
    reason = "run it in an empty folder, to see whether it fails there, too"
    with work.steps.step("Check the one-liner elsewhere", reason):
        try:
            reproducer = make_reproducer(work.session, work.trial, work.report, headline, baseline)
        except DiskFull as error:
            # What fails for lack of space leaves none; what was found isn't lost with it.
            work.steps.conclude(f"it couldn't run in another folder: {error}")
            return None
        work.steps.conclude(reproducer.remark)
    return reproducer
