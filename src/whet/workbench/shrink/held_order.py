"""One order of sets for all trials of a search.

Python orders the members of a set differently in each process. If a message lists them, or a program takes
the first one, the verdicts of a search depend on chance.
"""

from dataclasses import replace

from whet.core.errors import BaselineDoesNotFail
from whet.core.event import Notice
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.host.inspect.presence import pythons_in
from whet.search.flaky.rates import passes_to_be_sure
from whet.workbench.files.copies import Copied
from whet.workbench.toggle.set_order import SEED
from whet.workbench.trials.reproduce import FEW, Baseline, reproduce, with_patience
from whet.workbench.trials.session import Session

_WRONG, _MOST_RUNS = 0.01, 12
_HELD = "0"


def hold_order(session: Session, copied: Copied) -> Copied:
    """Return a command with one hash seed if it fails with that too, each time; else as it is."""
    trial, baseline = copied.trial, copied.baseline
    is_set = SEED in session.bench.environment or SEED in trial.environment
    runs = passes_to_be_sure(1 - baseline.reproduction.rate, 1 - _WRONG) or 1
    if is_set or runs > _MOST_RUNS or not _is_python(trial, baseline):
        return copied
    trial_with_seed = replace(trial, environment={**trial.environment, SEED: _HELD})
    patient = with_patience(trial_with_seed, baseline.reproduction.wall_seconds)
    ran = session.run(patient, baseline.oracle, "one order of sets")
    if baseline.repeats == 1 and ran.verdict is Verdict.BAD:
        return Copied(trial=trial_with_seed, baseline=baseline)
    if baseline.repeats == 1 or not _is_alike(ran.outcome, baseline.outcome):
        return copied
    try:
        with_seed = reproduce(session, trial_with_seed, attempts=max(FEW, runs))
    except BaselineDoesNotFail:
        return copied
    if with_seed.repeats > 1 or not _is_alike(with_seed.outcome, baseline.outcome):
        return copied
    text = f"with `{SEED}={_HELD}` it fails every time: all trials of the search use that"
    session.emit(Notice(text=text))
    return Copied(trial=trial_with_seed, baseline=with_seed)


def in_any_order(trial: Trial) -> Trial:
    """Return the trial as it was before its order of sets was held."""
    left = {name: value for name, value in trial.environment.items() if name != SEED}
    return replace(trial, environment=left)


def _is_python(trial: Trial, baseline: Baseline) -> bool:
    """Whether it is a program in Python that ends on its own."""
    outcome = baseline.outcome
    is_endless = bool(outcome.timed_out or outcome.hung_seconds or trial.hang_seconds)
    is_python = bool(trial.surroundings.interpreter or pythons_in(outcome.evidence))
    return is_python and not is_endless


def _is_alike(one: Outcome, other: Outcome) -> bool:
    first, second = one.signature, other.signature
    if first is None or second is None:
        return first is second
    return first.in_any_order == second.in_any_order
