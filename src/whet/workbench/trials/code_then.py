"""A recorded trial on the code as it was."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from whet.core.errors import CodeNotKept
from whet.core.trial import CodeState, Trial
from whet.host.code.relocation import named_otherwise
from whet.host.code.worktrees import Worktrees
from whet.host.process.git import Repository
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.placing import PlacingExecutor
from whet.workbench.trials.session import Place


def code_of(entry: Entry) -> CodeState:
    """Return the code that a recorded trial ran on.

    Raises:
        CodeNotKept: if none was kept.
    """
    if entry.trial.code is None:
        raise CodeNotKept(
            f"no code was kept with trial {entry.number}",
            hint=f"`whet again {entry.number}` runs it on today's code",
        )
    if entry.trial.revision is not None:
        commit = entry.trial.revision
        return CodeState(repository=entry.trial.code.repository, commit=commit, tree=commit)
    return entry.trial.code


def on_code(bench: Workbench, code: CodeState) -> Place:
    """Return what lets trials run in a checkout of the code as it was."""
    worktrees = Worktrees(
        Repository.keeping(Path(code.repository)),
        bench.cleanup_journal,
        bench.project.state / "worktrees",
    )

    @contextmanager
    def prepare(trial: Trial) -> Generator[Trial, None, None]:
        slot = worktrees.checkout_code(code)
        try:
            placed = worktrees.relocation(slot).placed(trial, bench.environment)
            bench.notes.extend(named_otherwise(worktrees.repository, trial))
            yield replace(placed, code=replace(code, repository=str(slot)))
        finally:
            bench.notes.extend(worktrees.notes_on(slot))
            worktrees.give_back(slot)

    return lambda executor: PlacingExecutor(inner=executor, prepare=prepare)
