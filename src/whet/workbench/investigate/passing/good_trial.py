"""Comparing a failure with a recorded trial of the same command that passed."""

from itertools import islice

from whet.core.errors import NothingDiffers
from whet.workbench.delta.delta import Delta, Side, delta
from whet.workbench.delta.delta_trials import cases_of_trials
from whet.workbench.trials.command_search import CommandOptions
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

"""How many trials back whet searches for a good one."""

_MOST_SHOWN = 5


def decided_by(
    session: Session, request: TrialRequest, good: int, options: CommandOptions
) -> Delta:
    """Find what decides between a trial that passed and the one that is investigated.

    Args:
        session: the investigation; a trial of it ran as the user typed it.
        request: how trials are judged.
        good: number of the one that passed.
        options: when to stop.

    Raises:
        UnknownTrial: if there is no such trial.
        NothingDiffers: if nothing differs that can be switched.
        EndMisjudged: if the good one fails today, or the other one passes.
        CodeNotKept: if the code of one of them is gone.
    """
    as_typed = _as_typed(session)
    if as_typed is None:
        raise NothingDiffers(
            "the command ran on copies of its files only, but no earlier trial did",
            hint=f"compare two trials of it: `whet run -- …`, then `whet delta {good} NUMBER`",
        )
    cases = cases_of_trials(session.bench, request, good, as_typed)
    return delta(session.bench, request, cases, options, part_of=session)


def _as_typed(session: Session) -> int | None:
    entries = session.bench.notebook.entries(investigation=session.number)
    plain = (entry.number for entry in entries if not entry.trial.payloads)
    return next(plain, None)


def decision_sentence(result: Delta) -> str:
    """Return what decides, in a sentence."""
    brings = f"{result.good} fails with {_listed(result.fails)}"
    if result.passes is None:
        return brings
    return f"{brings}; {result.bad} passes without {_listed(result.passes)}"


def _listed(side: Side) -> str:
    lines = [str(change) for change in islice(side.changes, _MOST_SHOWN)]
    more = len(side.changes) - len(lines)
    return "; ".join([*lines, *([f"{more} more"] if more else [])])
