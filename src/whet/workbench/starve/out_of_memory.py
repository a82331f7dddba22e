"""How much memory would be enough for a command that was killed for want of it."""

from collections.abc import Callable

from whet.core.budget import Budget
from whet.core.limits import shown_size
from whet.core.oracle import Oracle
from whet.core.trial import Trial
from whet.host.files.memory import memory_left
from whet.workbench.starve.starve import RATIONED, FindOptions, Rationing
from whet.workbench.trials.bench import Workbench

_MOST_TIMES = 16  # a program that needs more than so many times its limit probably grows for ever
_MOST_SHARE = 2  # and the machine is not brought down to learn it


def enough_memory(
    bench: Workbench,
    trial: Trial,
    oracle: Oracle,
    record: Callable[[Trial], int],
    *,
    budget: Budget,
) -> str:
    """Return in a sentence how much memory is enough.

    Args:
        bench: the workbench.
        trial: with the limit that is too little.
        oracle: what BAD means.
        record: writes the row of a trial.
        budget: when to stop.
    """
    rationed = RATIONED["memory"]
    limit = trial.limits.memory_bytes or 0
    most = min(_MOST_TIMES * limit, memory_left().available_bytes // _MOST_SHARE)
    rationing = Rationing(
        bench=bench,
        trial=trial,
        rationed=rationed,
        oracle=oracle,
        record=record,
        options=FindOptions(name="memory", budget=budget),
    )
    found = rationing.from_too_little(round(most / rationed.step))
    if found.least_good is None:
        tried = found.rungs[-1].shown if found.rungs else shown_size(limit)
        return f"{tried} of memory is not enough either: does it grow without an end?"
    below = found.most_bad or shown_size(limit)
    return f"{found.least_good} of memory is enough, {below} is too little"
