"""An investigation beside a trial of the same command that passed: what differs, and what decides."""

from itertools import islice

from whet.core.errors import NothingDiffers
from whet.core.trial import Trial
from whet.workbench.bench import Workbench, command_of
from whet.workbench.command_search import CommandOptions
from whet.workbench.delta import Delta, Side, delta
from whet.workbench.delta_trials import cases_of_trials
from whet.workbench.request import TrialRequest

_LOOKED_THROUGH = 500
"""So many trials back a good one is looked for."""

_MOST_SHOWN = 5


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
    passed = (
        entry.number
        for entry in same
        if entry.outcome is not None and entry.outcome.failure is None
    )
    return next(passed, None)


def decided_by(
    bench: Workbench,
    request: TrialRequest,
    good: int,
    investigation: int,
    options: CommandOptions,
) -> Delta:
    """Find what decides between a trial that passed and the one that is investigated.

    Args:
        bench: the workbench.
        request: how trials are judged.
        good: number of the one that passed.
        investigation: number of the investigation; a trial of it ran as the user typed it.
        options: when to stop.

    Raises:
        UnknownTrial: if there is no such trial.
        NothingDiffers: if nothing differs that can be switched.
        EndMisjudged: if the good one fails today, or the other one passes.
        CodeNotKept: if the code of one of them is gone.
    """
    typed = _as_typed(bench, investigation)
    if typed is None:
        raise NothingDiffers(
            "the command ran on copies of its files alone, which no earlier trial did",
            hint=f"compare two trials of it: `whet run -- …`, then `whet delta {good} NUMBER`",
        )
    cases = cases_of_trials(bench, request, good, typed)
    return delta(bench, request, cases, options, investigation=investigation)


def _as_typed(bench: Workbench, investigation: int) -> int | None:
    entries = bench.notebook.entries(investigation=investigation)
    plain = (entry.number for entry in entries if not entry.trial.payloads)
    return next(plain, None)


def decision_sentence(found: Delta) -> str:
    """Return what decides, in a sentence."""
    brings = f"{found.good} fails with {_listed(found.fails)}"
    if found.passes is None:
        return brings
    return f"{brings}; {found.bad} passes without {_listed(found.passes)}"


def _listed(side: Side) -> str:
    shown = [str(change) for change in islice(side.changes, _MOST_SHOWN)]
    more = len(side.changes) - len(shown)
    return "; ".join([*shown, *([f"{more} more"] if more else [])])
