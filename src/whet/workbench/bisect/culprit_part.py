"""The smallest part of the first bad version that causes the failure."""

from dataclasses import replace

from whet.bisection.terms import Terms
from whet.core.errors import EndMisjudged, NothingBetween
from whet.core.event import Notice
from whet.core.observations.file_accesses import FileAccesses
from whet.core.oracle import Oracle, SameData, data_in
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.host.process.git import Repository
from whet.workbench.parts.edits import commit_before
from whet.workbench.parts.smallest_part import PartSearch
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.changed_part import SmallestPart, shown_places
from whet.workbench.trials.investigation import VersionSearch
from whet.workbench.trials.reproduce import repeats_for
from whet.workbench.versions.equivalent_versions import accesses_of
from whet.workbench.versions.versions import FirstBad, VersionHunt

_SHORT = 10


def part_of_first_bad(
    hunt: VersionHunt, first: FirstBad, repository: Repository, *, is_attempt: bool = False
) -> SmallestPart | None:
    """Return the part of the first bad commit that brings the failure; None if there is none.

    Args:
        hunt: the search that found it.
        first: what it found.
        repository: where the commits are.
        is_attempt: it is a recorded trial's code, which is named by its trial.

    Raises:
        HostFailure: if git can't make a part of the change.
    """
    assert first.first_bad is not None
    bench, trial = hunt.session.bench, hunt.trial

    def on(commit: str) -> Trial:
        # A part of an attempt is named by its commit alone.
        return replace(trial, revision=commit) if is_attempt else hunt.versions.on(trial, commit)

    first_bad = hunt.versions.plain(trial, first.first_bad).revision or ""
    good = first.last_good and hunt.versions.plain(trial, first.last_good).revision
    try:
        base = good if is_attempt and good else commit_before(repository, first_bad, good)
        search = PartSearch(
            session=hunt.session,
            repository=repository,
            on=on,
            base=base,
            changed=first_bad,
            labels=(first.search.good, first.search.first_bad or "")
            if is_attempt
            else (base[:_SHORT], first_bad[:_SHORT]),
            oracle=_with_its_data(bench, first),
            reference_seconds=_seconds_of(bench, first.search),
            place=hunt.versions.place,
            terms=hunt.terms,
            budget=hunt.budget.less(first.search.wall_seconds, first.search.trials),
            jobs=hunt.jobs,
            repeats=_repeats(first.search, hunt.terms),
            accesses=_accesses_of(bench, first.search),
        )
        return search.run()
    except (EndMisjudged, NothingBetween) as error:
        bench.emit(Notice(text=f"no smaller part: {error}"))
        return None


def _repeats(search: VersionSearch, terms: Terms) -> int:
    """Return how often a part is run before it counts as not failing."""
    if search.noisy is None:
        return 1
    noisy = search.noisy
    return repeats_for(1 - noisy.fails_if_good if terms.is_fix else noisy.fails_if_bad)


def _seconds_of(bench: Workbench, search: VersionSearch) -> float:
    """Return how long the first bad version ran; 0 if it was not run."""
    outcome = outcome_of(bench, search)
    return 0.0 if outcome is None else outcome.wall_seconds


def _accesses_of(bench: Workbench, search: VersionSearch) -> FileAccesses | None:
    """Return what the run of the first bad version looked at; None if that isn't known."""
    outcome = outcome_of(bench, search)
    if search.noisy is not None or outcome is None:
        return None
    return accesses_of(outcome, bench.notebook.blobs.read)


def _with_its_data(bench: Workbench, first: FirstBad) -> Oracle:
    """Return what the failure is among parts of one change, all of which run with the same data.

    A part that lets another record fail at the same place is no part of the cause. Where the message
    names other data in another bad version, they don't count.
    """
    bad = (each.trial for each in first.search.tested if each.verdict is Verdict.BAD)
    outcomes = [bench.notebook.trial(each).outcome for each in bad if each is not None]
    failures = [each.failure for each in outcomes if each is not None and each.failure is not None]
    data = {data_in(each.summary) for each in failures if not each.names_its_lines}
    is_known = len(data) == 1 and len(failures) > 1
    return SameData(first.oracle, data.pop()) if is_known else first.oracle


def outcome_of(bench: Workbench, search: VersionSearch) -> Outcome | None:
    """Return what the first bad version did; None if it was not run."""
    for tested in search.tested:
        if tested.label == search.first_bad and tested.trial is not None:
            return bench.notebook.trial(tested.trial).outcome
    return None


def part_sentence(part: SmallestPart) -> str:
    """Return which part it is, in a sentence."""
    ends = f"({part.base} → {part.changed})"
    if part.undoing is not None and part.decides_by_undoing:
        return f"{part.undoing.sentence}; all else of the change stays {ends}"
    where = f"{shown_places(part.places)} {ends}"
    if not part.stopped.is_complete:
        return (
            f"the cause is among {part.share}, not narrowed further: {where}; {part.stopped.value}"
        )
    if part.edits_after == part.edits_before:
        return f"no smaller part of the change than all of it fails the same way: {where}"
    is_one = part.edits_after == 1
    if part.rest_fails:
        return f"{part.share} {'is' if is_one else 'are'} enough for it, as is the rest of the change: {where}"
    verb = "causes" if is_one else "cause"
    also = "" if part.undoing is None else f"; {part.undoing.sentence}"
    return f"{part.share} {verb} it: {where}{also}"


def next_of_part(part: SmallestPart) -> str:
    """Return what to do about a part, in a sentence."""
    start = f"Start at {shown_places(part.decides)}"
    if part.decides_by_undoing:
        return f"{start}: undone, the command passes."
    return f"{start}: with this part of the change it fails, and without it it doesn't."
