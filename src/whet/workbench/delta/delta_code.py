"""The code of two recorded trials: the hunks that differ, and trials with some of them."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path

from whet.core.difference import Change
from whet.core.output import digest_of
from whet.core.trial import CodeState, Trial
from whet.core.value_class import value_class
from whet.host.code.code_versions import Versions, differing_files, put_versions
from whet.host.code.worktrees import Worktrees
from whet.host.process.git import Repository
from whet.reduction.between import Step
from whet.reduction.files_between import FilesBetween, FileVersion
from whet.search.subsets.hierarchy import Numbers
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.placing import PlacingExecutor
from whet.workbench.trials.session import Place


@value_class(kw_only=True)
class CodeBetween:
    """What lies between two recorded states of the code.

    Attributes:
        before: the code of the good trial.
        files: the files that differ; None: they are the same.
    """

    before: CodeState
    files: FilesBetween | None = None
    _made: dict[str, Mapping[str, FileVersion | None]] = field(
        default_factory=dict[str, "Mapping[str, FileVersion | None]"]
    )

    @property
    def changes(self) -> tuple[Change, ...]:
        """The hunks and files that differ."""
        return () if self.files is None else self.files.changes

    @property
    def paths(self) -> tuple[tuple[Step, ...], ...]:
        """Where each of them stands."""
        return () if self.files is None else self.files.paths

    def code(self, numbers: Numbers) -> CodeState:
        """Return the code of the good trial with some of the hunks; its tree names them."""
        if self.files is None or not numbers:
            return self.before
        hunks = digest_of(",".join(map(str, numbers)).encode() + repr(self.changes).encode())
        code = replace(self.before, tree=f"{self.before.tree}+{hunks[:20]}")
        self._made[code.tree] = self.files.made(numbers)
        return code

    def place(self, bench: Workbench) -> Place:
        """Return what lets trials run in a checkout of their code."""
        worktrees = Worktrees(
            Repository.keeping(Path(self.before.repository)),
            bench.cleanup_journal,
            bench.project.state / "worktrees",
        )

        @contextmanager
        def prepare(trial: Trial) -> Generator[Trial, None, None]:
            slot = worktrees.checkout_code(self.before)
            try:
                tree = "" if trial.code is None else trial.code.tree
                versions = self._made.get(tree, {})
                put_versions(slot, {path: _kept(each) for path, each in versions.items()})
                placed = worktrees.relocation(slot).placed(trial, bench.environment)
                yield replace(placed, code=replace(self.before, repository=str(slot)))
            finally:
                worktrees.give_back(slot)

        return lambda executor: PlacingExecutor(inner=executor, prepare=prepare)


def code_between(before: CodeState, after: CodeState) -> CodeBetween:
    """Return what lies between two states of the code.

    Raises:
        GitFailedError: if one of them is no longer in the repository.
    """
    if before.tree == after.tree:
        return CodeBetween(before=before)
    old, new = differing_files(before, after)
    return CodeBetween(before=before, files=FilesBetween(_versions(old), _versions(new)))


def _versions(files: Versions) -> dict[str, FileVersion]:
    return {
        path: FileVersion(content=content, form=mode) for path, (mode, content) in files.items()
    }


def _kept(version: FileVersion | None) -> tuple[str, bytes] | None:
    if version is None or version.content is None:
        return None
    return version.form, version.content
