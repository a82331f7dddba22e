"""The histories in which an investigation can search for the change that introduced the failure."""

import os
from pathlib import Path

from whet.core.trial import Trial
from whet.host.process.git import Repository
from whet.workbench.bisect.bisect import BisectOptions, versions_of
from whet.workbench.investigate.investigating import History, InvestigateOptions
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.request import TrialRequest


def history_of(
    bench: Workbench, _request: TrialRequest, trial: Trial, options: InvestigateOptions
) -> History:
    """Return the releases or commits to search, or why there are none.

    Raises:
        UnknownPackage, UnknownRelease, IndexUnreachable: for a package.
        UnknownRevision, SameEnds, EndsReversed, NotAnAncestor: for a repository.
    """
    if options.package:
        ends = BisectOptions(good=options.good, bad=options.bad, package=options.package)
        return History(versions=versions_of(bench, trial, ends), is_pinned=True)
    if options.good:
        ends = BisectOptions(good=options.good, bad=options.bad or "HEAD")
        return History(versions=versions_of(bench, trial, ends))
    remark = _why_not(trial)
    if remark:
        return History(versions=None, remark=f"whet searched no history: {remark}")
    doubt = _why_unsure(trial)
    # Without a good end it is walked back from HEAD, 1, 2, 4, 8 commits, until there is one.
    ends = BisectOptions(good="", bad="HEAD")
    return History(
        versions=versions_of(bench, trial, ends),
        remark=f"whet searched no history: {doubt}" if doubt else "",
        is_asked_for=False,
        is_sure=not doubt,
    )


def _why_not(trial: Trial) -> str:
    """Say why no earlier commit may tell of the failure; empty: one may."""
    if trial.code is None or Repository.keeping(Path(trial.code.repository)).git_folder:
        return "this folder isn't in a git repository"
    repository = Repository.containing(Path(trial.cwd))
    if repository.ask("rev-parse", "--quiet", "--verify", "HEAD~1").exit_code != 0:
        return "there is no commit before the current one"
    return ""


def _why_unsure(trial: Trial) -> str:
    """Say why a commit may hold nothing of what fails; empty: it holds a file of the command."""
    repository = Repository.containing(Path(trial.cwd))
    words = [word.partition("::")[0] for word in trial.command[1:] if not word.startswith("-")]
    files = [word for word in words if word and "\0" not in word and Path(trial.cwd, word).exists()]
    if not files:
        return "the command names no file; name a revision that is good with `--good`"
    paths = [os.path.abspath(Path(trial.cwd, file)) for file in files]
    if not repository.ask("ls-files", "-z", "--", *paths).stdout:
        return "git tracks no file that the command names"
    return ""
