"""Which part of a change is to blame: of the first bad commit, or of what is not committed yet."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from whet.core.budget import Budget
from whet.core.errors import EndMisjudged, NotARepository, NothingBetween
from whet.core.event import Notice
from whet.core.oracle import says_nothing
from whet.core.outcome import Outcome
from whet.core.trial import CodeState, Trial
from whet.core.verdict import Verdict
from whet.host.git import Repository
from whet.host.relocation import named_otherwise
from whet.host.worktrees import Worktrees
from whet.workbench.bench import Place, Workbench, oracle_of
from whet.workbench.changed_part import SmallestPart
from whet.workbench.request import TrialRequest
from whet.workbench.revisions import Checkouts
from whet.workbench.setups import Setup, Setups
from whet.workbench.smallest_part import PartSearch

_SHORT = 10


def commit_before(repository: Repository, commit: str, last_good: str | None) -> str:
    """Return the commit that another one is a change of: its good parent, else its first.

    Raises:
        NothingBetween: if it has none.
    """
    parents = repository.get("rev-list", "--parents", "-n1", commit).split()[1:]
    if not parents:
        raise NothingBetween(
            f"`{commit[:_SHORT]}` is the first commit of all",
            hint="there is no code before it: all of it is the change",
        )
    return last_good if last_good in parents else parents[0]


def part_of_working_tree(
    bench: Workbench,
    request: TrialRequest,
    record: Callable[[Trial], int],
    trial: Trial,
    *,
    budget: Budget,
    jobs: int,
) -> SmallestPart:
    """Find the smallest part of the uncommitted changes that brings the failure.

    What is tracked, staged and untracked counts, against HEAD. Both ends are run first.

    Raises:
        NotARepository: if there is none.
        NothingBetween: if nothing is uncommitted, or nothing is committed.
        EndMisjudged: if the command passes with the changes, or fails without them.
        HostFailure: if nothing may be written into the repository.
    """
    code = _changed_code(trial)
    repository = Repository.containing(Path(trial.cwd))
    for remark in (*bench.notes, *named_otherwise(repository, trial)):
        bench.emit(Notice(text=remark))
    place = checkouts_of(bench, repository)
    base, changed = code.commit, code.snapshot or ""
    number, reference = _run_on(bench, replace(trial, revision=changed), record, place)
    oracle = oracle_of(request.judging, reference)
    bench.notebook.judge(number, oracle.description, oracle.judge(reference), None)
    if oracle.judge(reference) is not Verdict.BAD:
        did = "passes" if reference.failure is None else f"fails: {reference.failure.summary}"
        why = ", but for no reason that counts" if says_nothing(reference) else ""
        raise EndMisjudged(
            f"with your changes the command {did}{why}",
            hint="say what bad means with `--bad-if`, or run the command that fails",
        )
    search = PartSearch(
        bench=bench,
        repository=repository,
        on=lambda commit: replace(trial, revision=commit),
        reference_seconds=reference.wall_seconds,
        base=base,
        changed=changed,
        labels=(f"HEAD {base[:_SHORT]}", "the working tree"),
        oracle=oracle,
        record=record,
        place=place,
        budget=budget,
        jobs=jobs,
    )
    return search.run()


def checkouts_of(bench: Workbench, repository: Repository, setup: Setup | None = None) -> Place:
    """Return what lets trials run in checkouts of their revisions, set up first."""
    worktrees = Worktrees(repository, bench.belongings, bench.project.state / "worktrees")
    setups = Setups(worktrees=worktrees, setup=setup or Setup(), environment=bench.environment)
    return Checkouts(worktrees=worktrees, bench=bench, setups=setups).place


def _changed_code(trial: Trial) -> CodeState:
    if trial.code is None:
        raise NotARepository(
            f"`{trial.cwd}` is not in a git repository, or its code cannot be recorded",
            hint="what is not committed can only be told from what is: `git init`, `git commit`",
        )
    if not trial.code.commit:
        raise NothingBetween(
            f"`{trial.code.repository}` has no commit yet",
            hint="commit a state that works; what you change from there on can be searched",
        )
    if trial.code.snapshot is None:
        raise NothingBetween(
            f"nothing is uncommitted in `{trial.code.repository}`",
            hint="to search the commits: `whet bisect [GOOD] HEAD -- COMMAND`",
        )
    return trial.code


def _run_on(
    bench: Workbench, trial: Trial, record: Callable[[Trial], int], place: Place
) -> tuple[int, Outcome]:
    with bench.executor(record, place=place) as executor:
        future = executor.submit(trial)
        outcome = future.result()
    assert future.number is not None
    return future.number, outcome
