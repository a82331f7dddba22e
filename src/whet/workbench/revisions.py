"""The commits of a repository as versions to search."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from whet.bisection.commits import describe, summaries
from whet.bisection.picture import outline, picture
from whet.bisection.names import deeper, resolve
from whet.bisection.revisions import RevisionHistory, RevisionLine
from whet.bisection.terms import Terms
from whet.core.executor import Executor
from whet.core.outcome import Outcome
from whet.core.trial import CodeState, Trial
from whet.host.git import Repository
from whet.host.worktrees import Worktrees
from whet.search.bisection import Bisection
from whet.workbench.bench import Workbench
from whet.workbench.placing import PlacingExecutor
from whet.workbench.setups import Setup, Setups
from whet.workbench.versions import Versions


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkouts:
    """Runs trials on other revisions, in working trees of whet's own.

    Attributes:
        worktrees: the slots.
        bench: the workbench.
        setups: what is done in them first.
    """

    worktrees: Worktrees
    bench: Workbench
    setups: Setups

    def place(self, executor: Executor) -> PlacingExecutor:
        """Return what runs each trial in a checkout of its revision."""
        placing: PlacingExecutor = PlacingExecutor(
            inner=executor, prepare=lambda trial: self.prepare(trial, placing.perform)
        )
        return placing

    @contextmanager
    def prepare(
        self, trial: Trial, perform: Callable[[Trial], Outcome]
    ) -> Generator[Trial, None, None]:
        """Give the trial that runs in a checkout of its revision."""
        if trial.revision is None:
            yield trial
            return
        commit = trial.revision
        slot = self.worktrees.checkout(commit, self.setups.state_of(commit))
        try:
            placed = self.worktrees.relocation(slot).placed(trial, self.bench.environment)
            yield replace(
                self.setups.prepare(slot, placed, commit, perform),
                revision=None,
                setup="",
                # Files are named from the top of the checkout, as from that of the user's tree.
                code=CodeState(repository=str(slot), commit=commit, tree=commit),
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
    is_line: bool = False,
    setup: Setup | None = None,
) -> Versions:
    """Return the commits from ``good`` to ``bad``; without a good one those before ``bad``.

    Args:
        bench: the workbench.
        repository: where they are.
        good: the old end, as git names it; empty: find one.
        bad: the new end.
        paths: only commits that touch these.
        terms: what the ends are called.
        is_line: search by first parents, and then in the merge that was found.
        setup: what is done in each checkout first.

    Raises:
        UnknownRevision, SameEnds, EndsReversed, NotAnAncestor, NothingBetween: as they say.
    """
    folder = bench.project.folder
    inside = folder if folder.is_relative_to(repository.top) else None
    new = resolve(repository, bad)
    span = partial(
        RevisionHistory.between,
        repository, paths=paths, folder=inside, terms=terms, is_line=is_line,
    )  # fmt: skip
    # One that was run before the search began is checked first, before a worktree is made.
    history = span(good, bad) if good else None
    worktrees = Worktrees(repository, bench.belongings, bench.project.state / "worktrees")
    setup = setup or Setup()
    setup.check(repository.top, bench.environment)
    setup_text = setup.text(repository.top)
    setups = Setups(worktrees=worktrees, setup=setup, environment=bench.environment)
    checkouts = Checkouts(worktrees=worktrees, bench=bench, setups=setups)

    def line() -> tuple[Sequence[str], frozenset[int]]:
        found = RevisionLine.before(repository, bad, paths=paths, folder=inside)
        return found.commits, found.tagged

    def bisection(from_old: str, to_new: str) -> Bisection[str]:
        return (history or span(from_old, to_new)).bisection()

    def inside_of(commit: str) -> Bisection[str] | None:
        if not is_line:
            return None
        within = span(f"{commit}^", commit).inside(commit, folder=inside)
        return None if within is None else within.bisection()

    def drawn(state: Bisection[str], used: Terms) -> str:
        standings = state.standings()
        known = summaries(repository, standings)
        rows = outline(standings, first_bad=state.result().first_bad)
        return picture(rows, lambda commit: str(known[commit]), terms=used)

    return Versions(
        kind="commit",
        subject=repository.top.name,
        old=None if history is None else history.good,
        new=new,
        label=lambda commit: commit[:10],
        describe=partial(_in_lines, repository),
        details=lambda commit: str(describe(repository, commit, main_line=new)),
        on=lambda trial, commit: replace(trial, revision=commit, setup=setup_text),
        place=checkouts.place,
        bisection=bisection,
        line=line,
        picture=drawn,
        deeper=partial(deeper, repository),
        inside=inside_of,
        remarks=() if history is None or not history.remark else (history.remark,),
    )


def _in_lines(repository: Repository, commits: Sequence[str]) -> Mapping[str, str]:
    known = summaries(repository, commits)
    return {commit: f"{known[commit].date[:10]} {known[commit].subject}" for commit in commits}
