"""Whether the environment that whet makes for a release shows the failure that the user has."""

from collections.abc import Callable
from dataclasses import replace

from whet.core.errors import EndMisjudged
from whet.core.event import TrialFinished
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.workbench.trials.bench import Place, Workbench, oracle_of
from whet.workbench.trials.request import Judging
from whet.workbench.versions.versions import Versions

_MOST_RUNS = 4
"""A failure that comes only sometimes may not come at once."""


def check_shows_failure(
    bench: Workbench,
    trial: Trial,
    judging: Judging,
    versions: Versions,
    record: Callable[[Trial], int],
) -> None:
    """Refuse to search releases if the installed one does not do in its environment what it does here.

    Raises:
        EndMisjudged: if so.
    """
    installed = versions.installed
    if not installed or installed not in {versions.old, versions.new}:
        return  # the user has named releases that are not there: nothing is known of them here
    here = replace(trial, packages={})
    there = versions.on(trial, installed)
    name = f"{versions.subject} {versions.label(installed)}"
    runs: dict[bool, list[tuple[int, Outcome]]] = {False: [], True: []}
    for _ in range(_MOST_RUNS):
        runs[False].append(_run(bench, here, judging, record, "as it is", None))
        runs[True].append(_run(bench, there, judging, record, name, versions.place))
        if _agree(judging, runs[False], runs[True]):
            return
    (own, did_here), (made, did_there) = runs[False][0], runs[True][0]
    raise EndMisjudged(
        f"with {name}, as it is installed, your command {_did(did_here)}; in the environment made"
        f" to search its releases it {_did(did_there)} ({_MOST_RUNS} runs each)",
        hint=f"`whet show {own}` and `whet show {made}` have all of both outputs",
    )


def _agree(
    judging: Judging, here: list[tuple[int, Outcome]], there: list[tuple[int, Outcome]]
) -> bool:
    """Whether one of the runs there did what one of those here did."""
    return any(
        oracle_of(judging).judge(own) is not Verdict.BAD
        if oracle_of(judging).judge(made) is not Verdict.BAD
        else oracle_of(judging, own).judge(made) is Verdict.BAD
        and oracle_of(judging).judge(own) is Verdict.BAD
        for _, own in here
        for _, made in there
    )


def _did(outcome: Outcome) -> str:
    if outcome.failure is None:
        return f"passes (exit {outcome.shell_exit_code})"
    place = outcome.failure.place
    where = "" if place is None else f" in `{place.function}`, line {place.line} of `{place.path}`"
    return f"fails: `{outcome.failure.summary}`{where}"


def _run(
    bench: Workbench,
    trial: Trial,
    judging: Judging,
    record: Callable[[Trial], int],
    label: str,
    place: Place | None,
) -> tuple[int, Outcome]:
    with bench.executor(record, place=place) as executor:
        future = executor.submit(trial)
        outcome = future.result()
    assert future.number is not None
    oracle = oracle_of(judging)
    verdict = oracle.judge(outcome)
    bench.notebook.judge(future.number, oracle.description, verdict, None)
    bench.emit(
        TrialFinished(
            number=future.number, trial=trial, outcome=outcome, verdict=verdict, label=label
        )
    )
    return future.number, outcome
