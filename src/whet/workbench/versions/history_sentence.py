"""The result of a search over versions, in words."""

from whet.bisection.odds import shown_chance
from whet.core.budget import StopReason
from whet.core.text.quantity import shown_count
from whet.workbench.trials.investigation import (
    NoisySearch,
    VersionSearch,
)

_SHOWN_SUSPECTS = 8


def history_sentence(search: VersionSearch) -> str:
    """Return what a search over versions found, in a sentence."""
    if search.stopped is StopReason.NO_GOOD_VERSION:
        why = f" ({search.hint})" if search.hint else ""
        return f"found no {search.old_term} {search.kind} of {search.subject}{why}"
    if search.noisy is not None and (search.first_bad is not None or search.suspects):
        return _noisy_sentence(search, search.noisy)
    if search.first_bad is not None:
        return (
            f"{search.subject} {search.first_bad} is the first {search.new_term} {search.kind}"
            f" ({search.good} is the last {search.old_term} one;"
            f" {_tested(search)})"
            f"{_likeness(search)}"
        )
    if not search.suspects:
        return f"found no {search.old_term} {search.kind} of {search.subject} yet: {search.stopped.value}"
    more = len(search.suspects) - _SHOWN_SUSPECTS
    suspects = ", ".join(search.suspects[:_SHOWN_SUSPECTS]) + (
        f" and {more} more" if more > 0 else ""
    )
    why = f"; {search.hint}" if search.hint else ""
    return f"one of {suspects} is the first {search.new_term} {search.kind}: {search.stopped.value}{why}"


def _tested(search: VersionSearch) -> str:
    """Return how many versions were tested; of how many, unless some lie before the good end."""
    count, whole = len(search.tested), search.between + 2
    return f"{shown_count(count, 'version')} tested{f' of {whole}' if count <= whole else ''}"


def _likeness(search: VersionSearch) -> str:
    """Return by what the first bad version counts as one that fails like the end."""
    if not search.likeness:
        return ""
    ways = "; then ".join(search.likeness)
    return f"; judged {search.new_term.upper()} by likeness: {ways}"


def next_of_history(search: VersionSearch) -> str:
    """Return what to do about the version that brought the failure; empty if it isn't known."""
    if search.first_bad is None:
        return ""
    if search.kind == "release":
        return (
            f"Read the changes of {search.subject} {search.first_bad}; until a fix,"
            f" `{search.subject}=={search.good}` doesn't have this failure."
        )
    return f"Look at the change: `git show {search.first_bad}`."


def _noisy_sentence(search: VersionSearch, noisy: NoisySearch) -> str:
    runs = shown_count(noisy.runs, "run")
    if search.first_bad is None:
        likely = ", ".join(search.suspects[:_SHOWN_SUSPECTS])
        more = len(search.suspects) - _SHOWN_SUSPECTS
        also = f" and {more} more" if more > 0 else ""
        return (
            f"with {shown_chance(noisy.confidence)} probability one of {likely}{also} is the first"
            f" {search.new_term} {search.kind}, after {runs}: {search.stopped.value}"
        )
    edge = "; both sides of the edge ran" if noisy.is_edge_tested else ""
    return (
        f"{search.subject} {search.first_bad} is the first {search.new_term} {search.kind} with"
        f" {shown_chance(noisy.probability)} probability ({search.good} is the last"
        f" {search.old_term} one; {runs}, {_tested(search)}{edge}); {_rates(search, noisy)}"
    )


def _rates(search: VersionSearch, noisy: NoisySearch) -> str:
    """Return how often versions on both sides end so, as closely as the runs tell."""
    bad, good = noisy.if_bad_between, noisy.if_good_between
    return (
        f"{search.new_term} versions look {search.new_term} in {bad.low:.0%} to {bad.high:.0%} of their runs,"
        f" {search.old_term} ones in {good.low:.0%} to {good.high:.0%} (95 % intervals)"
    )
