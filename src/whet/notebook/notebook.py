"""Every trial ever run, whole, in order, never changed."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from whet import __version__
from whet.core.observations.evidence import SECRETS, Evidence
from whet.core.outcome import Outcome
from whet.core.output import digest_of
from whet.core.text.record import decoded, text, text_map
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.host.files.files import storage_error
from whet.host.trial.known_secrets import known_in
from whet.notebook.blobs import BlobStore
from whet.notebook.database import Database, utc_now
from whet.notebook.entry import Entry
from whet.notebook.reading import RecordedTrials, unknown_trial
from whet.notebook.sealed_secrets import Seals

if TYPE_CHECKING:
    from whet.core.budget import StopReason

__all__ = ["Entry", "Notebook"]

FILE_NAME = "notebook.db"


class Notebook(RecordedTrials):
    """The record of one project. Threads of one process may share it; others open their own.

    A trial is two rows: one before it starts, one when it ends. A trial that has only the
    first was interrupted by the death of its whet, or still runs.
    """

    @classmethod
    def open(cls, state_folder: Path, key: Callable[[], bytes] = bytes) -> Self:
        """Open the notebook in a project's state folder; make it if there is none.

        Args:
            state_folder: where it is.
            key: the user's, for the digests of secrets; empty: the folder has one of its own.

        Raises:
            NotebookTooNew: if a newer whet wrote it.
            NotebookDamaged: if it is no whole database.
            NotebookBusy: if another process holds it and doesn't let go.
            CannotWrite: if the folder may not be written to.
            DiskFull: if there is no space left.
        """
        try:
            state_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, state_folder) from error
        blobs = BlobStore(state_folder / "blobs")
        blobs.sweep()
        return cls(Database(state_folder / FILE_NAME), blobs, Seals(state_folder, key))

    def replace_with(self, path: Path) -> None:
        """Make this notebook, which has no trials, hold those of another one.

        Raises:
            DiskFull, CannotWrite, NotebookBusy: if it can't be written; it is as it was then.
        """
        self._database.replace_with(path)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(  # noqa: PLR0913 - the columns of one row
        self,
        trial: Trial,
        *,
        verb: str,
        name: str = "",
        note: str = "",
        expectation: str = "",
        changes: str = "",
        investigation: int | None = None,
    ) -> int:
        """Write down a trial that is about to start, and return its number.

        Args:
            trial: what will be run.
            verb: who runs it.
            name: a name to find it by.
            note: what its author thinks.
            expectation: what its author expects, a line for each statement.
            changes: what changed since the trial before.
            investigation: the search that it belongs to.

        Raises:
            DiskFull, CannotWrite, NotebookBusy: if it can't be written; it must not start then.
        """
        data = self.seals.sealed_trial(trial)
        key = self.seals.marked(trial).untimed_key
        with self._database.transaction() as transaction:
            return transaction.insert(
                "trial",
                started_at=utc_now(),
                key=key,
                command_digest=self._command_digest(trial),
                trial=data,
                verb=verb,
                name=name,
                note=self.seals.sealed_text(note),
                expectation=self.seals.sealed_text(expectation),
                changes=changes,
                investigation=investigation,
                whet_version=__version__,
                host=os.uname().nodename,
                pid=os.getpid(),
            )

    def finish(self, number: int, outcome: Outcome) -> None:
        """Write down what came of a trial, its captured streams first.

        Raises:
            UnknownTrial: if it was never begun.
            ValueError: if it has ended before.
            DiskFull, CannotWrite, NotebookBusy: if it can't be written.
        """
        for stream in (outcome.stdout, outcome.stderr):
            if not self.blobs.holds(stream):
                self.blobs.put_bytes(stream.head(stream.size_bytes))
        observed = self._observed((*outcome.evidence, *_secrets_in_output(outcome)))
        with self._database.transaction() as transaction:
            if not transaction.holds("trial", "number", number):
                raise unknown_trial(number)
            if transaction.holds("outcome", "trial", number):
                raise ValueError(f"trial {number} has ended before")
            transaction.insert(
                "outcome",
                trial=number,
                ended_at=utc_now(),
                outcome=self.seals.sealed(outcome.to_json()),
                exit_code=outcome.exit_code,
                signal=outcome.signal,
                timed_out=int(outcome.timed_out),
                interrupted=int(outcome.interrupted),
                wall_seconds=outcome.wall_seconds,
                cpu_seconds=outcome.cpu_seconds,
                peak_rss_bytes=outcome.peak_rss_bytes,
                signature=self._signature_digest(outcome),
            )
            use = outcome.resources
            if use is not None:
                transaction.insert(
                    "resource_use",
                    trial=number,
                    peak_files=max(use.files, default=0),
                    written_bytes=max(use.written_bytes, default=0),
                    record=self.seals.sealed(use.to_json()),
                )
            for row in observed:
                transaction.insert("evidence", trial=number, observed_at=utc_now(), **row)

    def _signature_digest(self, outcome: Outcome) -> str | None:
        if outcome.signature is None:
            return None
        data = json.dumps(outcome.signature.to_json(), sort_keys=True)
        return digest_of(self.seals.sealed_text(data).encode("ascii"))

    def observe(self, number: int, evidence: Evidence) -> None:
        """Keep an observation with a trial.

        Raises:
            UnknownTrial: if it was never begun.
            DiskFull, CannotWrite, NotebookBusy: if it can't be written.
        """
        observed = self._observed((evidence,))
        with self._database.transaction() as transaction:
            if not transaction.holds("trial", "number", number):
                raise unknown_trial(number)
            for row in observed:
                transaction.insert("evidence", trial=number, observed_at=utc_now(), **row)

    def _observed(self, evidence: Sequence[Evidence]) -> list[dict[str, str | None]]:
        """Return the columns of observations; what is large is kept as a blob before."""
        return [
            {
                "kind": each.kind,
                "detail": self.seals.sealed(each.detail),
                "blob": self.blobs.put_bytes(each.data) if each.data else None,
            }
            for each in evidence
        ]

    def judge(
        self,
        number: int,
        oracle_description: str,
        verdict: Verdict,
        expectation_met: bool | None,  # noqa: FBT001 - three-valued, and a column of its own
    ) -> None:
        """Write down what an oracle says of a trial that has ended. The last word counts.

        Raises:
            UnknownTrial: if no trial of that number has ended.
        """
        with self._database.transaction() as transaction:
            if not transaction.holds("outcome", "trial", number):
                raise unknown_trial(number)
            transaction.insert(
                "judgement",
                trial=number,
                judged_at=utc_now(),
                oracle=oracle_description,
                verdict=verdict.value,
                expectation_met=None if expectation_met is None else int(expectation_met),
            )

    def begin_investigation(self, *, verb: str, trial: Trial) -> int:
        """Write down that a search starts from ``trial``, and return its number.

        Raises:
            DiskFull, CannotWrite, NotebookBusy: if it can't be written.
        """
        with self._database.transaction() as transaction:
            return transaction.insert(
                "investigation",
                started_at=utc_now(),
                verb=verb,
                trial=self.seals.sealed_trial(trial),
                whet_version=__version__,
                host=os.uname().nodename,
                pid=os.getpid(),
            )

    def end_investigation(
        self, number: int, stop_reason: "StopReason", result: Mapping[str, object]
    ) -> None:
        """Write down why a search ended and what it found.

        Raises:
            DiskFull, CannotWrite, NotebookBusy: if it can't be written.
        """
        with self._database.transaction() as transaction:
            transaction.insert(
                "investigation_end",
                investigation=number,
                ended_at=utc_now(),
                stop_reason=stop_reason.name,
                result=self.seals.sealed(result),
            )

    def keep_made(self, file: Path, command: str, detail: Mapping[str, object]) -> None:
        """Write down that a payload was made.

        Args:
            file: where it is.
            command: what made it.
            detail: its kind, its fill and so on.

        Raises:
            DiskFull, CannotWrite, NotebookBusy: if it can't be written.
        """
        with self._database.transaction() as transaction:
            transaction.insert(
                "made",
                made_at=utc_now(),
                file=os.fsdecode(file),
                command=self.seals.sealed_text(command),
                detail=self.seals.sealed(detail),
            )

    def save_environment(self, variables: Mapping[str, str]) -> str:
        """Keep an environment, its secrets masked by the caller, and return its digest.

        Raises:
            DiskFull, CannotWrite, NotebookBusy: if it can't be written.
        """
        data = json.dumps(dict(variables), sort_keys=True)
        digest = digest_of(data.encode("ascii"))
        with self._database.transaction() as transaction:
            if not transaction.holds("environment", "digest", digest):
                transaction.insert(
                    "environment", digest=digest, variables=self.seals.sealed(variables)
                )
        return digest

    def environment(self, digest: str) -> dict[str, str]:
        """Return an environment that was kept.

        Raises:
            KeyError: if there is none of that digest.
        """
        rows = self._query("SELECT variables FROM environment WHERE digest = ?", [digest])
        for row in rows:
            return text_map({"variables": decoded(text(row, "variables"))}, "variables")
        raise KeyError(digest)


def _secrets_in_output(outcome: Outcome) -> Iterator[Evidence]:
    """Yield which known secrets the program has printed: they are masked where that is shown."""
    found = [
        {"stream": name, "value": value, "from": origin.place, "why": origin.why}
        for name, stream in (("stdout", outcome.stdout), ("stderr", outcome.stderr))
        if stream.size_bytes
        for value, origin in known_in(stream.search)
    ]
    if found:
        yield Evidence(kind=SECRETS, detail={"found": found})
