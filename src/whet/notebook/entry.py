"""One trial as the notebook has it, and how its rows are read."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from whet.core.outcome import Outcome
from whet.core.output import Output
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    integer,
    optional_integer,
    optional_text,
    text,
)
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.notebook.place import damaged

if TYPE_CHECKING:  # not loaded for a single trial: `whet run` must start at once
    from whet.core.expectation import Score


@value_class(kw_only=True)
class Entry:
    """One recorded trial.

    Attributes:
        number: what the user calls it by.
        started_at: UTC, such as ``2026-08-21T09:30:00.123456Z``.
        trial: what was run.
        outcome: what came; None if whet was killed meanwhile, or still runs it.
        verdict: what that proves; None if it was not judged.
        name: a name to find it by, or nothing.
        note: what its author thought, or nothing.
        expectation: what its author expected, a line for each statement, or nothing.
        expectation_met: whether all of that came; None if there was none or it can't be told.
        verb: who ran it, such as ``run``.
        changes: what changed since the trial before, or nothing.
        investigation: number of the search that it belongs to; None if it was run on its own.
        host: the machine that whet ran on.
        pid: whet's process there.
    """

    number: int
    started_at: str
    trial: Trial
    outcome: Outcome | None
    verdict: Verdict | None
    name: str
    note: str
    expectation: str
    expectation_met: bool | None
    verb: str
    changes: str
    investigation: int | None
    host: str
    pid: int

    @property
    def scores(self) -> "tuple[Score, ...]":
        """What its author expected, beside what came; empty while it has no outcome."""
        if not self.expectation or self.outcome is None:
            return ()
        from whet.core.expectation import scores_of

        return scores_of(self.expectation, self.outcome, self.verdict)


@value_class(kw_only=True)
class SearchEntry:
    """One search as the notebook has it.

    Attributes:
        number: of the search.
        started_at: UTC, as of a trial.
        verb: what was asked for, such as ``shrink``.
        trial: what the search starts from.
        first, last: the numbers of its trials.
        trials: how many there are.
        bad: how many of them are BAD.
        stop_reason: why it ended; None if whet was killed meanwhile, or still searches.
    """

    number: int
    started_at: str
    verb: str
    trial: Trial
    first: int
    last: int
    trials: int
    bad: int
    stop_reason: str | None


SELECT_SEARCH = """
SELECT investigation.number, investigation.started_at, investigation.verb, investigation.trial,
       min(trial.number) AS first, max(trial.number) AS last, count(*) AS trials,
       sum((SELECT verdict FROM judgement WHERE judgement.trial = trial.number
            ORDER BY judgement.number DESC LIMIT 1) = 'bad') AS bad,
       investigation_end.stop_reason
FROM (SELECT * FROM investigation ORDER BY number DESC LIMIT ?) AS investigation
JOIN trial ON trial.investigation = investigation.number
LEFT JOIN investigation_end ON investigation_end.investigation = investigation.number
GROUP BY investigation.number ORDER BY investigation.number DESC
"""


def read_search(row: JsonObject, path: Path) -> SearchEntry:
    """Return the search in a row of `SELECT_SEARCH`.

    Args:
        row: the columns.
        path: the notebook's file, for the message.

    Raises:
        NotebookDamaged: if a column doesn't hold what the schema says.
    """
    try:
        return SearchEntry(
            number=integer(row, "number"),
            started_at=text(row, "started_at"),
            verb=text(row, "verb"),
            trial=Trial.from_json(as_record(decoded(text(row, "trial")), "trial")),
            first=integer(row, "first"),
            last=integer(row, "last"),
            trials=integer(row, "trials"),
            bad=optional_integer(row, "bad") or 0,
            stop_reason=optional_text(row, "stop_reason"),
        )
    except (ValueError, MalformedRecordError) as error:
        raise damaged(path, f"can't read search {row['number']}: {error}") from error


# What was printed of secrets is opened with the rest, so that it is masked where that is shown.
SELECT_ENTRY = """
SELECT trial.number, trial.started_at, trial.trial, trial.verb, trial.name, trial.note,
       trial.expectation, trial.changes, trial.investigation, trial.host, trial.pid,
       outcome.outcome, judgement.verdict, judgement.expectation_met,
       (SELECT detail FROM evidence WHERE evidence.trial = trial.number AND kind = 'secrets')
           AS printed
FROM trial
LEFT JOIN outcome ON outcome.trial = trial.number
LEFT JOIN judgement ON judgement.number =
    (SELECT max(last.number) FROM judgement AS last WHERE last.trial = trial.number)
"""


def read_entry(row: JsonObject, output_of: Callable[[str, int], Output], path: Path) -> Entry:
    """Return the entry in a row of `SELECT_ENTRY`.

    Args:
        row: the columns.
        output_of: finds a captured stream by its digest and size.
        path: the notebook's file, for the message.

    Raises:
        NotebookDamaged: if a column doesn't hold what the schema says.
    """
    try:
        outcome = optional_text(row, "outcome")
        verdict = optional_text(row, "verdict")
        met = optional_integer(row, "expectation_met")
        return Entry(
            number=integer(row, "number"),
            started_at=text(row, "started_at"),
            trial=Trial.from_json(as_record(decoded(text(row, "trial")), "trial")),
            outcome=None if outcome is None else read_outcome(outcome, output_of),
            verdict=None if verdict is None else Verdict(verdict),
            name=text(row, "name"),
            note=text(row, "note"),
            expectation=text(row, "expectation"),
            expectation_met=None if met is None else bool(met),
            verb=text(row, "verb"),
            changes=text(row, "changes"),
            investigation=optional_integer(row, "investigation"),
            host=text(row, "host"),
            pid=integer(row, "pid"),
        )
    except (ValueError, MalformedRecordError) as error:
        raise damaged(path, f"can't read trial {row['number']}: {error}") from error


def read_outcome(data: str, output_of: Callable[[str, int], Output]) -> Outcome:
    """Return the outcome in a JSON text.

    Raises:
        ValueError: if it can't be read.
    """
    return Outcome.of_record(as_record(decoded(data), "outcome"), output_of)
