"""Where an investigation can search for the change that brought the failure."""

from whet.core.trial import Trial
from whet.workbench.bench import Workbench
from whet.workbench.bisect import BisectOptions, versions_of
from whet.workbench.investigate import History, InvestigateOptions
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
    if trial.code is not None:
        remark = "no history was searched: name a good commit with `--good`"
    else:
        remark = "no history was searched: name a package with `--package`"
    return History(versions=None, remark=remark)
