"""`whet bisect`: the first bad commit or release."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from whet.bisection.terms import Terms
from whet.core.budget import Budget
from whet.core.trial import Trial
from whet.host.git import Repository
from whet.host.relocation import named_otherwise
from whet.workbench.bench import Workbench
from whet.workbench.investigation import VersionSearch
from whet.workbench.request import TrialRequest
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
        pythons: search the Pythons of this range instead; ``bad`` names their packages.
        terms: ``OLD,NEW``; empty: good and bad.
        with_prereleases: releases such as 2.0rc1 count too.
        as_of_release: dependencies as they were when each release came out.
        budget: when to stop.
        jobs: trials at once; None: all cores. A search runs two at the most.
    """

    good: str
    bad: str
    repository: str = ""
    paths: tuple[str, ...] = ()
    package: str = ""
    pythons: str = ""
    terms: str = ""
    with_prereleases: bool = False
    as_of_release: bool = False
    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None


def bisect(bench: Workbench, request: TrialRequest, options: BisectOptions) -> VersionSearch:
    """Find the first bad version.

    Raises:
        EndMisjudged, EndsReversed, SameEnds: if the ends are not what they were said to be.
    """
    terms = Terms.parse(options.terms) if options.terms else Terms()
    trial = bench.for_search(bench.build_trial(request))
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
        overlaps=(options.jobs or bench.jobs) > 1,
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
    """Return the commits, releases or Pythons to search."""
    if options.pythons:
        from whet.workbench.pythons import pythons

        return pythons(bench, trial, options.pythons, options.bad)
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
    from whet.workbench.revisions import revisions

    repository = Repository.containing(Path(options.repository or trial.cwd))
    found = revisions(
        bench, repository, options.good, options.bad, paths=options.paths, terms=terms
    )
    return replace(found, remarks=named_otherwise(repository, trial))


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
