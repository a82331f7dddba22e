"""`whet bisect`: the first bad commit or release."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.bisection.names import resolve_or_date
from whet.bisection.revisions import is_ancestor
from whet.bisection.terms import FIXED, Terms
from whet.core.budget import Budget
from whet.core.event import Notice
from whet.core.trial import Trial
from whet.host.editable import editable_folders
from whet.host.git import Repository
from whet.host.relocation import named_otherwise
from whet.workbench.bench import Workbench
from whet.workbench.investigation import VersionSearch
from whet.workbench.request import TrialRequest
from whet.workbench.setups import Setup
from whet.workbench.versions import VersionHunt, Versions


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectOptions:
    """Where to search.

    Attributes:
        good: the old end; empty: walk back until there is one.
        bad: the new end.
        repository: a folder of the git repository; empty: the current one.
        paths: only commits that touch these.
        package: search the releases of this package instead of commits.
        terms: ``OLD,NEW``; empty: good and bad.
        with_prereleases: releases such as 2.0rc1 count too.
        as_of_release: dependencies as they were when each release came out.
        budget: when to stop.
        jobs: trials at once; None: all cores, up to `MOST_JOBS`.
        is_line: search by first parents, and then in the merge that was found.
        setup: what is done in each checkout first.
    """

    good: str
    bad: str
    repository: str = ""
    paths: tuple[str, ...] = ()
    package: str = ""
    terms: str = ""
    with_prereleases: bool = False
    as_of_release: bool = False
    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None
    is_line: bool = False
    setup: Setup = field(default_factory=Setup)


MOST_JOBS = 8
"""Trials at once if nobody says: each more costs a checkout, and gains ever less."""


def bisect(bench: Workbench, request: TrialRequest, options: BisectOptions) -> VersionSearch:
    """Find the first bad version.

    Raises:
        EndMisjudged, EndsReversed, SameEnds: if the ends are not what they were said to be.
    """
    terms = Terms.parse(options.terms) if options.terms else Terms()
    trial = bench.for_search(bench.build_trial(request))
    if not options.package:
        options, terms = _dated_and_in_order(bench, trial, options, terms)
    jobs = options.jobs or min(bench.jobs, MOST_JOBS)
    versions = versions_of(bench, trial, options, terms)
    investigation = bench.notebook.begin_investigation(verb="bisect", trial=trial)
    hunt = VersionHunt(
        bench=bench,
        trial=trial,
        judging=request.judging,
        versions=versions,
        record=recorder(bench, request, investigation),
        terms=terms,
        budget=options.budget,
        overlaps=jobs > 1,
        jobs=jobs,
    )
    found = hunt.run().search
    bench.notebook.end_investigation(
        investigation,
        found.stopped,
        {"first_bad": found.first_bad, "suspects": list(found.suspects)},
    )
    return found


def versions_of(
    bench: Workbench, trial: Trial, options: BisectOptions, terms: Terms | None = None
) -> Versions:
    """Return the commits or releases to search."""
    if options.package:
        from whet.workbench.releases import releases

        return releases(
            bench,
            trial,
            options.package,
            options.good,
            options.bad,
            with_prereleases=options.with_prereleases,
            as_of_release=options.as_of_release,
            terms=terms,
        )
    from whet.workbench.revisions import RevisionOptions, revisions

    repository = _repository(trial, options)
    found = revisions(
        bench,
        repository,
        options.good,
        options.bad,
        options=RevisionOptions(
            paths=options.paths,
            is_line=options.is_line,
            setup=options.setup,
            editable=_editable(bench, trial, repository, options.setup),
        ),
        terms=terms,
    )
    outside = _outside(bench, trial, repository, options)
    remarks = (*found.remarks, *outside, *named_otherwise(repository, trial))
    return replace(found, remarks=remarks)


def _outside(
    bench: Workbench, trial: Trial, repository: Repository, options: BisectOptions
) -> tuple[str, ...]:
    """Return a warning if nothing leads the command into the repository."""
    top = os.path.realpath(repository.top)
    variables = {**bench.environment, **trial.environment}
    words = (trial.cwd, *trial.command, *variables.get("PYTHONPATH", "").split(os.pathsep))
    leads = any(os.path.realpath(Path(trial.cwd, word)).startswith(top) for word in words)
    if leads or options.setup.command or _editable(bench, trial, repository, options.setup):
        return ()
    text = (
        f"the command starts outside of `{top}` and does not name it: it may run the same code on"
        " each commit (`--setup 'pip install -e .'` installs each, `--env PYTHONPATH=` names it)"
    )
    return (text,)


def _editable(
    bench: Workbench, trial: Trial, repository: Repository, setup: Setup
) -> tuple[str, ...]:
    """Return what an editable installation leads to; a setup has an environment without one."""
    if setup.command:
        return ()
    inherited = {**bench.environment, **trial.environment}
    state, top = bench.project.state, repository.top
    return editable_folders(trial.command, Path(trial.cwd), inherited, state=state, top=top)


def _repository(trial: Trial, options: BisectOptions) -> Repository:
    return Repository.containing(Path(options.repository or trial.cwd))


def _dated_and_in_order(
    bench: Workbench, trial: Trial, options: BisectOptions, terms: Terms
) -> tuple[BisectOptions, Terms]:
    """Put commits in the place of dates, and the older end first.

    If the end that was said to be bad is the older one, what fixed it is searched; terms that
    somebody gave stay, and with them the order.
    """
    repository = _repository(trial, options)
    named = resolve_or_date(repository, options.bad)
    if named.remark:
        bench.emit(Notice(text=named.remark))
        options = replace(options, bad=named.commit)
    if not options.good:
        return options, terms
    older = resolve_or_date(repository, options.good, tip=named.commit)
    if older.remark:
        bench.emit(Notice(text=older.remark))
        options = replace(options, good=older.commit)
    is_reversed = terms == Terms() and is_ancestor(repository, named.commit, older.commit)
    if not is_reversed or named.commit == older.commit:
        return options, terms
    text = f"`{options.bad}` (bad) is older than `{options.good}` (good): what fixed it is searched"
    bench.emit(Notice(text=text))
    return replace(options, good=options.bad, bad=options.good), FIXED


def recorder(bench: Workbench, request: TrialRequest, investigation: int) -> Callable[[Trial], int]:
    """Return what writes the rows of a search's trials."""

    def record(starting: Trial) -> int:
        return bench.notebook.begin(
            starting,
            verb="bisect",
            name=request.name,
            note=request.note,
            expectation=request.expectation,
            investigation=investigation,
        )

    return record
