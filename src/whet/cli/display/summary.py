"""A trial in one line, and in JSON: the same words in every verb."""

import sys
from collections.abc import Sequence

from whet.cli.console import styled, verdict_word
from whet.core.budget import StopReason
from whet.core.failure import Failure
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.text.shell_words import joined
from whet.core.trial import Trial
from whet.host.trial.known_secrets import veiled
from whet.host.trial.trial_secrets import masked_trial, masked_words
from whet.notebook.entry import Entry, SearchEntry

_WIDEST = 100


def outcome_words(outcome: Outcome) -> str:
    """Return how a command ended: ``exit 1``, ``SIGSEGV``, ``timeout``."""
    if outcome.failed_reset is not None:
        return f"reset step failed: {outcome.failed_reset}"
    if outcome.timed_out:
        return "timeout" if outcome.hung_seconds is None else "hang"
    if outcome.overran_output:
        return "too much output"
    if outcome.signal is not None:
        import signal

        try:
            return signal.Signals(outcome.signal).name
        except ValueError:
            return f"signal {outcome.signal}"
    if outcome.interrupted:
        return "interrupted"
    return f"exit {outcome.exit_code}"


def failure_words(failure: Failure) -> str:
    """Return what failed and where, in one line."""
    summary = veiled(failure.summary)  # before it is cut: half a key is a secret too
    is_long = len(summary) > _WIDEST and not failure.names_its_lines
    if is_long and not failure.limit:  # which limit it was stands at its end
        summary = f"{summary[:97]}..."
    return f"{summary}{failure.at}"


def entry_line(entry: Entry) -> str:
    """Return a recorded trial as one line of `whet log`."""
    command = _shown_command(entry.trial)
    verdict = "-" if entry.verdict is None else verdict_word(entry.verdict, sys.stdout)
    if entry.outcome is None:
        parts = [styled("not finished", "yellow", sys.stdout)]
    else:
        parts = [outcome_words(entry.outcome), shown_seconds(entry.outcome.wall_seconds)]
        if entry.outcome.failure is not None:
            parts.append(failure_words(entry.outcome.failure))
    if entry.changes:
        parts.append(entry.changes)
    if entry.expectation:
        parts.append(expectation_words(entry))
    if entry.name:
        parts.insert(0, f"[{entry.name}]")
    return f"{entry.number:>5}  {_moment(entry)}  {verdict:4}  {command}  {' · '.join(parts)}"


def search_line(search: SearchEntry) -> str:
    """Return a search as one line of `whet log`."""
    trials = shown_count(search.trials, "trial")
    numbers = (
        f"{search.first}" if search.first == search.last else f"{search.first} to {search.last}"
    )
    reason = StopReason.__members__.get(search.stop_reason or "")
    # Another whet's notebook may name a reason that this one doesn't know.
    end = reason.value if reason else search.stop_reason or "not finished"
    return (
        f"{search.first:>5}  {_moment(search)}  {search.verb}  {_shown_command(search.trial)}"
        f"  {trials} ({numbers}), {search.bad} of them BAD · {end}"
    )


def unfinished_line(entries: Sequence[Entry]) -> str:
    """Return trials that have no outcome as one line of `whet log`."""
    numbers = ", ".join(str(each.number) for each in entries)
    return f"{entries[0].number:>5}  {_moment(entries[0])}  -     {len(entries)} trials not finished: {numbers}"


def _shown_command(trial: Trial) -> str:
    command = joined(masked_words(trial.command))
    return command if len(command) <= _WIDEST else f"{command[:97]}..."


def _moment(entry: Entry | SearchEntry) -> str:
    return entry.started_at[:19].replace("T", " ")


def expectation_words(entry: Entry) -> str:
    """Return what was expected and whether it came; of several, how many."""
    from whet.cli.display.expected import score_words

    scores = entry.scores
    if len(scores) == 1:
        return f"expected {scores[0].expectation.text}: {score_words(scores[0])}"
    if not scores:
        return f"expected {', '.join(entry.expectation.splitlines())}"
    met = sum(each.met is True for each in scores)
    return f"{met} of {len(scores)} expectations came true"


def run_line(
    entry: Entry, previous: Entry | None, *, is_same_failure: bool, measured: str = ""
) -> str:
    """Return the one line that `whet run` ends with; `measured` is what the user's condition saw."""
    outcome = entry.outcome
    assert outcome is not None
    assert entry.verdict is not None
    parts = [
        outcome_words(outcome),
        shown_seconds(outcome.wall_seconds),
        _peak(outcome.peak_rss_bytes),
    ]
    if outcome.failure is not None:
        parts.append(failure_words(outcome.failure))
    parts += [measured] if measured else []
    parts.append(f"trial {entry.number}")
    since = "" if previous is None else _since(entry, previous, is_same_failure=is_same_failure)
    if since:
        parts.append(since)
    if entry.expectation:
        parts.append(expectation_words(entry))
    return f"whet: {verdict_word(entry.verdict, sys.stderr)} {' · '.join(parts)}"


def _peak(peak_rss_bytes: int) -> str:
    """Return the peak of memory; a program too quick to be looked at is small for sure."""
    least = 2_000_000
    return shown_bytes(peak_rss_bytes) if peak_rss_bytes > least else f"under {shown_bytes(least)}"


def _since(entry: Entry, previous: Entry, *, is_same_failure: bool) -> str:
    same = "same failure as" if is_same_failure else "since"
    if entry.trial.code is None or previous.trial.code is None:
        # Outside of a repository nobody knows whether the code has changed.
        return f"same failure as trial {previous.number}" if is_same_failure else ""
    return f"{entry.changes or 'no change'} {same} trial {previous.number}"


def search_json(search: SearchEntry) -> dict[str, object]:
    """Return a search as JSON data."""
    return {
        "search": search.number,
        "started_at": search.started_at,
        "verb": search.verb,
        "spec": masked_trial(search.trial).to_json(),
        "first": search.first,
        "last": search.last,
        "trials": search.trials,
        "bad": search.bad,
        "stop_reason": search.stop_reason,
    }


def _scores_json(entry: Entry) -> list[dict[str, object]]:
    if not entry.expectation:
        return []
    from whet.cli.display.expected import score_json

    return [score_json(each) for each in entry.scores]


def entry_json(entry: Entry) -> dict[str, object]:
    """Return a recorded trial as JSON data."""
    return {
        "trial": entry.number,
        "started_at": entry.started_at,
        "verb": entry.verb,
        "verdict": None if entry.verdict is None else entry.verdict.value,
        "name": entry.name,
        "note": entry.note,
        "expectation": entry.expectation,
        "expectation_met": entry.expectation_met,
        "expectations": _scores_json(entry),
        "changes": entry.changes,
        "investigation": entry.investigation,
        "spec": masked_trial(entry.trial).to_json(),
        "outcome": None if entry.outcome is None else entry.outcome.to_json(),
    }
