"""Which of the recorded trials `whet log` lists."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import click

from whet.cli.display.summary import failure_words
from whet.core.condition import duration_seconds
from whet.core.text.shell_words import joined
from whet.core.value_class import value_class
from whet.host.trial.trial_secrets import masked_words
from whet.notebook.entry import Entry, SearchEntry


class Since(click.ParamType[str]):
    """A time ago, or a moment of local time: ``2h``, ``3d``, ``2026-11-25``, ``2026-11-25 14:30``."""

    name = "when"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the moment as the notebook writes it."""
        words = str(value)
        if not words:
            return ""
        seconds = duration_seconds(words)
        try:
            if seconds is not None:
                moment = datetime.now(UTC) - timedelta(seconds=seconds)
            else:
                moment = datetime.fromisoformat(words).astimezone(UTC)
        except (ValueError, OverflowError, OSError):
            self.fail(
                f"`{words}` is not a time: write 2h, 3d, 2026-11-25 or '2026-11-25 14:30'",
                param,
                ctx,
            )
        return f"{moment:%Y-%m-%dT%H:%M:%S}"


@value_class(kw_only=True)
class LogFilter:
    """What an entry must have to be listed; what is empty leaves all of them.

    Attributes:
        failure: in the message of the failure, or in its kind.
        file: in the command, or among the frames of the failure.
        text: in the command, name, note, expectation, changes or failure.
        since: started at this moment of UTC or later.
    """

    failure: str = ""
    file: str = ""
    text: str = ""
    since: str = ""

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return self != LogFilter()

    def takes(self, entry: Entry) -> bool:
        """Whether a trial has all of it."""
        return (
            entry.started_at >= self.since
            and _holds(self.failure, lambda: _failure_words(entry))
            and _holds(self.file, lambda: [_command(entry), *_frames(entry)])
            and _holds(self.text, lambda: _words(entry))
        )

    def takes_search(self, search: SearchEntry) -> bool:
        """Whether a search has all of it: no failure is its own."""
        words = [joined(masked_words(search.trial.command))]
        return (
            not self.failure
            and search.started_at >= self.since
            and _holds(self.file, lambda: words)
            and _holds(self.text, lambda: words)
        )


def _holds(part: str, words: Callable[[], list[str]]) -> bool:
    return not part or any(part.lower() in each.lower() for each in words())


def _command(entry: Entry) -> str:
    return joined(masked_words(entry.trial.command))


def _failure_words(entry: Entry) -> list[str]:
    failure = None if entry.outcome is None else entry.outcome.failure
    return [] if failure is None else [failure_words(failure), failure.signature.exception]


def _frames(entry: Entry) -> list[str]:
    failure = None if entry.outcome is None else entry.outcome.failure
    return [] if failure is None else [each.path for each in failure.frames]


def _words(entry: Entry) -> list[str]:
    own = [entry.name, entry.note, entry.expectation, entry.changes]
    return [_command(entry), *own, *_failure_words(entry)]
