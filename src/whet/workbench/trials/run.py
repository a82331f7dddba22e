"""`whet run` and `whet again`: one recorded trial."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from whet.core.observations.evidence import Evidence
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.process.console import Console
from whet.host.trial.agent_tasks import NO_TASKS, AgentTasks
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench, oracle_of
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Place, Session
from whet.workbench.trials.tested import Tested, result_of

if TYPE_CHECKING:
    from whet.core.expectation import Expectation


@value_class(kw_only=True)
class RunResult:
    """One trial that was run, and what it was compared with.

    Attributes:
        entry: the trial as it is in the notebook.
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
    bench: Workbench,
    request: TrialRequest,
    console: Console | None,
    *,
    verb: str = "run",
    tasks: AgentTasks = NO_TASKS,
) -> RunResult:
    """Run what the user asked for, once, and record it."""
    session = Session(bench=bench, verb=verb, request=request, tasks=tasks)
    oracle = oracle_of(request.judging)
    with session.executor(console=console) as executor:  # its spawner starts meanwhile
        trial = bench.build_trial(request, live=console is not None)
        ran = result_of(trial, executor.submit(trial), oracle, "")
    return judged(session, ran, oracle)


def run_trial(
    session: Session,
    trial: Trial,
    oracle: Oracle,
    console: Console | None = None,
    *,
    place: Place | None = None,
) -> RunResult:
    """Run and record one trial that is already built."""
    with session.executor(console=console, place=place) as executor:
        ran = result_of(trial, executor.submit(trial), oracle, "")
    return judged(session, ran, oracle)


def judged(session: Session, ran: Tested[None], oracle: Oracle) -> RunResult:
    """Judge a recorded trial that has ended, and compare it with the one before."""
    bench, outcome, number = session.bench, ran.outcome, ran.own_number
    previous = bench.notebook.previous_of(ran.trial, before=number)
    session.judge(ran, oracle)
    entry = bench.notebook.trial(number)
    same = (
        previous is not None
        and ran.verdict is Verdict.BAD
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
    tasks: AgentTasks = NO_TASKS,
) -> RunResult:
    """Run a recorded trial again, on today's code or on the code as it was.

    Args:
        bench: the workbench.
        number: the trial's; None: the last one.
        console: where its output goes live.
        code_then: on the code as it was.
        environment: variables that are to be other than they were.
        tasks: what the agent is to observe.

    Raises:
        UnknownTrial: if there is no such trial.
        CodeNotKept: if its code doesn't exist any more.
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
        expectations=_expected(entry),
    )
    oracle = oracle_of(request.judging)
    today = bench.build_trial(request, live=True)
    trial = replace(entry.trial, environment=today.environment, surroundings=today.surroundings)
    session = Session(bench=bench, verb="again", request=request, tasks=tasks)
    if not code_then:
        trial = replace(trial, code=today.code, revision=None)
        return run_trial(session, trial, oracle, console)
    from whet.workbench.trials.code_then import code_of, on_code

    place = on_code(bench, code_of(entry))
    return run_trial(session, trial, oracle, console, place=place)


def _expected(entry: Entry) -> "tuple[Expectation, ...]":
    if not entry.expectation:
        return ()
    from whet.core.expectation import Expectation

    return tuple(map(Expectation.parse, entry.expectation.splitlines()))
