"""The baseline of a program that is said to fail in some runs."""

from whet.core.trial import Trial
from whet.workbench.trials.investigation import Reproduction
from whet.workbench.trials.reproduce import Baseline, reproduce
from whet.workbench.trials.session import Session


def flaky_baseline(session: Session, trial: Trial, *, failures: int) -> Baseline:
    """Return how a command fails, as if it had failed in so many runs of ten."""
    first = reproduce(session, trial, attempts=1)
    facts = first.reproduction
    sometimes = Reproduction(
        attempts=10, same_failures=failures, other_failures=("passes",),
        wall_seconds=facts.wall_seconds, peak_rss_bytes=facts.peak_rss_bytes,
        exit_code=facts.exit_code, trials=facts.trials,
    )  # fmt: skip
    return Baseline(outcome=first.outcome, oracle=first.oracle, reproduction=sometimes, repeats=5)
