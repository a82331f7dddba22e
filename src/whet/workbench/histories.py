"""Where an investigation can search for the change that brought the failure."""

import os
from pathlib import Path

from whet.core.trial import Trial
from whet.host.git import Repository
from whet.workbench.bench import Workbench
from whet.workbench.bisect import BisectOptions, versions_of
from whet.workbench.investigating import History, InvestigateOptions
from whet.workbench.request import TrialRequest


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
    if trial.code is None:
        remark = "no history was searched: name a package with `--package`"
    elif _is_committed(trial):
        # Without a good end it is walked back from HEAD, 1, 2, 4, 8 commits, until there is one.
        ends = BisectOptions(good="", bad="HEAD")
        return History(versions=versions_of(bench, trial, ends), is_asked_for=False)
    else:
        remark = "no history was searched: git tracks no file that the command names"
    return History(versions=None, remark=remark)


def _is_committed(trial: Trial) -> bool:
    """Whether the repository has more than one commit, and one of the command's files."""
    repository = Repository.containing(Path(trial.cwd))
    words = [word.partition("::")[0] for word in trial.command[1:] if not word.startswith("-")]
    files = [word for word in words if word and "\0" not in word and Path(trial.cwd, word).exists()]
    if not files or repository.ask("rev-parse", "--quiet", "--verify", "HEAD~1").exit_code != 0:
        return False
    paths = [os.path.abspath(Path(trial.cwd, file)) for file in files]
    return bool(repository.ask("ls-files", "-z", "--", *paths).stdout)
