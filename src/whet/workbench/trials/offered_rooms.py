"""Suggests a clean room if the inputs of a command change while it runs."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from whet.core.event import Notice
from whet.core.trial import Trial
from whet.workbench.trials.bench import Workbench

_SHOWN = 3


@contextmanager
def offering_clean_rooms(bench: Workbench, trial: Trial) -> Generator[None, None, None]:
    """Tell, after the runs in this context, that a run starts from what the one before has left.

    Args:
        bench: the workbench.
        trial: what is run, more than once.
    """
    room = trial.limits.room
    if room is not None and room.is_clean:
        yield
        return
    from whet.host.trial.inputs import Inputs

    inputs = Inputs.of(trial, bench.environment, [bench.project.state])
    yield
    if paths := inputs.written():
        bench.emit(Notice(text=written_by_command(paths, trial)))


def written_by_command(paths: Sequence[str], trial: Trial) -> str:
    """Return what to say of inputs that a command seems to write itself."""
    return (
        f"files that the command starts from changed while it ran ({shown_paths(paths, trial)}): if the command wrote them, no two runs are alike; with `--clean` each starts from the same"
        " files"
    )


def shown_paths(paths: Sequence[str], trial: Trial) -> str:
    """Return some paths as the command would name them."""
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(f"`{os.path.relpath(path, trial.cwd)}`" for path in paths[:_SHOWN]) + more
