"""Whether a failure depends on the order in which results of pools and tasks arrive."""

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.trial import Trial
from whet.workbench.toggle.callers import caller_in
from whet.workbench.toggle.set_order import sure_runs
from whet.workbench.toggle.toggle import Effect, Turned, turn_each
from whet.workbench.toggle.toggles import chosen, known_toggles
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session

_IN_ORDER, _REVERSED = "submission-order", "reversed-results"
_BACKWARDS = 4
_WHY = "results of pools and tasks arrive as they come, and not in the order of submission"


def result_order(session: Session, trial: Trial, baseline: Baseline) -> Clue | None:
    """Return that it passes as long as results arrive in the order of submission; None: it isn't so.

    A program that collects no results as they come costs one run. The chance to claim it of a failure that
    has nothing to do with the order is 1 in 100.
    """
    in_order, backwards = chosen((_IN_ORDER, _REVERSED), known_toggles())
    runs = sure_runs(1 - baseline.reproduction.rate)
    turned = list[Turned]()
    while len(turned) < runs:
        turned += turn_each(session, trial, baseline, (in_order,), repeats=1)
        if not turned[-1].took or turned[-1].effect is not Effect.GONE:
            return None
    failing = turn_each(session, trial, baseline, (backwards,), repeats=_BACKWARDS)[0]
    place = caller_in(turned)
    at = Placing(trial.cwd)
    who = f"{at(*place)} collects" if place else "the program collects"
    opposite = (
        f", in the opposite order it fails every time ({failing.failures} of {failing.runs})"
        if failing.failures == failing.runs
        else ""
    )
    return Clue(
        says=f"{who} results as they arrive, and the order matters: in the order of submission it passes every time"
        f" ({runs} of {runs} runs){opposite} (`whet toggle {_IN_ORDER}`)",
        why=_WHY,
        path=place[0] if place else "",
        line=place[1] if place else 0,
        sureness=Sureness.SHOWN,
        trials=(turned[0].trial, failing.trial),
        next_step="keep with each result which task it belongs to, or collect results in the order of submission",
    )
