"""The smallest part of the first bad version that causes the failure."""

from dataclasses import replace

from whet.bisection.terms import Terms
from whet.core.errors import EndMisjudged, NothingBetween
from whet.core.event import Notice
from whet.core.trial import Trial
from whet.host.process.git import Repository
from whet.workbench.parts.edits import commit_before
from whet.workbench.parts.smallest_part import PartSearch
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.changed_part import SmallestPart
from whet.workbench.trials.investigation import VersionSearch
from whet.workbench.trials.reproduce import repeats_for
from whet.workbench.versions.versions import FirstBad, VersionHunt

_SHORT = 10
_MOST_PLACES = 8


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
            oracle=first.oracle,
            reference_seconds=_seconds_of(bench, first.search),
            place=hunt.versions.place,
            terms=hunt.terms,
            budget=hunt.budget.less(first.search.wall_seconds, first.search.trials),
            jobs=hunt.jobs,
            repeats=_repeats(first.search, hunt.terms),
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
    for tested in search.tested:
        if tested.label == search.first_bad and tested.trial is not None:
            outcome = bench.notebook.trial(tested.trial).outcome
            return 0.0 if outcome is None else outcome.wall_seconds
    return 0.0


def part_sentence(part: SmallestPart) -> str:
    """Return which part it is, in a sentence."""
    places = ", ".join(map(str, part.places[:_MOST_PLACES]))
    more = len(part.places) - _MOST_PLACES
    also = f" and {more} more places" if more > 0 else ""
    where = f"{places}{also} ({part.base} → {part.changed})"
    if not part.stopped.is_complete:
        count = f"{part.after} of {part.before} hunks"
        return f"the cause is among {count}, not narrowed further: {where}; {part.stopped.value}"
    if part.after == part.before:
        return f"no smaller part of the change than all of it fails the same way: {where}"
    return f"{part.after} of {part.before} hunks {'causes' if part.after == 1 else 'cause'} it: {where}"


def next_of_part(part: SmallestPart) -> str:
    """Return what to do about a part, in a sentence."""
    return f"Start at {', '.join(map(str, part.places))}: with this part of the change it fails, and without it it doesn't."
