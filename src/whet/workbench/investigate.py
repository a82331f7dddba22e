"""`whet investigate`: reproduce, classify, find since when, shrink, hand over."""

import os
import shlex
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from whet.bisection.odds import shown_chance
from whet.bisection.terms import Terms
from whet.core.budget import Budget, StopReason
from whet.core.errors import CodeNotKept, CopyFailsOtherwise, EndMisjudged, NothingDiffers
from whet.core.event import Notice
from whet.core.failure import Failure, FailureKind
from whet.core.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.trial import Trial
from whet.host.agent_tasks import NO_TASKS, AgentTasks
from whet.host.files import storage_error
from whet.host.search_stamp import is_clean
from whet.workbench.bench import Place, Workbench
from whet.workbench.bisect import MOST_JOBS
from whet.workbench.command_search import CommandOptions
from whet.workbench.copies import Copied, reproduce_on_copies
from whet.workbench.investigation import (
    Investigation,
    NoisySearch,
    Reproducer,
    ShrunkPayload,
    VersionSearch,
)
from whet.workbench.named_files import payload_names
from whet.workbench.noisy_versions import Noise, find_first_bad
from whet.workbench.reproduce import Baseline
from whet.workbench.reproducer import make_reproducer
from whet.workbench.request import TrialRequest
from whet.workbench.results import free_path
from whet.workbench.shrink import ShrinkOptions, bind_all, places_of, read_all, shrink_one
from whet.workbench.shrinking import Guard, Payload
from whet.workbench.sightings import seen_lines
from whet.workbench.steps import Steps
from whet.workbench.versions import FirstBad, VersionHunt, Versions

REPORT_FOLDER = "whet-report"

_SHOWN_SUSPECTS = 8
_SHOWN_LINES = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class InvestigateOptions:
    """How to investigate.

    Attributes:
        package: search the releases of this package.
        good: a good revision or release.
        bad: a bad one; empty: what is there now.
        good_trial: number of a recorded trial that passed; None: the last one of this command.
        folder: where the report goes; empty: `whet-report`.
        budget: of each search.
        jobs: trials at once; None: all cores.
        cold: run each trial from its start.
    """

    package: str = ""
    good: str = ""
    bad: str = ""
    good_trial: int | None = None
    folder: str = ""
    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None
    cold: bool = False


