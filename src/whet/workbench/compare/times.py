"""Which time decides a comparison: wall time, CPU time or both. Chosen before a difference is known."""

from collections.abc import Sequence

from whet.core.outcome import Outcome
from whet.measurement.comparison.quantities import CPU, WALL, Quantity

_COMPUTES = (0.75, 1.1)
"""What computes in one thread uses a processor for such a share of the time in which it isn't queued."""

_MUCH_QUEUED = 0.1
"""If the machine lets a program wait for a processor for more of its time, wall time says little."""


def times_that_decide(outcomes: Sequence[Outcome]) -> tuple[list[Quantity], str]:
    """Return which times decide, and what is to be said of that.

    CPU time decides too if all programs compute in one thread: it is then all that they take but for
    the queue, and it varies less than wall time. If they were queued for long, it decides alone.
    """
    wall, cpu = Quantity(WALL), Quantity(CPU)
    least, most = _COMPUTES
    shares = [
        each.cpu_seconds / max(each.wall_seconds - each.queued_seconds, 1e-9) for each in outcomes
    ]
    if not all(least <= share <= most for share in shares):
        return [wall], ""
    queued = max(each.queued_seconds / max(each.wall_seconds, 1e-9) for each in outcomes)
    if queued < _MUCH_QUEUED:
        return [wall, cpu], ""
    why = f"the programs compute, and on this busy machine they wait for a processor for {queued:.0%} of the time"
    return [cpu], f"CPU time decides: {why}"
