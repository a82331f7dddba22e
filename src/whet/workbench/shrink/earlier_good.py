"""A good version for a shrink, if the user named none: the code on which the command passed before."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from whet.bisection.attempts import is_same_but_for_code
from whet.core.errors import WhetError
from whet.core.oracle import SameFailure
from whet.core.trial import CodeState, Trial
from whet.core.verdict import Verdict
from whet.host.code.tree_changes import path_changes
from whet.host.process.git import GitFailedError, Repository
from whet.workbench.parts.edits import checkouts_of
from whet.workbench.shrink.shrinking import Guard
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.reproduce import Baseline, with_patience
from whet.workbench.trials.session import Place, Session

MOST_FILES = 5_000
"""whet doesn't check out code with more files unasked: that can take longer than the search."""


def earlier_good(
    session: Session,
    trial_as_typed: Trial,
    trial: Trial,
    baseline: Baseline,
    files: Sequence[Path],
) -> tuple[Guard, Place] | None:
    """Return the code on which the files as they are pass, and where it is run; None: none is known.

    The code of the last trial of this command that passed is asked first, then the last commit.
    Code that differs from that of now in the files alone says nothing.

    Args:
        session: runs it.
        trial_as_typed: the command as the user typed it.
        trial: the same on copies of the files.
        baseline: what it does.
        files: what is made smaller.
    """
    is_certain = isinstance(baseline.oracle, SameFailure) and baseline.repeats == 1
    if trial_as_typed.code is None or not trial_as_typed.code.commit or not is_certain:
        return None
    bench = session.bench
    repository = Repository(Path(trial_as_typed.code.repository))
    patient = with_patience(trial, baseline.reproduction.wall_seconds)
    place = checkouts_of(bench, repository)
    for label, code in _known_good(bench, trial_as_typed, trial_as_typed.code):
        commit = code.snapshot or code.commit
        try:
            if not _is_worth_a_run(repository, commit, trial_as_typed.code, files):
                continue
            patient = replace(patient, revision=commit)
            ran = session.run(patient, baseline.oracle, label, place=place)
        except (GitFailedError, WhetError):
            continue  # it is gone meanwhile, or can't be checked out
        if ran.verdict is Verdict.GOOD:
            return _guard(label, commit), place
    return None


def _known_good(
    bench: Workbench, trial_as_typed: Trial, now: CodeState
) -> Iterator[tuple[str, CodeState]]:
    for entry in bench.notebook.attempts_at(trial_as_typed):
        code, outcome = entry.trial.code, entry.outcome
        has_passed = outcome is not None and outcome.failure is None and not outcome.interrupted
        if code is None or not has_passed or not is_same_but_for_code(entry.trial, trial_as_typed):
            continue
        yield f"the code of trial {entry.number}", code
        break
    if now.snapshot is not None:
        yield "the last commit", replace(now, snapshot=None)


def _is_worth_a_run(
    repository: Repository, commit: str, now: CodeState, files: Sequence[Path]
) -> bool:
    changes = path_changes(repository, commit, now.snapshot or now.commit)
    paths = [Path(repository.top, each.path) for each in changes if not each.is_compiled]
    names = repository.get("ls-tree", "-r", "--name-only", commit).splitlines()
    if len(names) > MOST_FILES:
        return False
    return any(path != file and file not in path.parents for path in paths for file in files)


def _guard(label: str, commit: str) -> Guard:
    return Guard(label=label, on_good_side=lambda trial: replace(trial, revision=commit))