HistoryOf = Callable[[Workbench, TrialRequest, Trial, InvestigateOptions], "History"]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The versions to search, or why there are none.

    Attributes:
        versions: where to search; None: nowhere.
        remark: why there is nothing to search.
        is_pinned: every trial runs on the new end's version, in an environment of its own.
        is_asked_for: the user named its ends; otherwise it is searched as far as it goes.
    """

    versions: Versions | None
    remark: str = ""
    is_pinned: bool = False
    is_asked_for: bool = True


@dataclass(slots=True, kw_only=True)
class _Work:
    """An investigation under way."""

    bench: Workbench
    request: TrialRequest
    options: InvestigateOptions
    trial: Trial
    number: int
    steps: Steps
    folder: Path
    history: History
    found: FirstBad | None = None

    def record(self, starting: Trial) -> int:
        request = self.request
        return self.bench.notebook.begin(
            starting, verb="investigate", name=request.name, note=request.note,
            expectation=request.expectation, investigation=self.number,
        )  # fmt: skip


def investigate(
    bench: Workbench, request: TrialRequest, options: InvestigateOptions, history_of: HistoryOf
) -> Investigation:
    """Find out why a command fails; every step is told while it is done.

    Raises:
        BaselineDoesNotFail: if it does not fail.
    """
    started, started_at = time.monotonic(), datetime.now(UTC).isoformat()
    work = _begin(bench, request, options, history_of)
    payloads: list[Payload] = []
    names = payload_names(work.trial, request.stdin)
    for payload in read_all(bench, request, names, str(work.folder)):
        taken = {other.result for other in payloads}
        wanted = work.folder / payload.path.name
        result = free_path(bench, wanted, payload.path, taken)
        payloads.append(replace(payload, result=result))
    work.trial = bench.for_search(work.trial, [*places_of(payloads), work.folder])
    bench.tasks = AgentTasks(
        keeps_locals=True
    )  # the failure is to be seen once with all that its frames held
    payloads, baseline = _reproduce(work, payloads)
    bench.tasks = NO_TASKS
    _classify(work, baseline)
    _compare_with_good(work, baseline)
    _search_history(work, baseline)
    enough = _find_enough(work, baseline)
    shrunk = _shrink(work, payloads, baseline)
    headline = (
        baseline.outcome.failure.summary if baseline.outcome.failure else request.judging.bad_if
    )
    reproducer = _hand_over(work, headline, baseline)
    found = None if work.found is None else work.found.search
    investigation = Investigation(
        number=work.number,
        trial=work.trial,
        command_line=_command_line(request),
        started_at=started_at,
        wall_seconds=time.monotonic() - started,
        oracle=baseline.oracle.description,
        failure=baseline.outcome.failure,
        last_lines=_last_lines(baseline),
        reproduction=baseline.reproduction,
        history=found,
        history_remark=work.history.remark,
        payloads=tuple(shrunk),
        reproducer=reproducer,
        steps=tuple(work.steps.done),
        conclusions=(*enough, *_conclusions(baseline, found, shrunk)),
        resources=baseline.outcome.resources,
        interpreter=work.trial.surroundings.interpreter,
        platform=work.trial.surroundings.platform,
        packages=tuple(work.trial.packages.items()),
        folder=str(work.folder),
        seen="\n".join(seen_lines(baseline.outcome)),
    )
    facts = {"folder": str(work.folder)}
    bench.notebook.end_investigation(work.number, investigation.stopped, facts)
    return investigation


def _begin(
    bench: Workbench, request: TrialRequest, options: InvestigateOptions, history_of: HistoryOf
) -> _Work:
    trial = bench.build_trial(request)
    history = history_of(bench, request, trial, options)
    if history.is_pinned and history.versions is not None:
        trial = history.versions.on(trial, history.versions.new)
    folder = Path(os.path.abspath(options.folder or REPORT_FOLDER))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, folder) from error
    steps = Steps(emit=bench.emit)
    bench.emit = steps.observe
    number = bench.notebook.begin_investigation(verb="investigate", trial=trial)
    return _Work(
        bench=bench, request=request, options=options, trial=trial, number=number,
        steps=steps, folder=folder, history=history,
    )  # fmt: skip


def _place_of(work: _Work) -> Place | None:
    versions = work.history.versions
    return versions.place if versions is not None else None


def _reproduce(work: _Work, payloads: list[Payload]) -> tuple[list[Payload], Baseline]:
    """Run the command on copies of its files, and once as it was typed, to see that it is one bug."""
    reason = "a failure that is not seen again cannot be searched for"
    with work.steps.step("Reproduce", reason):
        payloads, copied = _on_copies(work, payloads)
        work.trial, baseline = copied.trial, copied.baseline
        done = baseline.reproduction
        if done.is_deterministic:
            result = f"it failed the same way in each of {done.attempts} runs"
        else:
            others = "; ".join(done.other_failures)
            result = (
                f"flaky: it failed the same way in {done.same_failures} of {done.attempts} runs"
                f" (else: {others}); each candidate is repeated until it is clear"
            )
        work.steps.conclude(f"{result}, {shown_seconds(done.wall_seconds)} each")
    return payloads, baseline


def _on_copies(work: _Work, payloads: list[Payload]) -> tuple[list[Payload], Copied]:
    """Reproduce on copies of the payloads; those whose copy fails in another way are left out."""

    def tried(chosen: list[Payload]) -> Copied:
        trial = bind_all(work.bench, work.trial, work.request, chosen)
        files = [payload.path for payload in chosen]
        place, judging = _place_of(work), work.request.judging
        return reproduce_on_copies(work.bench, trial, files, judging, work.record, place=place)

    try:
        return payloads, tried(payloads)
    except CopyFailsOtherwise as together:
        kept: list[Payload] = []
        for payload in payloads if len(payloads) > 1 else []:
            with suppress(CopyFailsOtherwise):
                tried([payload])
                kept.append(payload)
        left = ", ".join(f"`{payload.shown}`" for payload in payloads if payload not in kept)
        work.bench.emit(Notice(text=f"not made smaller: {left or 'the files'}: {together}"))
        return kept, tried(kept)


def _classify(work: _Work, baseline: Baseline) -> None:
    with work.steps.step("Classify", "a search must hold on to this bug and to no other"):
        failure = baseline.outcome.failure
        if failure is None:
            work.steps.conclude(f"bad means {baseline.oracle.description}")
            return
        work.steps.conclude(f"{failure.kind.value}: {_sentence(failure)}")
    if failure.kind is FailureKind.NO_SPACE_LEFT and not failure.limit:
        from whet.workbench.space import space_words

        with work.steps.step("Look at the disk", "what is full decides what has to be smaller"):
            work.steps.conclude(space_words(failure, work.trial))


def _sentence(failure: Failure) -> str:
    signature = failure.signature
    parts = [failure.summary]
    if signature.user_function:
        parts.append(f"in your {signature.user_function}")
    if signature.library_function:
        parts.append(f"raised in {signature.library_function}")
    return ", ".join(parts)


def _compare_with_good(work: _Work, baseline: Baseline) -> None:
    """Say what decides between this command and a trial of it that passed, if there is one."""
    if work.history.is_pinned:
        return
    from whet.workbench.good_trial import decided_by, decision_sentence, passed_before

    named = work.options.good_trial
    number = passed_before(work.bench, work.request, work.trial) if named is None else named
    # What fails only now and then has passed with nothing else in its place.
    if number is None or (named is None and not baseline.reproduction.is_deterministic):
        return
    options = CommandOptions(budget=work.options.budget, jobs=work.options.jobs)
    with work.steps.step(f"Compare with trial {number}", "it passed: what differs may decide"):
        try:
            found = decided_by(work.bench, work.request, number, work.number, options)
        except (NothingDiffers, EndMisjudged, CodeNotKept) as error:
            if named is not None:
                raise
            if not isinstance(error, NothingDiffers):
                work.steps.conclude(f"nothing was compared: {error}")
        else:
            work.steps.conclude(decision_sentence(found))


def _search_history(work: _Work, baseline: Baseline) -> None:
    versions = work.history.versions
    if versions is None:
        return
    reason = "the change that brought it tells most about it"
    with work.steps.step(f"Find the first bad {versions.kind}", reason):
        hunt = VersionHunt(
            bench=work.bench,
            trial=work.trial,
            judging=work.request.judging,
            versions=versions,
            record=work.record,
            terms=Terms(),
            budget=work.options.budget,
            oracle=baseline.oracle,
            repeats=baseline.repeats,
            overlaps=(work.options.jobs or work.bench.jobs) > 1,
            jobs=work.options.jobs or min(work.bench.jobs, MOST_JOBS),
        )
        try:
            work.found = find_first_bad(
                hunt, _noise(baseline), jobs=work.options.jobs or work.bench.jobs
            )
        except EndMisjudged:
            if work.history.is_asked_for:
                raise
            remark, look = _why_not_committed(work)
            work.history = replace(work.history, versions=None, remark=remark)
            work.steps.conclude(f"{remark} ({look})")
        else:
            work.steps.conclude(history_sentence(work.found.search))


def _noise(baseline: Baseline) -> Noise:
    """Return what the reproduction says: it was run often enough to see whether it always fails."""
    return Noise(first_runs=1, is_certain=not baseline.reproduction.is_deterministic)


def _why_not_committed(work: _Work) -> tuple[str, str]:
    """Return why the last commit does not fail where the working tree does, and where to look."""
    if is_clean(work.trial, [work.folder]):
        remark = (
            "the last commit by itself does not fail this way: it needs a file git does not track"
        )
        return remark, "`git status --ignored`"
    return (
        "the last commit does not fail this way: it is in what is not committed",
        "`git status`, `git diff`",
    )


def history_sentence(search: VersionSearch) -> str:
    """Return what a search over versions found, in a sentence."""
    if search.stopped is StopReason.NO_GOOD_VERSION:
        why = f" ({search.hint})" if search.hint else ""
        return f"no {search.old_term} {search.kind} of {search.subject} was found{why}"
    if search.noisy is not None and (search.first_bad is not None or search.suspects):
        return _noisy_sentence(search, search.noisy)
    if search.first_bad is not None:
        return (
            f"{search.subject} {search.first_bad} is the first {search.new_term} {search.kind}"
            f" ({search.good} is the last {search.old_term} one;"
            f" {shown_count(len(search.tested), 'version')} tested of {search.between + 2})"
        )
    if not search.suspects:
        return (
            f"no {search.old_term} {search.kind} of {search.subject} was found yet:"
            f" {search.stopped.value}"
        )
    more = len(search.suspects) - _SHOWN_SUSPECTS
    named = ", ".join(search.suspects[:_SHOWN_SUSPECTS]) + (f" and {more} more" if more > 0 else "")
    return f"one of {named} is the first {search.new_term} {search.kind}: {search.stopped.value}"


def _noisy_sentence(search: VersionSearch, noisy: NoisySearch) -> str:
    runs = shown_count(noisy.runs, "run")
    if search.first_bad is None:
        likely = ", ".join(search.suspects[:_SHOWN_SUSPECTS])
        more = len(search.suspects) - _SHOWN_SUSPECTS
        also = f" and {more} more" if more > 0 else ""
        return (
            f"with {shown_chance(noisy.confidence)} probability one of {likely}{also} is the first"
            f" {search.new_term} {search.kind}, after {runs}: {search.stopped.value}"
        )
    edge = "; both sides of the edge were run again" if noisy.is_edge_tested else ""
    return (
        f"{search.subject} {search.first_bad} is the first {search.new_term} {search.kind} with"
        f" {shown_chance(noisy.probability)} probability ({search.good} is the last"
        f" {search.old_term} one; {runs}, {shown_count(len(search.tested), 'version')} tested of"
        f" {search.between + 2}{edge})"
    )


def _find_enough(work: _Work, baseline: Baseline) -> list[str]:
    """Search how much memory would be enough, where the command was killed for want of it."""
    failure, limit = baseline.outcome.failure, work.trial.limits.memory_bytes
    if failure is None or failure.limit != "memory" or limit is None:
        return []
    from whet.workbench.out_of_memory import enough_memory

    with work.steps.step("Find how much memory is enough", "a program may need a little or all"):
        said = enough_memory(
            work.bench, work.trial, baseline.oracle, work.record, budget=work.options.budget
        )
        work.steps.conclude(said)
    return [f"{said[0].upper()}{said[1:]}."]


def _shrink(work: _Work, payloads: list[Payload], baseline: Baseline) -> list[ShrunkPayload]:
    results: list[ShrunkPayload] = []
    chosen = work.options
    options = ShrinkOptions(files=(), budget=chosen.budget, jobs=chosen.jobs, cold=chosen.cold)
    for position, payload in enumerate(payloads):
        reason = "what is left of the data is what matters"
        with work.steps.step(f"Shrink {payload.shown}", reason):
            shrunk = shrink_one(
                work.bench, work.trial, position, payload, baseline, work.record,
                options=options, guard=_guard(work), place=_place_of(work),
            )  # fmt: skip
            results.append(shrunk)
            digest = work.bench.shelf.keep(shrunk.content)
            work.trial = work.trial.with_payload(digest, position)
            sizes = f"{shown_bytes(shrunk.before_bytes)} → {shown_bytes(shrunk.after_bytes)}"
            guarded = f", passing on {shrunk.guarded_by}" if shrunk.guarded_by else ""
            warm = f" ({shrunk.warm} of {shrunk.trials} trials warm)" if shrunk.warm else ""
            if shrunk.cold_because and not shrunk.warm:
                warm = f" (trials ran from the start: {shrunk.cold_because})"
            part = "" if shrunk.content else ", so the failure does not depend on it"
            work.steps.conclude(f"{sizes}{guarded}: {shrunk.stopped.value}{warm}{part}")
    return results


def _guard(work: _Work) -> Guard | None:
    """Return the last good version, on which a candidate must pass.

    Without it a shrink slips to an older bug with the same signature, as was seen.
    """
    versions, found = work.history.versions, work.found
    if versions is None or found is None or found.last_good is None:
        return None
    last_good = found.last_good
    return Guard(
        label=f"{versions.subject} {versions.label(last_good)}",
        on_good_side=lambda trial: versions.on(trial, last_good),
    )


def _hand_over(work: _Work, headline: str, baseline: Baseline) -> Reproducer:
    reason = "what you hand to somebody else must fail there too"
    with work.steps.step("Check the one-liner elsewhere", reason):
        reproducer = make_reproducer(
            work.bench, work.trial, work.folder, headline, baseline.oracle, work.record
        )
        work.steps.conclude(reproducer.remark)
    return reproducer


def _command_line(request: TrialRequest) -> str:
    """Return the command as a shell would be given it, its variables and its input too."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in request.environment.items()]
    stdin = ["<", shlex.quote(request.stdin)] if request.stdin else []
    return " ".join([*variables, shlex.join(request.command), *stdin])


def _last_lines(baseline: Baseline) -> str:
    text = baseline.outcome.stderr.tail(8000).decode("utf-8", "replace")
    return "\n".join(text.rstrip().splitlines()[-_SHOWN_LINES:])


def _conclusions(
    baseline: Baseline, found: VersionSearch | None, shrunk: list[ShrunkPayload]
) -> list[str]:
    said: list[str] = []
    if found is not None and found.first_bad is not None:
        if found.kind == "release":
            said.append(
                f"Read what {found.subject} {found.first_bad} changed; until it is mended,"
                f" `{found.subject}=={found.good}` does not have this failure."
            )
        else:
            said.append(f"Look at the change: `git show {found.first_bad}`.")
    said += [
        f"The failure does not depend on what {payload.original} holds."
        if not payload.content
        else f"{shown_bytes(payload.after_bytes)} of {shown_bytes(payload.before_bytes)} of"
        f" {payload.original} are enough to show it."
        for payload in shrunk
    ]
    if not baseline.reproduction.is_deterministic:
        said.append(
            f"It is flaky ({baseline.reproduction.rate:.0%} of the runs): look for randomness,"
            " time, order and threads; `PYTHONHASHSEED=0` and one thread make it easier to hold."
        )
    return said
