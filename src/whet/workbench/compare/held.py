"""A place that stays from run to run, so that nothing is checked out or installed between two runs."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from whet.core.executor import Executor
from whet.core.trial import Trial
from whet.workbench.trials.placing import PlacingExecutor
from whet.workbench.trials.session import Place


def held(place: Place | None, stack: ExitStack, *, most: int = 2) -> Place | None:
    """Return a place that is made once for each trial, until the stack is closed.

    Args:
        place: makes it.
        stack: keeps it.
        most: how many places are kept; the first one stays, the oldest of the others goes.
    """
    if place is None:
        return None

    def hold(executor: Executor) -> PlacingExecutor:
        placing = place(executor)
        kept: dict[str, tuple[Trial, ExitStack]] = {}

        @contextmanager
        def prepare(trial: Trial) -> Generator[Trial, None, None]:
            key = trial.untimed_key
            if key not in kept:
                while len(kept) >= most:
                    oldest = list(kept)[1]
                    kept.pop(oldest)[1].close()
                own = stack.enter_context(ExitStack())
                kept[key] = own.enter_context(placing.prepare(trial)), own
            placed, _ = kept[key]
            wall_seconds = trial.limits.wall_seconds
            yield replace(placed, limits=replace(placed.limits, wall_seconds=wall_seconds))

        return replace(placing, prepare=prepare)

    return hold
