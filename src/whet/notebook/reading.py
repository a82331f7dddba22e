"""Finding recorded trials and what came of them."""

import json
import re
from collections.abc import Iterator, Sequence

from whet.core.errors import UnknownTrial
from whet.core.observations.evidence import Evidence
from whet.core.observations.resources import ResourceUse
from whet.core.outcome import Outcome
from whet.core.output import digest_of
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    integer,
    optional_text,
    text,
)
from whet.core.trial import Trial
from whet.host.trial.known_secrets import know_trial
from whet.notebook.blobs import BlobStore
from whet.notebook.database import Database, SqlValue
from whet.notebook.entry import (
    SELECT_ENTRY,
    SELECT_SEARCH,
    Entry,
    SearchEntry,
    read_entry,
    read_outcome,
    read_search,
)
from whet.notebook.place import damaged
from whet.notebook.sealed_secrets import Seals

_ROWS_AT_ONCE = 50
_BACK = re.compile(r"last(~(?P<steps>\d{1,9}))?")
_TRIALS = frozenset({"trial", "asked"})
_JSON = _TRIALS | {"outcome", "detail", "record", "result", "variables", "printed"}


class RecordedTrials:
    """The reading half of a notebook.

    Attributes:
        blobs: payloads and captured streams.
        seals: secrets.
    """

    def __init__(self, database: Database, blobs: BlobStore, seals: Seals | None = None) -> None:
        self._database = database
        self.blobs = blobs
        self.seals = seals or Seals(blobs.folder.parent)

    def trial(self, number: int) -> Entry:
        """Return a trial by its number.

        Raises:
            UnknownTrial: if there is none.
        """
        for entry in self._entries(1, ["trial.number = ?"], [number]):
            return entry
        raise unknown_trial(number)

    def find(self, name: int | str | None) -> Entry:
        """Return a trial by its number, by its name, or counted from the last one.

        Only where nothing but searches ran trials, those are counted.

        Args:
            name: a number; the name that `--name` gave, of several trials the last one; ``last`` or
                None; ``last~2``, two trials before that.

        Raises:
            UnknownTrial: if there is none.
        """
        if isinstance(name, int):
            return self.trial(name)
        back = _BACK.fullmatch(name or "last")
        if back is None:
            return self._named(name or "")
        steps = int(back["steps"] or 0)
        trials = list(self.entries(steps + 1, with_searches=False))
        trials = trials or list(self.entries(steps + 1))
        if not trials:
            raise UnknownTrial("there are no trials yet", hint="start with `whet run -- COMMAND`")
        if len(trials) <= steps:
            raise UnknownTrial(
                f"there is no trial `{name}`: you have run {len(trials)}",
                hint="`whet log` lists them",
            )
        return trials[-1]

    def made(self) -> Iterator[JsonObject]:
        """Yield the payloads that were made, the newest first."""
        yield from self._query("SELECT * FROM made ORDER BY number DESC", [])

    def _named(self, name: str) -> Entry:
        found = self.latest(name=name)
        if found is not None:
            return found
        from difflib import get_close_matches

        rows = self._query("SELECT DISTINCT name FROM trial WHERE name <> ''", [])
        near = get_close_matches(name, [text(row, "name") for row in rows], n=1)
        raise UnknownTrial(
            f"no trial has the name `{name}`",
            hint=f"did you mean `{near[0]}`?"
            if near
            else "`whet log` lists them; `whet run --name NAME` names a trial",
        )

    def latest(
        self,
        *,
        verb: str | None = None,
        name: str | None = None,
        failed: bool | None = None,
        with_searches: bool = True,
    ) -> Entry | None:
        """Return the last trial of which all this is true.

        Args:
            verb: it was run by this verb.
            name: it has this name.
            failed: it has ended, with a failure or without one.
            with_searches: it may have been run by a search.
        """
        conditions: list[str] = []
        values: list[SqlValue] = []
        for column, value in (("verb", verb), ("name", name)):
            if value is not None:
                conditions.append(f"trial.{column} = ?")
                values.append(value)
        if failed is not None:
            conditions.append("outcome.trial IS NOT NULL")
            conditions.append(f"outcome.signature IS {'NOT NULL' if failed else 'NULL'}")
        if not with_searches:
            conditions.append("trial.investigation IS NULL")
        return next(self._entries(1, conditions, values), None)

    def entries(
        self,
        limit: int | None = None,
        *,
        with_searches: bool = True,
        only_bad: bool = False,
        investigation: int | None = None,
    ) -> Iterator[Entry]:
        """Yield trials, the newest first, read as they are asked for.

        Args:
            limit: the most to return.
            with_searches: also those that a search ran.
            only_bad: only those whose last verdict is BAD.
            investigation: only those of this search.
        """
        conditions: list[str] = []
        values: list[SqlValue] = []
        if not with_searches:
            conditions.append("trial.investigation IS NULL")
        if only_bad:
            conditions.append("judgement.verdict = 'bad'")
        if investigation is not None:
            conditions.append("trial.investigation = ?")
            values.append(investigation)
        return self._entries(limit, conditions, values)

    def with_expectations(self) -> Iterator[Entry]:
        """Yield the trials that have ended of which somebody expected something, the oldest first."""
        conditions = ["trial.expectation <> ''", "trial.investigation IS NULL"]
        conditions.append("outcome.trial IS NOT NULL")
        yield from sorted(self._entries(None, conditions, []), key=lambda entry: entry.number)

    def searches(self, limit: int | None = None) -> list[SearchEntry]:
        """Return the last searches that have run a trial, the newest first, at most ``limit``."""
        rows = self._query(SELECT_SEARCH, [-1 if limit is None else limit])  # -1: all of them
        return [read_search(row, self._database.path) for row in rows]

    def attempts_at(self, trial: Trial) -> Iterator[Entry]:
        """Yield the trials of the same command in the same folder, the newest first.

        Those that a search ran don't count, nor those that whet ran to verify another one.
        """
        conditions = ["trial.command_digest = ?", "trial.verb <> 'verify'"]
        conditions.append("trial.investigation IS NULL")
        return self._entries(None, conditions, [self._command_digest(trial)])

    def searches_from(self, trial: Trial, *, verb: str) -> list[int]:
        """Return the numbers of the searches of a verb that started from a trial, newest first."""
        # Where the code is kept decides nothing, and a search that continues keeps it again.
        rows = self._query(
            "SELECT number, trial FROM investigation WHERE verb = ? ORDER BY number DESC", [verb]
        )
        key = trial.key
        numbers: list[int] = []
        for row in rows:
            data = as_record(decoded(text(row, "trial")), "trial")
            if data.get("command") == list(trial.command) and Trial.from_json(data).key == key:
                numbers.append(integer(row, "number"))
        return numbers

    def resources_of(self, number: int) -> ResourceUse | None:
        """Return what a trial used while it ran; None if nothing was recorded."""
        rows = self._query("SELECT record FROM resource_use WHERE trial = ?", [number])
        for row in rows:
            try:
                return ResourceUse.from_json(as_record(decoded(text(row, "record")), "record"))
            except (ValueError, MalformedRecordError) as error:
                raise damaged(
                    self._database.path, f"can't read the resource use of trial {number}: {error}"
                ) from error
        return None

    def previous_of(self, trial: Trial, *, before: int | None = None) -> Entry | None:
        """Return the last trial of the same command in the same folder, before one if named.

        Trials that whet ran on its own, to verify another one, don't count.
        """
        conditions = ["trial.command_digest = ?", "trial.verb <> 'verify'"]
        values: list[SqlValue] = [self._command_digest(trial)]
        if before is not None:
            conditions.append("trial.number < ?")
            values.append(before)
        return next(self._entries(1, conditions, values), None)

    def outcome_for(self, trial: Trial) -> Outcome | None:
        """Return what came of the last such trial that a search ran, if it is whole.

        Trials that were given up prove nothing and are left out. Another limit of time makes no
        other trial of one that has ended before both, or was cut off by the longer of them.
        Captured streams that don't exist any more make it none.
        """
        for outcome in self._newest_first(trial):
            is_whole = self.blobs.holds(outcome.stdout) and self.blobs.holds(outcome.stderr)
            return outcome if is_whole else None
        return None

    def evidence_of(self, number: int, kind: str) -> tuple[Evidence, ...]:
        """Return what of one kind was observed of a trial, in the order in which it was kept."""
        rows = self._query(
            "SELECT kind, detail, blob FROM evidence WHERE trial = ? AND kind = ? ORDER BY number",
            [number, kind],
        )
        found: list[Evidence] = []
        for row in rows:
            digest = optional_text(row, "blob")
            try:
                detail = as_record(decoded(text(row, "detail")), "detail")
            except (ValueError, MalformedRecordError) as error:
                why = f"can't read the evidence of trial {number}: {error}"
                raise damaged(self._database.path, why) from error
            data = b"" if digest is None else self.blobs.read(digest)
            found.append(Evidence(kind=text(row, "kind"), detail=detail, data=data))
        return tuple(found)

    def trials_with(self, kind: str) -> Iterator[tuple[int, JsonObject]]:
        """Yield the trials of which something of a kind was observed, the newest first, with that."""
        rows = self._query(
            "SELECT trial, detail FROM evidence WHERE kind = ? ORDER BY number DESC", [kind]
        )
        for row in rows:
            yield integer(row, "trial"), as_record(decoded(text(row, "detail")), "detail")

    def outcomes_for(self, trial: Trial) -> list[Outcome]:
        """Return what came of each such trial that a search ran, the oldest first.

        For what fails only sometimes each of them counts. Their captured streams may be gone.
        """
        return [*self._newest_first(trial)][::-1]

    def _command_digest(self, trial: Trial) -> str:
        """Return what trials of the same command in the same folder have in common."""
        command = self.seals.marked(trial).command
        return digest_of(json.dumps([command, trial.cwd]).encode("ascii"))

    def _query(self, sql: str, values: Sequence[SqlValue]) -> list[JsonObject]:
        return [
            {
                name: self.seals.opened(value, is_json=name in _JSON, is_trial=name in _TRIALS)
                if isinstance(value, str)
                else value
                for name, value in row.items()
            }
            for row in self._database.query(sql, values)
        ]

    def rows(self, sql: str) -> list[JsonObject]:
        """Return the rows of a question about all trials, secrets as they are kept."""
        return self._database.query(sql)

    def is_older(self, time: str) -> bool:
        """Whether the first trial began before a time."""
        return bool(
            self._database.query("SELECT 1 FROM trial WHERE number = 1 AND started_at < ?", [time])
        )

    def _newest_first(self, trial: Trial) -> Iterator[Outcome]:
        rows = self._query(
            "SELECT outcome.trial, trial.trial AS asked, outcome.outcome FROM trial"
            " JOIN outcome ON outcome.trial = trial.number"
            " WHERE trial.key = ? AND trial.investigation IS NOT NULL AND NOT outcome.interrupted"
            " ORDER BY trial.number DESC",
            [self.seals.marked(trial).untimed_key],
        )
        for row in rows:
            try:
                outcome = read_outcome(text(row, "outcome"), self.blobs.output_of)
                limits = Trial.from_json(as_record(decoded(text(row, "asked")), "trial")).limits
            except (ValueError, MalformedRecordError) as error:
                raise damaged(
                    self._database.path, f"can't read trial {row['trial']}: {error}"
                ) from error
            if _tells_of(outcome, limits.wall_seconds, trial.limits.wall_seconds):
                yield outcome

    def _entries(
        self, limit: int | None, conditions: Sequence[str], values: Sequence[SqlValue]
    ) -> Iterator[Entry]:
        """Yield entries page by page: no lock and no cursor is held while nobody asks."""
        where = " AND ".join(["(? IS NULL OR trial.number < ?)", *conditions])
        sql = f"{SELECT_ENTRY} WHERE {where} ORDER BY trial.number DESC LIMIT ?"
        before: int | None = None
        left = limit
        while left is None or left > 0:
            wanted = _ROWS_AT_ONCE if left is None else min(left, _ROWS_AT_ONCE)
            rows = self._query(sql, [before, before, *values, wanted])
            for row in rows:
                entry = read_entry(row, self.blobs.output_of, self._database.path)
                before = entry.number
                know_trial(entry.trial)
                yield entry
            if len(rows) < wanted:
                return
            left = None if left is None else left - wanted


def _tells_of(outcome: Outcome, limit: float | None, wanted: float | None) -> bool:
    """Whether an outcome under one limit of time is that under another one."""
    if wanted == limit:
        return True
    if outcome.timed_out and outcome.hung_seconds is None:
        return limit is not None and wanted is not None and wanted < limit
    return wanted is None or outcome.wall_seconds < wanted


def unknown_trial(number: int) -> UnknownTrial:
    """Return the error for a number that no trial has."""
    return UnknownTrial(
        f"the notebook has no trial {number}", hint="`whet log --all` lists its trials"
    )
