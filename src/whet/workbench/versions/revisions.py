"""The commits of a repository as versions to search."""

import os
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import ClassVar

from whet.bisection.commits import describe, summaries
from whet.bisection.equal_trees import EqualTrees
from whet.bisection.grafted_lines import GraftedLines
from whet.bisection.names import deeper, resolve
from whet.bisection.replay import BisectLog
from whet.bisection.revisions import RevisionHistory, RevisionLine, inside_of
from whet.bisection.shown_diff import shown_diff
from whet.bisection.terms import Terms
from whet.core.event import Notice
from whet.core.executor import Executor
from whet.core.outcome import Outcome
from whet.core.trial import CodeState, Trial
from whet.core.value_class import value_class
from whet.host.code.git_trees import GitTrees
from whet.host.code.worktrees import Worktrees
from whet.host.process.git import Repository
from whet.search.history.bisection import Bisection
from whet.workbench.files.pasted_line import Shell
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.investigation import PastedLine
from whet.workbench.trials.placing import PlacingExecutor
from whet.workbench.versions.carried_check import CarriedCheck
from whet.workbench.versions.grafted_check import GraftedCheck
from whet.workbench.versions.line_on_commit import line_on_commit
from whet.workbench.versions.setups import Setup, Setups
from whet.workbench.versions.version_source import Versions


@value_class(kw_only=True)
class Checkouts:
    """Runs trials on other revisions, in working trees of whet's own.

    Attributes:
        worktrees: the slots.
        bench: the workbench.
        setups: what is done in them first.
        editable: folders of the user's tree from which the command's Python imports packages,
            whatever folder it starts in.
        equal: is told what was looked up of a checkout to place a trial there; None: nobody is.
        said: what was said of a checkout, once for all.
    """

    worktrees: Worktrees
    bench: Workbench
    setups: Setups
    editable: tuple[str, ...] = ()
    equal: EqualTrees | None = None
    said: set[str] = field(default_factory=set[str])

    def place(self, executor: Executor) -> PlacingExecutor:
        """Return what runs each trial in a checkout of its revision."""
        placing: PlacingExecutor = PlacingExecutor(
            inner=executor, prepare=lambda trial: self.prepare(trial, placing.perform)
        )
        return placing

    def observe(self, trial: Trial) -> tuple[str, str] | None:
        """Return the checkout that a placed trial runs in, and git's own folder of it."""
        if trial.code is None or not Path(trial.code.repository, ".git").is_file():
            return None
        return trial.code.repository, self.worktrees.git_folder

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
        for note in self.worktrees.notes_on(slot):
            if note not in self.said:
                self.said.add(note)
                self.bench.emit(Notice(text=note))
        try:
            relocation = self.worktrees.relocation(slot)
            placed = relocation.placed(trial, self.bench.environment)
            if self.editable:
                python_path = {**self.bench.environment, **placed.environment}.get("PYTHONPATH", "")
                own = [str(relocation.folder(Path(each))) for each in self.editable]
                path = os.pathsep.join(filter(None, [*own, python_path]))
                placed = replace(placed, environment={**placed.environment, "PYTHONPATH": path})
            if self.equal is not None:
                self.equal.named.update(relocation.looked_up)
            yield replace(
                self.setups.prepare(slot, placed, commit, perform),
                revision=None,
                setup="",
                # Files are named from the top of the checkout, as from that of the user's tree.
                code=CodeState(repository=str(slot), commit=commit, tree=commit),
            )
        finally:
            self.worktrees.give_back(slot)


@value_class(kw_only=True)
class RevisionOptions:
    """What a search over commits heeds.

    Attributes:
        paths: only commits that touch these.
        is_line: search by first parents, and then in the merge that was found.
        setup: what is done in each checkout first.
        editable: folders of the user's tree that the command's Python imports packages from.
    """

    paths: tuple[str, ...] = ()
    is_line: bool = False
    setup: Setup = field(default_factory=Setup)
    editable: tuple[str, ...] = ()


def revisions(
    bench: Workbench,
    repository: Repository,
    good: str,
    bad: str,
    *,
    options: RevisionOptions | None = None,
    terms: Terms | None = None,
) -> Versions:
    """Return the commits from ``good`` to ``bad``; without a good one those before ``bad``.

    Args:
        bench: the workbench.
        repository: where they are.
        good: the old end, as git names it; empty: find one.
        bad: the new end.
        options: what else to heed.
        terms: what the ends are called.

    Raises:
        UnknownRevision, SameEnds, EndsReversed, NotAnAncestor, NothingBetween: as they say.
    """
    options = options or RevisionOptions()
    setup, new = options.setup, resolve(repository, bad)
    folder = bench.project.folder
    within = folder if folder.is_relative_to(repository.top) else None
    # One that was run before the search began is checked first, before a worktree is made.
    history = None
    if good:
        history = _history(repository, good, bad, options, within, terms)
    setup.check(repository.top, bench.environment)
    setup_text = setup.text(repository.top)
    worktrees = Worktrees(repository, bench.cleanup_journal, bench.project.state / "worktrees")
    setups = Setups(worktrees=worktrees, setup=setup, environment=bench.environment)
    # What a setup leaves in a checkout is in no tree: nothing is concluded across it.
    equal = None if setup_text else EqualTrees(GitTrees(repository))
    checkouts = Checkouts(
        worktrees=worktrees, bench=bench, setups=setups, editable=options.editable, equal=equal
    )
    return _Commits(
        subject=repository.top.name,
        old=None if history is None else history.good,
        new=new,
        place=checkouts.place,
        remarks=() if history is None or not history.remark else (history.remark,),
        equal=equal,
        observe=checkouts.observe,
        repository=repository,
        options=options,
        terms=terms,
        folder=within,
        history=history,
        setup_text=setup_text,
        bench=bench,
    )


