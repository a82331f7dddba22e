"""Importing the trials of another folder: from a clone, a copy, another machine."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from whet.core.errors import BadUsage
from whet.core.text.shell_words import joined
from whet.host.trial.trial_secrets import masked_trial
from whet.notebook.adoption import ForeignNotebook
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench


@contextmanager
def foreign_notebook(bench: Workbench, folder: Path) -> Generator[ForeignNotebook, None, None]:
    """Open a copy of the notebook in a folder; nothing of it is run or believed.

    Raises:
        BadUsage: if it is the project's own.
        FolderNotFound: if there is none.
        NotebookDamaged, NotebookTooNew: if it can't be read.
    """
    if folder.resolve() == bench.project.state.resolve():
        raise BadUsage(f"`{folder}` is this project's own notebook", hint="`whet log` shows it")
    scratch = bench.cleanup_journal.temporary_folder()
    foreign = ForeignNotebook(folder, scratch)
    try:
        yield foreign
    finally:
        foreign.close()
        bench.cleanup_journal.discard(scratch)


def take_over(bench: Workbench, foreign: ForeignNotebook) -> int:
    """Make the trials of a folder those of this project; return how many payloads came along.

    Raises:
        BadUsage: if the project has trials already.
    """
    if any(bench.notebook.entries(1)):
        raise BadUsage(
            "this project has its own trials, and numbers would clash",
            hint="adopt into another folder: `WHET_DIR=FOLDER whet notebook adopt ...`",
        )
    return foreign.take_over(bench.notebook)


def starts_of(entries: Iterable[Entry]) -> list[str]:
    """Return what `whet again` would start, each command once, the newest first."""
    lines: dict[str, None] = {}
    for entry in entries:
        trial = masked_trial(entry.trial)
        steps = [step.command for step in trial.reset]
        lines["; ".join([*steps, joined(trial.command)])] = None
    return list(lines)
