"""`whet run` and `whet again`: one recorded trial."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from whet.core.observations.evidence import Evidence
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.execution.futures import TrialFuture
from whet.host.code.code_changes import describe_changes
from whet.host.process.console import Console
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Place, Workbench, oracle_of
from whet.workbench.trials.request import TrialRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One trial that was run, and what it was compared with.

    Attributes:
        entry: the trial as it stands in the notebook.
        previous: the last trial of the same command, or None.
        is_same_failure: it fails just as the previous one did.
        notes: what could not be kept or observed.
        evidence: what else was observed.
    """

    entry: Entry
    previous: Entry | None
    is_same_failure: bool
    notes: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()


def run(
    bench: Workbench, request: TrialRequest, console: Console | None, *, verb: str = "run"
) -> RunResult:
    """Run what the user asked for, once, and record it."""
    if request.expectation:
        from whet.core.expectation import Expectation

        Expectation.parse(request.expectation)
    trial = bench.build_trial(request, live=console is not None)
    return run_trial(bench, trial, request, console, oracle_of(request.judging), verb=verb)


def run_trial(  # noqa: PLR0913 - what, how judged, where shown: one trial
    bench: Workbench,
    trial: Trial,
    request: TrialRequest,
    console: Console | None,
    oracle: Oracle,
    *,
    verb: str,
    place: Place | None = None,
) -> RunResult:
    """Run and record one trial that is already built."""
    record = recorder(bench, request, verb)
    with bench.executor(record, console=console, place=place) as executor:
        future = executor.submit(trial)
        future.result()
    return judged(bench, trial, request, oracle, future)


def recorder(bench: Workbench, request: TrialRequest, verb: str) -> Callable[[Trial], int]:
    """Return what writes the row of a trial, with what changed since the one before."""

    def record(starting: Trial) -> int:
        return bench.notebook.begin(
            starting,
            verb=verb,
            name=request.name,
            note=request.note,
            expectation=request.expectation,
            changes=changes_since(bench.notebook.previous_of(starting), starting),
        )

    return record


def judged(
    bench: Workbench, trial: Trial, request: TrialRequest, oracle: Oracle, future: TrialFuture
) -> RunResult:
    """Judge a recorded trial that has ended, and compare it with the one before."""
    outcome, number = future.result(), future.number
    assert number is not None
    previous = bench.notebook.previous_of(trial, before=number)
    verdict = oracle.judge(outcome)
    met = None
    if request.expectation:
        from whet.core.expectation import Expectation

        met = Expectation.parse(request.expectation).met(outcome, verdict)
    bench.notebook.judge(number, oracle.description, verdict, met)
    entry = bench.notebook.trial(number)
    same = (
        previous is not None
        and verdict is Verdict.BAD
        and previous.outcome is not None
        and outcome.signature is not None
        and previous.outcome.signature == outcome.signature
    )
    notes = (*bench.notes, *outcome.notes, *_limits(outcome))
    return RunResult(
        entry=entry,
        previous=previous,
        is_same_failure=same,
        notes=notes,
        evidence=outcome.evidence,
    )


def _limits(outcome: Outcome) -> tuple[str, ...]:
    """Return what is to be said of limits that were met; nearly every trial meets none."""
    if not outcome.limits_met:
        return ()
    from whet.evidence.signature.limit_met import unnamed_limits

    return unnamed_limits(outcome)


def run_again(
    bench: Workbench,
    number: int | None,
    console: Console | None,
    *,
    code_then: bool,
    environment: Mapping[str, str],
) -> RunResult:
    """Run a recorded trial again, on today's code or on the code as it was.

    Args:
        bench: the workbench.
        number: the trial's; None: the last one.
        console: where its output goes live.
        code_then: on the code as it was.
        environment: variables that are to be other than they were.

    Raises:
        UnknownTrial: if there is no such trial.
        CodeNotKept: if its code is not there any more.
    """
    entry = bench.notebook.find(number)
    request = TrialRequest(
        command=entry.trial.command,
        cwd=entry.trial.cwd,
        environment={**entry.trial.environment, **environment},
        reset=entry.trial.reset,
        timeout_seconds=entry.trial.limits.wall_seconds,
        limits=entry.trial.limits,
        hang_seconds=entry.trial.hang_seconds,
        measures=entry.trial.measures,
        name=entry.name,
        note=entry.note,
        expectation=entry.expectation,
    )
    oracle = oracle_of(request.judging)
    today = bench.build_trial(request, live=True)
    trial = replace(entry.trial, environment=today.environment, surroundings=today.surroundings)
    if not code_then:
        trial = replace(trial, code=today.code, revision=None)
        return run_trial(bench, trial, request, console, oracle, verb="again")
    from whet.workbench.trials.code_then import code_of, on_code

    place = on_code(bench, code_of(entry))
    return run_trial(bench, trial, request, console, oracle, verb="again", place=place)


def changes_since(previous: Entry | None, trial: Trial) -> str:
    """Return what changed in the code since the previous trial, such as ``train.py +2 −1``."""
    if previous is None or previous.trial.code is None or trial.code is None:
        return ""
    if previous.trial.code.tree == trial.code.tree:
        return ""
    return describe_changes(previous.trial.code, trial.code)