def _history(
    repository: Repository,
    old: str,
    new: str,
    options: RevisionOptions,
    folder: Path | None,
    terms: Terms | None,
) -> RevisionHistory:
    history = RevisionHistory.between(
        repository, old, new, paths=options.paths, folder=folder, terms=terms
    )
    return history.line(folder=folder) if options.is_line else history


@value_class(kw_only=True)
class _Commits(Versions):
    """The commits of a repository, by their full names.

    Attributes:
        repository: where they are.
        options: what else to heed.
        terms: what the ends are called.
        folder: the project's, in the repository; None: it is elsewhere.
        history: the commits between both ends, if both were named.
        setup_text: what is done in each checkout first.
        bench: the workbench.
        check: files of the new end, or lines of them, that each commit gets; None: it has its own.
    """

    kind: ClassVar[str] = "commit"
    repository: Repository
    options: RevisionOptions
    terms: Terms | None
    folder: Path | None
    history: RevisionHistory | None
    setup_text: str
    bench: Workbench
    check: CarriedCheck | GraftedCheck | None = None

    def label(self, version: str) -> str:
        return version[:10]

    def describe(self, versions: Sequence[str]) -> Mapping[str, str]:
        summary_of = summaries(self.repository, versions)
        return {
            each: f"{summary_of[each].date[:10]} {summary_of[each].subject}" for each in versions
        }

    def details(self, version: str) -> str:
        return str(describe(self.repository, version, main_line=self.new))

    def titles(self, versions: Sequence[str]) -> Mapping[str, str]:
        summary_of = summaries(self.repository, versions)
        return {each: str(summary_of[each]) for each in versions}

    def on(self, trial: Trial, version: str) -> Trial:
        commit = version if self.check is None else self.check.on(version)
        return self.plain(trial, commit)

    def plain(self, trial: Trial, version: str) -> Trial:
        return replace(trial, revision=version, setup=self.setup_text)

    def with_check(self, paths: Sequence[str]) -> "Versions":
        check = CarriedCheck(
            repository=self.repository, journal=self.bench.cleanup_journal, source=self.new,
            paths=tuple(paths),
        )  # fmt: skip
        # What a trial looks at isn't what is in the commits: nothing is concluded across them.
        return replace(self, check=check, equal=None, remarks=())

    def with_lines(
        self,
        files: Mapping[str, GraftedLines],
        place: str,
        new: str,
        *,
        source: str = "",
        is_marked: bool = False,
    ) -> "Versions":
        check = GraftedCheck(
            repository=self.repository, journal=self.bench.cleanup_journal,
            source=source or self.new, files=files, place=place, is_marked=is_marked,
        )  # fmt: skip
        return replace(self, check=check, equal=None, remarks=(), old=None, new=new, history=None)

    @property
    def has_other_check(self) -> bool:
        made = {} if self.check is None else self.check.made
        return any(commit != with_check for commit, with_check in made.items())

    def diff(self, version: str, paths: Collection[str]) -> str:
        return shown_diff(self.repository, version, paths)

    def again(self, shell: Shell) -> PastedLine | None:
        check = self.check
        if isinstance(check, GraftedCheck):
            return None  # the user's git has no commit with the lines
        if check is not None:
            commit = check.without(shell.trial.revision or "")
            shell = replace(shell, trial=replace(shell.trial, revision=commit))
        return line_on_commit(
            shell, self.repository, self.options.setup, self.options.editable, check
        )

    def bisection(self, old: str, new: str) -> Bisection[str]:
        return (self.history or self._between(old, new)).bisection()

    def _between(self, old: str, new: str) -> RevisionHistory:
        return _history(self.repository, old, new, self.options, self.folder, self.terms)

    def line(self) -> tuple[Sequence[str], frozenset[int]]:
        revision_line = RevisionLine.before(
            self.repository, self.new, paths=self.options.paths, folder=self.folder
        )
        return revision_line.commits, revision_line.tagged

    @property
    def is_grouped(self) -> bool:
        return self.options.is_line

    def whole(self, old: str, new: str) -> Bisection[str]:
        if not self.is_grouped:
            return self.bisection(old, new)
        graph = replace(self.options, is_line=False)
        return _history(self.repository, old, new, graph, self.folder, self.terms).bisection()

    def inside(self, version: str) -> Bisection[str] | None:
        if not self.is_grouped:
            return None
        within = inside_of(self.repository, version, self.options.paths, self.folder)
        return None if within is None else within.bisection()

    def deeper(self) -> str:
        return deeper(self.repository)

    def log(self, state: Bisection[str], terms: Terms) -> str:
        old, new = state.old_end or "", state.new_end
        commits = [old, new, *dict(state.tested), *state.suspects]
        summary_of = summaries(self.repository, commits)
        is_inside_a_merge = self.repository.ask("rev-parse", f"{new}^1").text == old
        log = BisectLog(
            old=old,
            new=new,
            tested=state.tested,
            terms=terms,
            title=lambda commit: summary_of[commit].subject,
            paths=self.options.paths,
            is_line=self.options.is_line and not is_inside_a_merge,
            first_bad=state.result().first_bad,
        )
        return str(log)
