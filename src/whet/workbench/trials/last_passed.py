"""The last trial of a command that passed."""

from whet.core.trial import Trial
from whet.workbench.trials.bench import Workbench, command_of
from whet.workbench.trials.request import TrialRequest

_LOOKED_THROUGH = 500


def passed_before(bench: Workbench, request: TrialRequest, trial: Trial) -> int | None:
    """Return the number of the last trial of a command in the same folder that passed.

    Args:
        bench: the workbench.
        request: the command as the user typed it.
        trial: the trial that is investigated.
    """
    command = command_of(request)
    entries = bench.notebook.entries(_LOOKED_THROUGH, with_searches=False)
    same = (
        entry
        for entry in entries
        if entry.trial.command == command and entry.trial.cwd == trial.cwd
    )
    passing = (
        entry.number
        for entry in same
        if entry.outcome is not None and entry.outcome.failure is None
    )
    return next(passing, None)
