"""`whet syscalls`: which system call failed, on which file, and which Python line made it."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

from whet.core.errors import BadUsage
from whet.core.failure import Failure
from whet.core.observations.evidence import SYSTEM_CALLS, Evidence
from whet.core.observations.system_call import FailedCall, SystemCalls
from whet.core.oracle import AnyFailure
from whet.core.outcome import Outcome
from whet.core.text.record import as_record, decoded
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.evidence.calls.telling_calls import ranked
from whet.evidence.calls.usual_calls import CallKey, is_usual, learnt, telling
from whet.host.inspect.call_groups import Sieve
from whet.host.process.console import Console
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.last_passed import passed_before
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.run import RunResult, run, run_again, run_trial
from whet.workbench.trials.session import Session

_TOLD_BYTES = 4000
FOLLOWED = AgentTasks(follows=Sieve(is_usual, telling))


@value_class(kw_only=True)
class Learning:
    """Where it is learnt what fails in a run that passes.

    Attributes:
        command: a command that passes, as it is typed; empty: none is named.
        trial: name of a trial that passed; None: none is named.
    """

    command: str = ""
    trial: int | str | None = None


@value_class(kw_only=True)
class CallReport:
    """What was seen of the calls of a trial or a process.

    Attributes:
        calls: all of it.
        telling: the failing calls that are neither usual nor known, the likeliest cause first.
        known: how many kinds of failing calls are left out, as they fail in a run that passes.
        learnt_from: that run, in words; empty: there is none.
        result: the trial; None: it was a process that ran already.
    """

    calls: SystemCalls
    telling: tuple[FailedCall, ...]
    known: int = 0
    learnt_from: str = ""
    result: RunResult | None = None


def follow_command(
    bench: Workbench, request: TrialRequest, console: Console | None, learning: Learning
) -> CallReport:
    """Run a command once, with its calls followed.

    Raises:
        BadUsage: if what is to be learnt from doesn't pass.
    """
    trial = bench.build_trial(request, live=console is not None)
    usual_calls, source = _learnt(bench, request, trial, learning)
    result = run(bench, request, console, verb="syscalls", tasks=FOLLOWED)
    return _report(result, usual_calls, source)


def follow_again(
    bench: Workbench, number: int | str | None, console: Console | None, learning: Learning
) -> CallReport:
    """Run a recorded trial again, on today's code, with its calls followed.

    Raises:
        UnknownTrial: if there is no such trial.
        BadUsage: if what is to be learnt from doesn't pass.
    """
    entry = bench.notebook.find(number)
    then = entry.trial
    request = TrialRequest(
        command=then.command, cwd=then.cwd, environment=then.environment, reset=then.reset,
        timeout_seconds=then.limits.wall_seconds, limits=then.limits,
    )  # fmt: skip
    usual_calls, source = _learnt(bench, request, entry.trial, learning)
    result = run_again(
        bench, entry.number, console, code_then=False, environment={}, tasks=FOLLOWED
    )
    return _report(result, usual_calls, source)


def follow_process(pid: int, seconds: float | None, on_start: Callable[[], None]) -> CallReport:
    """Follow a process that runs, and all that it starts, until it ends or the time is up.

    Ctrl-C ends it too; the process continues.

    Raises:
        NoSuchProcess: if there is none.
        StackForbidden: if the system doesn't allow it.
    """
    from whet.host.inspect.attaching import follow_running

    calls = follow_running(pid, is_usual, seconds=seconds, begun=on_start)
    return CallReport(calls=calls, telling=ranked(telling(calls.failures), None))


def calls_in(evidence: Sequence[Evidence]) -> SystemCalls | None:
    """Return what was seen of a trial's calls; None: they were not followed."""
    for each in evidence:
        if each.kind == SYSTEM_CALLS:
            return SystemCalls.from_json(as_record(decoded(each.data), SYSTEM_CALLS))
    return None


def report_of(
    calls: SystemCalls, outcome: Outcome | None, usual_calls: frozenset[CallKey] = frozenset()
) -> CallReport:
    """Return what of the calls of a trial tells something."""
    failure: Failure | None = None if outcome is None else outcome.failure
    left = telling(calls.failures, usual_calls)
    return CallReport(
        calls=calls,
        telling=ranked(left, failure, "" if outcome is None else last_words(outcome)),
        known=len(telling(calls.failures)) - len(left),
    )


def last_words(outcome: Outcome) -> str:
    """Return what a program wrote to its errors at last."""
    return outcome.stderr.tail(_TOLD_BYTES).decode("utf-8", "surrogateescape")


def _report(result: RunResult, usual_calls: frozenset[CallKey], source: str) -> CallReport:
    calls = calls_in(result.evidence)
    assert calls is not None, "they were followed"
    report = report_of(calls, result.entry.outcome, usual_calls)
    return replace(report, learnt_from=source, result=result)


def _learnt(
    bench: Workbench, request: TrialRequest, trial: Trial, learning: Learning
) -> tuple[frozenset[CallKey], str]:
    """Return what fails in a run that passes, and which run that is."""
    if learning.command:
        command = _words(learning.command)
        return _of_passing(
            bench, replace(request, command=command), f"`{learning.command}` (`--good`)"
        )
    if learning.trial is not None:
        entry = bench.notebook.find(learning.trial)
        calls = calls_in(bench.notebook.evidence_of(entry.number, SYSTEM_CALLS))
        if calls is None:
            good_request = replace(
                request,
                command=entry.trial.command, cwd=entry.trial.cwd,
                environment=entry.trial.environment,
            )  # fmt: skip
            return _of_passing(bench, good_request, f"trial {entry.number}, run again")
        _must_pass(entry.outcome, f"trial {entry.number}")
        return learnt(telling(calls.failures)), f"trial {entry.number}"
    number = passed_before(bench, request, trial)
    calls = None if number is None else calls_in(bench.notebook.evidence_of(number, SYSTEM_CALLS))
    if calls is None:
        return frozenset(), ""
    return learnt(telling(calls.failures)), f"trial {number}, which passed"


def _of_passing(
    bench: Workbench, request: TrialRequest, source: str
) -> tuple[frozenset[CallKey], str]:
    """Run what passes, without showing it, and return what fails in it."""
    trial = bench.build_trial(request)
    session = Session(bench=bench, verb="syscalls", request=request, tasks=FOLLOWED)
    result = run_trial(session, trial, AnyFailure())
    _must_pass(result.entry.outcome, source)
    calls = calls_in(result.evidence)
    assert calls is not None, "they were followed"
    return learnt(telling(calls.failures)), f"{source}, trial {result.entry.number}"


def _must_pass(outcome: Outcome | None, source: str) -> None:
    if outcome is None or outcome.failure is not None:
        why = (
            "never ended" if outcome is None or outcome.failure is None else outcome.failure.summary
        )
        raise BadUsage(
            f"whet can't learn from {source}: it doesn't pass ({why})",
            hint="name a command or a trial that passes; whet leaves out the calls that fail in it",
        )


def _words(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise BadUsage(
            f"whet can't parse `--good '{command}'`: {error}", hint="quote it as in a shell"
        ) from error
    if not words:
        raise BadUsage("`--good` needs a command", hint="write `--good 'python ok.py'`")
    return words
