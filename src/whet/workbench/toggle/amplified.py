"""The results for the switches that may make a failure more frequent."""

from collections.abc import Sequence

from whet.core.budget import StopReason
from whet.core.toggle import Toggle
from whet.core.value_class import value_class
from whet.search.flaky.failure_rates import Runs

AS_IT_IS = "as it is"
"""The name for the plain command, without a switch."""


@value_class(kw_only=True)
class Tried:
    """A switch, or some together, and how often the command failed with it.

    Attributes:
        toggles: what was turned.
        runs: how many runs failed and passed.
        raises: it makes the failure more frequent, with the error that was stated.
        took: whether the program has read it; None: not known.
        slowdown: median wall time over that without; None: not run.
        trial: the last one that failed so; None: none did.
    """

    toggles: tuple[Toggle, ...]
    runs: Runs
    raises: bool
    took: bool | None
    slowdown: float | None
    trial: int | None

    @property
    def name(self) -> str:
        """The switches by name."""
        return switch_names(self.toggles)


@value_class(kw_only=True)
class AmplifyReport:
    """What makes the failure more frequent.

    Attributes:
        summary: the failure in a line, that of the runs as it is if there was one; empty: none
            was seen.
        as_it_is: runs of the command without anything turned.
        tried: each switch that the program reads, in the order in which they were tried.
        unread: names of those that nothing in the program reads.
        run_off: those that raise the rate against each other, the best first.
        places: lines of the program at each of which a sleep alone raises it.
        error: chance that anything is named which raises nothing.
        stopped: why it ended.
        trials: how many runs there were.
        wall_seconds: how long it took.
    """

    summary: str
    as_it_is: Runs
    tried: tuple[Tried, ...]
    unread: tuple[str, ...]
    run_off: tuple[Tried, ...]
    places: tuple[Tried, ...]
    error: float
    stopped: StopReason
    trials: int
    wall_seconds: float

    @property
    def kept(self) -> Tried | None:
        """What then fails most of the time; None: nothing raises the rate."""
        best = next(iter(self.run_off), None)
        return best if best is not None and best.trial is not None else None


def switch_names(toggles: Sequence[Toggle]) -> str:
    """Return the switches that are turned together by name."""
    return " + ".join(each.name for each in toggles) or AS_IT_IS
