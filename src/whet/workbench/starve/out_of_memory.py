"""The memory that is enough for a command that was killed for lack of it."""

from whet.core.budget import Budget
from whet.core.limits import shown_size
from whet.core.oracle import Oracle
from whet.core.trial import Trial
from whet.host.files.memory import memory_left
from whet.workbench.starve.starve import RATIONED, FindOptions, Rationing
from whet.workbench.trials.session import Session

_MOST_TIMES = 16  # a program that needs more times its limit than this probably grows forever
_MOST_SHARE = 2  # the search may use this part of the machine's memory


def enough_memory(
    session: Session,
    trial: Trial,
    oracle: Oracle,
    *,
    budget: Budget,
) -> str:
    """Return in a sentence how much memory is enough.

    Args:
        session: runs its trials.
        trial: with the limit that is too little.
        oracle: what BAD means.
        budget: when to stop.
    """
    rationed = RATIONED["memory"]
    limit = trial.limits.memory_bytes or 0
    most = min(_MOST_TIMES * limit, memory_left().available_bytes // _MOST_SHARE)
    rationing = Rationing(
        session=session,
        trial=trial,
        rationed=rationed,
        oracle=oracle,
        options=FindOptions(name="memory", budget=budget),
    )
    least = rationing.from_too_little(round(most / rationed.step))
    if least.least_good is None:
        highest = least.amounts[-1].shown if least.amounts else shown_size(limit)
        if not least.stopped.is_complete:
            return f"{highest} of memory is too little; whet had no time to find how much is enough"
        return f"even {highest} of memory isn't enough: it may grow without end"
    below = least.most_bad or shown_size(limit)
    return f"{least.least_good} of memory is enough, {below} is too little"
