"""Whether the environment that whet makes for a release shows the user's failure."""

from collections.abc import Sequence
from dataclasses import replace

from whet.core.errors import EndMisjudged
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.workbench.trials.bench import oracle_of
from whet.workbench.trials.request import Judging
from whet.workbench.trials.session import Session
from whet.workbench.trials.tested import Tested
from whet.workbench.versions.version_source import Versions

_MOST_RUNS = 4
"""An intermittent failure may need several runs."""


def check_shows_failure(session: Session, trial: Trial, versions: Versions) -> None:
    """Refuse to search releases if the installed one doesn't do in its environment what it does here.

    Raises:
        EndMisjudged: if so.
    """
    installed = versions.installed
    if not installed or installed not in {versions.old, versions.new}:
        return  # the user has named releases that don't exist: nothing is known of them here
    here = replace(trial, packages={})
    there = versions.on(trial, installed)
    judging = session.request.judging
    name = f"{versions.subject} {versions.label(installed)}"
    oracle = oracle_of(judging)
    runs: dict[bool, list[Tested[None]]] = {False: [], True: []}
    for _ in range(_MOST_RUNS):
        runs[False].append(session.run(here, oracle, "as it is"))
        runs[True].append(session.run(there, oracle, name, place=versions.place))
        if _agree(judging, runs[False], runs[True]):
            return
    own, new = runs[False][0], runs[True][0]
    raise EndMisjudged(
        f"with {name}, as installed, your command {_did(own.outcome)}; in the environment for the search of its releases, it {_did(new.outcome)} ({_MOST_RUNS} runs each)",
        hint=f"`whet show {own.number}` and `whet show {new.number}` show both outputs",
    )


def _agree(
    judging: Judging, here: Sequence[Tested[object]], there: Sequence[Tested[object]]
) -> bool:
    """Whether one of the runs there did what one of those here did."""
    return any(
        own.verdict is not Verdict.BAD
        if made.verdict is not Verdict.BAD
        else own.verdict is Verdict.BAD
        and oracle_of(judging, own.outcome).judge(made.outcome) is Verdict.BAD
        for own in here
        for made in there
    )


def _did(outcome: Outcome) -> str:
    if outcome.failure is None:
        return f"passes (exit {outcome.shell_exit_code})"
    place = outcome.failure.place
    where = "" if place is None else f" in `{place.function}`, line {place.line} of `{place.path}`"
    return f"fails: `{outcome.failure.summary}`{where}"
