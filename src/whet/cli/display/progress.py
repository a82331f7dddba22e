"""What whet says while a search works: one line that changes on a terminal, few lines elsewhere."""

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self, assert_never

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console
    from rich.live import Live
    from rich.panel import Panel
    from rich.status import Status

    from whet.cli.display.search_panel import SearchState
    from whet.cli.display.shrinking_panel import ShrinkState

from whet.cli.console import say, shown, styled, verdict_word
from whet.cli.display.summary import failure_words, outcome_words
from whet.core.event import (
    Event,
    HistoryNarrowed,
    Notice,
    PassStarted,
    PayloadReduced,
    RunsCounted,
    SearchStopped,
    StepFinished,
    StepStarted,
    SuspicionChanged,
    TrialFinished,
)
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.verdict import Verdict
from whet.host.trial.known_secrets import veiled

_REDRAW_SECONDS = 0.1
_LINE_SECONDS = 5.0
_ROOM = 8
"""Columns that stay free where a terminal writes `^C`, which would push what is drawn to a new line."""


class Progress:
    """Shows events as they come.

    On a terminal the state of a search is one line that is drawn again, that of a shrink, or of a
    search for the first bad version, a panel;
    elsewhere a line is written every few seconds, so that a log tells the story and no more.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._is_live = sys.stderr.isatty() and not quiet
        self._drawn_at = 0.0
        self._screen: Console | None = None
        self._status: Status | None = None
        self._trials = 0
        self._started = time.monotonic()
        self._best = ""
        self._told = ""
        self._first_bytes = 0
        self._shrink: ShrinkState | None = None
        self._search: SearchState | None = None
        self._live: Live | None = None

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if self._quiet:
            return
        match event:
            case StepStarted():
                self._restart()
                title = styled(event.title, "bold", sys.stderr)
                self._line("")
                self._line(f"{title}  {styled(event.reason, 'dim', sys.stderr)}")
            case StepFinished():
                self._end_panel()
                self._line(f"  {event.result}")
            case TrialFinished():
                self._trial(event)
            case PayloadReduced():
                self._reduced(event)
            case PassStarted():
                self._begin_pass(event)
            case HistoryNarrowed() | SuspicionChanged() | RunsCounted():
                self._learned(event)
            case SearchStopped():
                self._stopped(event)
            case Notice():
                self._line(f"  {styled('note', 'yellow', sys.stderr)}: {event.text}")
            case _:
                assert_never(event)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take what changes off the screen."""
        self._end_panel()
        self._stop_status()

    def _restart(self) -> None:
        self._trials, self._started = 0, time.monotonic()
        self._best, self._told, self._first_bytes = "", "", 0

    def _trial(self, event: TrialFinished) -> None:
        self._trials += 1
        if self._shrink is not None:
            self._shrink.note(event)
        if self._search is not None:
            self._search.note(event)
        if not event.label:
            end = f"{verdict_word(event.verdict, sys.stderr)} {outcome_words(event.outcome)}"
            what = failure_words(event.outcome.failure) if event.outcome.failure else ""
            if event.verdict is Verdict.GOOD:
                what = what or "passes"
            self._line(f"  run {self._trials}: {' · '.join(filter(None, (end, what)))}")
            return
        if self._best or self._is_live:  # what a search over versions learns has its own line
            self._state(self._best or event.label)

    def _begin_pass(self, event: PassStarted) -> None:
        """Draw a panel while a shrink is at work, on a terminal."""
        if not self._is_live:
            return
        if self._shrink is None:
            from whet.cli.display.shrinking_panel import ShrinkState

            self._shrink = ShrinkState(first_bytes=self._first_bytes or event.best_bytes)
            self._draw_panel(self._shrink.drawn)
        self._shrink.note(event)

    def _draw_panel(self, draw: "Callable[[], Panel]") -> None:
        """Draw a panel again from time to time, until it is ended."""
        from rich.constrain import Constrain
        from rich.live import Live

        screen = self._screen = self._screen or _console()
        self._stop_status()
        self._live = Live(
            get_renderable=lambda: Constrain(draw(), screen.width - _ROOM), console=screen, transient=True,
            refresh_per_second=8, redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._live.start()

    def _end_panel(self) -> None:
        self._shrink = self._search = None
        if self._live is not None:
            with suppress(OSError):  # the terminal was closed
                self._live.stop()
            self._live = None

    def _stop_status(self) -> None:
        if self._status is not None:
            with suppress(OSError):
                self._status.stop()
            self._status = None

    def _reduced(self, event: PayloadReduced) -> None:
        if self._shrink is not None:
            self._shrink.note(event)
        self._first_bytes = self._first_bytes or event.before_bytes
        first, now = shown_bytes(self._first_bytes), shown_bytes(event.after_bytes)
        self._best = f"{first} → {now} ({event.by_pass})"
        self._state(self._best)

    def _learned(self, event: HistoryNarrowed | SuspicionChanged | RunsCounted) -> None:
        if self._is_live and not isinstance(event, RunsCounted):
            if self._search is None:
                from whet.cli.display.search_panel import SearchState

                self._search = SearchState()
                self._draw_panel(self._search.drawn)
            self._search.note(event)
        match event:
            case HistoryNarrowed():
                self._narrowed(event)
            case SuspicionChanged():
                self._suspected(event)
            case RunsCounted():
                planned = f" of {event.planned}" if event.planned else ""
                self._state(f"{event.runs}{planned} runs done, {event.failed} failed")

    def _narrowed(self, event: HistoryNarrowed) -> None:
        left = shown_count(event.remaining, "suspect")
        steps = shown_count(event.steps_left, "step")
        verdict = verdict_word(event.verdict, sys.stderr)
        self._line(f"  {event.label}: {verdict} · {left} left, about {steps} to go")

    def _suspected(self, event: SuspicionChanged) -> None:
        verdicts = ", ".join(
            f"{label}: {verdict_word(verdict, sys.stderr)}" for label, verdict in event.tested
        )
        runs = shown_count(event.runs_left, "run")
        likely = f"{event.suspect} is likeliest ({event.probability:.0%})"
        self._line(f"  {verdicts} · {likely}, about {runs} to go")

    def _stopped(self, event: SearchStopped) -> None:
        self._end_panel()
        elapsed = shown_seconds(event.wall_seconds)
        self._line(f"  {event.reason.value} ({shown_count(event.trials, 'trial')}, {elapsed})")

    def _state(self, text: str) -> None:
        now = time.monotonic()
        if now - self._drawn_at < (_REDRAW_SECONDS if self._is_live else _LINE_SECONDS):
            return
        if text == self._told and not self._is_live:
            return
        self._drawn_at, self._told = now, text
        rate = self._trials / max(now - self._started, 1e-3)
        line = f"  {text} · {shown_count(self._trials, 'trial')}, {rate:.1f}/s"
        if self._is_live:
            self._draw(line)
        else:
            say(line)

    def _draw(self, line: str) -> None:
        """Show the state of the search on the line that changes."""
        if self._live is not None:
            return  # the panel says it
        from rich.text import Text

        self._screen = self._screen or _console()
        text = Text.from_ansi(shown(line.strip()), no_wrap=True)
        text.truncate(self._screen.width - _ROOM, overflow="ellipsis")
        if self._status is None:
            self._status = self._screen.status(text)
            self._status.start()
        else:
            self._status.update(text)

    def _line(self, text: str) -> None:
        if self._screen is None:
            say(text)
            return
        from rich.text import Text

        self._screen.print(Text.from_ansi(shown(veiled(text))), soft_wrap=True)


def _console() -> "Console":
    # Here and not above: rich takes 40 ms to import, and only a terminal needs it.
    from rich.console import Console

    return Console(stderr=True, highlight=False)
