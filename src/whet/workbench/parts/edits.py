"""The smallest part of the uncommitted edits that causes a failure."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from whet.core.errors import BaselineDoesNotFail, EndMisjudged, NotARepository, NothingBetween
from whet.core.event import Notice
from whet.core.trial import CodeState, Trial
from whet.host.code.relocation import named_otherwise
from whet.host.code.tree_changes import PartialCommits, Placed, path_changes
from whet.host.code.worktrees import Worktrees
from whet.host.process.git import GitFailedError, Repository
from whet.workbench.parts.smallest_part import PartSearch
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.changed_part import SmallestPart
from whet.workbench.trials.command_search import CommandOptions
from whet.workbench.trials.reproduce import Baseline, reproduce
from whet.workbench.trials.session import Place, Session
from whet.workbench.versions.revisions import Checkouts
from whet.workbench.versions.setups import Setup, Setups

_SHORT = 10
_PLAIN_FILE = "100644"


def commit_before(repository: Repository, commit: str, last_good: str | None) -> str:
    """Return the commit that another one is a change of: its good parent, else its first.

    Raises:
        NothingBetween: if it has none.
    """
    parents = repository.get("rev-list", "--parents", "-n1", commit).split()[1:]
    if not parents:
        raise NothingBetween(
            f"`{commit[:_SHORT]}` is the first commit of all",
            hint="there is no earlier code: the change is all of it",
        )
    return last_good if last_good in parents else parents[0]


def part_of_working_tree(
    session: Session,
    trial: Trial,
    options: CommandOptions,
    *,
    baseline: Baseline | None = None,
) -> SmallestPart:
    """Find the smallest part of the uncommitted changes that brings the failure.

    What is tracked, staged and untracked counts, against HEAD. Both ends are run first.

    Args:
        session: runs its trials.
        trial: the command.
        options: when to stop, and how many trials run at once.
        baseline: what it does with the changes, if that is known.

    Raises:
        NotARepository: if there is none.
        NothingBetween: if nothing is uncommitted, or nothing is committed.
        EndMisjudged: if the command passes with the changes, or fails without them.
        HostFailure: if nothing may be written into the repository.
    """
    code, bench = _changed_code(trial), session.bench
    repository = Repository.containing(Path(trial.cwd))
    for remark in (*bench.notes, *named_otherwise(repository, trial)):
        bench.emit(Notice(text=remark))
    place = checkouts_of(bench, repository)
    base, snapshot = code.commit, code.snapshot or ""
    if baseline is None:
        baseline = _with_changes(session, replace(trial, revision=snapshot), place)
    search = PartSearch(
        session=session,
        repository=repository,
        on=lambda commit: replace(trial, revision=commit),
        reference_seconds=baseline.reproduction.wall_seconds,
        base=base,
        changed=snapshot,
        labels=(f"HEAD {base[:_SHORT]}", "the working tree"),
        oracle=baseline.oracle,
        place=place,
        budget=options.budget,
        jobs=options.jobs or bench.jobs,
        repeats=baseline.repeats,
    )
    return search.run()


def part_of_untracked(
    session: Session,
    trial: Trial,
    files: Mapping[str, bytes],
    options: CommandOptions,
    *,
    baseline: Baseline,
) -> SmallestPart:
    """Find the files beside those of HEAD that bring the failure.

    Args:
        session: runs its trials.
        trial: the command.
        files: what git doesn't track and the command looks at, by the path from the top.
        options: when to stop, and how many trials run at once.
        baseline: how it fails with them.

    Raises:
        EndMisjudged: if the command fails without them.
    """
    bench, repository = session.bench, Repository.containing(Path(trial.cwd))
    base = repository.get("rev-parse", "HEAD").strip()
    commits = PartialCommits(repository, bench.cleanup_journal, base)
    placed = [
        Placed(path=path, mode=_PLAIN_FILE, blob=commits.blob(data)) for path, data in files.items()
    ]
    search = PartSearch(
        session=session,
        repository=repository,
        on=lambda commit: replace(trial, revision=commit),
        reference_seconds=baseline.reproduction.wall_seconds,
        base=base,
        changed=commits.commit(placed),
        labels=(f"HEAD {base[:_SHORT]}", "with the files that git doesn't track"),
        oracle=baseline.oracle,
        place=checkouts_of(bench, repository),
        budget=options.budget,
        jobs=options.jobs or bench.jobs,
        repeats=baseline.repeats,
        keeps_patch=False,  # such a file may hold passwords, as a `.env` does
    )
    return search.run()


def checkouts_of(bench: Workbench, repository: Repository) -> Place:
    """Return what lets trials run in checkouts of their revisions."""
    worktrees = Worktrees(repository, bench.cleanup_journal, bench.project.state / "worktrees")
    setups = Setups(worktrees=worktrees, setup=Setup(), environment=bench.environment)
    return Checkouts(worktrees=worktrees, bench=bench, setups=setups).place


def has_edits(code: CodeState) -> bool:
    """Whether something is uncommitted that isn't merely what Python has compiled."""
    if not code.commit or code.snapshot is None:
        return False
    try:
        changes = path_changes(Repository(Path(code.repository)), code.commit, code.snapshot)
    except GitFailedError:
        return False  # one of them is gone meanwhile
    return any(not change.is_compiled for change in changes)


def _changed_code(trial: Trial) -> CodeState:
    if trial.code is None or Repository.keeping(Path(trial.code.repository)).git_folder:
        raise NotARepository(
            f"`{trial.cwd}` isn't in a git repository, or whet can't record its code",
            hint="whet finds uncommitted edits by comparing with a commit: `git init`, `git "
            "commit`",
        )
    if not trial.code.commit:
        raise NothingBetween(
            f"`{trial.code.repository}` has no commit yet",
            hint="commit a state that works; whet can search what you change after that",
        )
    if trial.code.snapshot is None:
        raise NothingBetween(
            f"`{trial.code.repository}` has no uncommitted changes",
            hint="to search the commits: `whet bisect [GOOD] HEAD -- COMMAND`",
        )
    return trial.code


def _with_changes(session: Session, trial: Trial, place: Place) -> Baseline:
    """Run the command with the changes, to see that it fails, and how often."""
    try:
        return reproduce(session, trial, place=place)
    except BaselineDoesNotFail as error:
        raise EndMisjudged(
            f"with your changes {error}",
            hint=f"run the command that fails; {error.hint}",
        ) from error
