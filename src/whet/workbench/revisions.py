"""The commits of a repository as versions to search."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from whet.bisection.commits import describe, summaries
from whet.bisection.equal_trees import EqualTrees
from whet.bisection.picture import outline, picture
from whet.bisection.revisions import RevisionHistory, RevisionLine, deeper, resolve
from whet.bisection.terms import Terms
from whet.core.executor import Executor
from whet.core.trial import CodeState, Trial
from whet.host.git import Repository
from whet.host.git_trees import GitTrees
from whet.host.worktrees import Worktrees
from whet.search.bisection import Bisection
from whet.workbench.bench import Workbench
from whet.workbench.placing import PlacingExecutor
from whet.workbench.versions import Versions


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkouts:
    """Runs trials on other revisions, in working trees of whet's own.

    Attributes:
        worktrees: the slots.
        bench: the workbench.
        equal: is told what was looked up of a checkout to place a trial there; None: nobody is.
    """

    worktrees: Worktrees
    bench: Workbench
    equal: EqualTrees | None = None

    def observe(self, trial: Trial) -> tuple[str, str] | None:
        """Return the checkout that a placed trial runs in, and git's own folder of it."""
        if trial.code is None or not Path(trial.code.repository, ".git").is_file():
            return None
        return trial.code.repository, self.worktrees.git_folder

    @contextmanager
    def prepare(self, trial: Trial) -> Generator[Trial, None, None]:
        """Give the trial that runs in a checkout of its revision."""
        if trial.revision is None:
            yield trial
            return
        slot = self.worktrees.checkout(trial.revision)
        try:
            relocation = self.worktrees.relocation(slot)
            placed = relocation.placed(trial, self.bench.environment)
            if self.equal is not None:
                self.equal.named.update(relocation.looked_up)
            yield replace(
                placed,
                revision=None,
                # Files are named from the top of the checkout, as from that of the user's tree.
                code=CodeState(repository=str(slot), commit=trial.revision, tree=trial.revision),
            )
        finally:
            self.worktrees.give_back(slot)


def revisions(
    bench: Workbench,
    repository: Repository,
    good: str,
    bad: str,
    *,
    paths: Sequence[str] = (),
    terms: Terms | None = None,
) -> Versions:
    """Return the commits from ``good`` to ``bad``; without a good one those before ``bad``.

    Raises:
        UnknownRevision, SameEnds, EndsReversed, NotAnAncestor, NothingBetween: as they say.
    """
    folder = bench.project.folder
    inside = folder if folder.is_relative_to(repository.top) else None
    new = resolve(repository, bad)
    # One that was run before the search began is checked first, before a worktree is made.
    old = resolve(repository, good) if good else None
    history = (
        RevisionHistory.between(repository, good, bad, paths=paths, folder=inside, terms=terms)
        if good
        else None
    )
    worktrees = Worktrees(repository, bench.belongings, bench.project.state / "worktrees")
    equal = EqualTrees(GitTrees(repository))
    checkouts = Checkouts(worktrees=worktrees, bench=bench, equal=equal)

    def line() -> tuple[Sequence[str], frozenset[int]]:
        found = RevisionLine.before(repository, bad, paths=paths, folder=inside)
        return found.commits, found.tagged

    def place(executor: Executor) -> PlacingExecutor:
        return PlacingExecutor(inner=executor, prepare=checkouts.prepare)

    def bisection(from_old: str, to_new: str) -> Bisection[str]:
        if history is not None:
            return history.bisection()
        found = RevisionHistory.between(
            repository, from_old, to_new, paths=paths, folder=inside, terms=terms
        )
        return found.bisection()

    def drawn(state: Bisection[str], used: Terms) -> str:
        standings = state.standings()
        known = summaries(repository, standings)
        rows = outline(standings, first_bad=state.result().first_bad)
        return picture(rows, lambda commit: str(known[commit]), terms=used)

    return Versions(
        kind="commit",
        subject=repository.top.name,
        old=old,
        new=new,
        label=lambda commit: commit[:10],
        describe=partial(_in_lines, repository),
        details=lambda commit: str(describe(repository, commit, main_line=new)),
        on=lambda trial, commit: replace(trial, revision=commit),
        place=place,
        bisection=bisection,
        line=line,
        picture=drawn,
        deeper=partial(deeper, repository),
        equal=equal,
        observe=checkouts.observe,
    )


def _in_lines(repository: Repository, commits: Sequence[str]) -> Mapping[str, str]:
    known = summaries(repository, commits)
    return {commit: f"{known[commit].date[:10]} {known[commit].subject}" for commit in commits}
