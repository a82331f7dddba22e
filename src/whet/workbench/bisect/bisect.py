"""`whet bisect`: the first bad commit or release."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import field, replace
from pathlib import Path

from whet.bisection.names import resolve_or_date
from whet.bisection.revisions import is_ancestor
from whet.bisection.terms import FIXED, Terms
from whet.core.budget import Budget
from whet.core.errors import BadUsage, EndMisjudged
from whet.core.event import Notice
from whet.core.text.quantity import shown_count
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.code.relocation import named_otherwise
from whet.host.process.git import Repository
from whet.workbench.bisect.culprit_part import part_of_first_bad
from whet.workbench.bisect.own_files import OwnFiles
from whet.workbench.compare.weighing import CostWeighing, weighing_for
from whet.workbench.parts.edits import has_edits, part_of_working_tree
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.changed_part import SmallestPart
from whet.workbench.trials.command_search import CommandOptions
from whet.workbench.trials.investigation import VersionSearch
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session
from whet.workbench.versions.command_in_repository import editable_of, outside_of
from whet.workbench.versions.noisy_versions import Noise, find_first_bad
from whet.workbench.versions.own_failure import check_shows_failure
from whet.workbench.versions.setups import Setup
from whet.workbench.versions.version_source import Versions
from whet.workbench.versions.versions import VersionHunt


@value_class(kw_only=True)
class BisectOptions:
    """Where to search.

    Attributes:
        good: the old end; empty: walk back until there is one.
        bad: the new end.
        repository: a folder of the git repository; empty: the current one.
        paths: only commits that touch these.
        package: search the releases of this package instead of commits.
        pins: releases of other packages that are installed with each release of that one.
        pythons: search the Pythons of this range instead; ``bad`` names their packages.
        terms: ``OLD,NEW``; empty: good and bad.
        with_prereleases: releases such as 2.0rc1 count too.
        as_of_release: dependencies as they were when each release came out.
        budget: when to stop.
        jobs: trials at once; None: all cores, up to `MOST_JOBS`.
        noise: what is known of a failure that may come only sometimes.
        is_line: search by first parents, and then in the merge that was found.
        setup: what is done in each checkout first.
        attempts: search the states of the code that the command was tried on.
        is_resumed: there must be an earlier search of this command to continue with.
        hunks: search in the first bad commit too, for the smallest part that brings the failure.
    """

    good: str
    bad: str
    repository: str = ""
    paths: tuple[str, ...] = ()
    package: str = ""
    pins: Mapping[str, str] = field(default_factory=dict[str, str])
    pythons: str = ""
    terms: str = ""
    with_prereleases: bool = False
    as_of_release: bool = False
    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None
    noise: Noise = field(default_factory=Noise)
    is_line: bool = False
    setup: Setup = field(default_factory=Setup)
    hunks: bool = False
    attempts: bool = False
    is_resumed: bool = False


MOST_JOBS = 8
"""The default number of parallel trials: each one more costs a checkout, and gains less."""


def bisect(bench: Workbench, request: TrialRequest, options: BisectOptions) -> VersionSearch:
    """Find the first bad version.

    Raises:
        EndMisjudged, EndsReversed, SameEnds: if the ends aren't what they were said to be.
    """
    terms = Terms.parse(options.terms) if options.terms else Terms()
    trial = replace(bench.for_search(bench.build_trial(request)), packages=options.pins)
    if options.is_resumed:
        _tell_what_is_known(bench, trial)
    jobs = options.jobs or min(bench.jobs, MOST_JOBS)
    if request.judging.bound is not None:
        jobs = 1  # two at once would measure each other
    if options.attempts:
        from whet.workbench.bisect.attempts import attempts

        versions = attempts(bench, trial, request.judging)
    else:
        if not (options.package or options.pythons):
            options, terms = _dated_and_in_order(bench, trial, options, terms)
        versions = versions_of(bench, trial, options, terms)
    has_places = not (options.package or options.pythons)
    own_files = OwnFiles.of(bench, trial, has_places=has_places)
    with open_session(bench, "bisect", request, trial) as opened, ExitStack() as stack:
        session = replace(
            opened,
            before_each=own_files.check,
            weighing=_weighing(opened, trial, versions, terms, stack),
        )
        hunt = VersionHunt(
            session=session, trial=trial, versions=versions, terms=terms, budget=options.budget,
            overlaps=jobs > 1, jobs=jobs,
        )  # fmt: skip
        if (
            not options.pins and session.weighing is None
        ):  # else the command's own Python has other releases
            check_shows_failure(session, trial, versions)
        try:
            first = find_first_bad(hunt, options.noise, jobs=jobs)
        except EndMisjudged as error:
            own_files.check()
            raise _pointing_to_edits(error, hunt) from error
        own_files.check_answer(session, versions, first)
        search = first.search
        if options.hunks and first.first_bad is not None:
            repository = _repository(trial, options)
            part = part_of_first_bad(hunt, first, repository, is_attempt=options.attempts)
            search = replace(search, part=part)
        session.conclude(search.stopped, search.facts)
    return search


def _weighing(
    session: Session, trial: Trial, versions: Versions, terms: Terms, stack: ExitStack
) -> CostWeighing | None:
    """Return what compares each version with the good end, where BAD means that it costs more."""
    good = versions.new if terms.is_fix else versions.old
    reference = None if good is None else versions.on(trial, good)
    return weighing_for(session.bench, session.request.judging.bound, reference, stack)


def _pointing_to_edits(error: EndMisjudged, hunt: VersionHunt) -> EndMisjudged:
    """Return the error; where the last commit passes and something is uncommitted, it says so."""
    code = hunt.trial.code
    if code is None or not hunt.is_failing_end_good or hunt.terms.is_fix:
        return error
    if code.commit != hunt.versions.new or not has_edits(code):
        return error
    edits = "uncommitted edits are left out: `whet bisect --working-tree -- COMMAND` searches them"
    return EndMisjudged(str(error), hint=f"{edits}; {error.hint}")


def _tell_what_is_known(bench: Workbench, trial: Trial) -> None:
    """Say how much of an earlier search there is: its runs count whether it is asked for or not.

    Raises:
        BadUsage: if there is none.
    """
    searches = bench.notebook.searches_from(trial, verb="bisect")
    runs = sum(1 for number in searches for _ in bench.notebook.entries(investigation=number))
    if not runs:
        raise BadUsage(
            "`--resume`: there is no earlier search of this command here",
            hint="leave out `--resume`; the command after `--` must be exactly that of the "
            "stopped search, "
            "as `whet log --all` shows it",
        )
    bench.emit(Notice(text=f"continues: {shown_count(runs, 'run')} of earlier searches count"))


def bisect_working_tree(
    bench: Workbench, request: TrialRequest, options: BisectOptions
) -> SmallestPart:
    """Find the smallest part of the uncommitted changes that brings the failure.

    Raises:
        NotARepository, NothingBetween, EndMisjudged: if there is nothing to search.
        HostFailure: if nothing may be written into the repository.
    """
    trial = bench.for_search(bench.build_trial(request))
    with open_session(bench, "bisect", request, trial) as session:
        limits = CommandOptions(budget=options.budget, jobs=options.jobs)
        part = part_of_working_tree(session, trial, limits)
        session.conclude(
            part.stopped, {"commit": part.commit, "places": list(map(str, part.places))}
        )
    return part


def versions_of(
    bench: Workbench, trial: Trial, options: BisectOptions, terms: Terms | None = None
) -> Versions:
    """Return the commits, releases or Pythons to search."""
    if options.pythons:
        from whet.workbench.bisect.pythons import pythons

        return pythons(bench, trial, options.pythons, options.bad)
    if options.package:
        from whet.workbench.versions.releases import releases

        found_releases = releases(
            bench,
            trial,
            options.package,
            options.good,
            options.bad,
            with_prereleases=options.with_prereleases,
            as_of_release=options.as_of_release,
            terms=terms,
        )
        if not options.good:
            found_releases.line()  # without an older release, it says so before anything runs
        return found_releases
    from whet.workbench.versions.revisions import RevisionOptions, revisions

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
            editable=editable_of(bench, trial, repository, options.setup),
        ),
        terms=terms,
    )
    outside = outside_of(bench, trial, repository, options.setup)
    remarks = (*found.remarks, *outside, *named_otherwise(repository, trial))
    return replace(found, remarks=remarks)


def _repository(trial: Trial, options: BisectOptions) -> Repository:
    if options.attempts and trial.code is not None:
        return Repository.keeping(Path(trial.code.repository))
    return Repository.containing(Path(options.repository or trial.cwd))


def _dated_and_in_order(
    bench: Workbench, trial: Trial, options: BisectOptions, terms: Terms
) -> tuple[BisectOptions, Terms]:
    """Put commits instead of dates, and the older end first.

    If the end that was said to be bad is the older one, what fixed it is searched; terms that
    somebody gave stay, and with them the order.
    """
    repository = _repository(trial, options)
    date = resolve_or_date(repository, options.bad)
    if date.remark:
        bench.emit(Notice(text=date.remark))
        options = replace(options, bad=date.commit)
    if not options.good:
        return options, terms
    older = resolve_or_date(repository, options.good, tip=date.commit)
    if older.commit == date.commit and options.good != options.bad == "HEAD":
        text = f"`{options.good}` is HEAD: whet looks for a good commit further back"
        bench.emit(Notice(text=text))
        return replace(options, good="", bad=options.good), terms
    if older.remark:
        bench.emit(Notice(text=older.remark))
        options = replace(options, good=older.commit)
    is_reversed = terms == Terms() and is_ancestor(repository, date.commit, older.commit)
    if not is_reversed or date.commit == older.commit:
        return options, terms
    text = f"`{options.bad}` (bad) is older than `{options.good}` (good): whet searches for the fix"
    bench.emit(Notice(text=text))
    return replace(options, good=options.bad, bad=options.good), FIXED
