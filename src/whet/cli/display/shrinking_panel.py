"""A shrink at work, as it is drawn on a terminal: how small by now, how fast, what is left."""

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whet.core.event import PassStarted, PayloadReduced, TrialFinished
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.text.shown_text import visible, visible_line
from whet.report.wording import hex_dump, is_text

if TYPE_CHECKING:
    from rich.panel import Panel

_BARS = "▁▂▃▄▅▆▇█"
_CURVE_COLUMNS = 40
_SHOWN_LINES = 8
_SHOWN_BYTES = 1200

_LAST_ROUND = 3
"""Proving that nothing more can go took about this number of candidates for each byte, on text,
JSON and bytes alike (`benchmarks/shrink/decisions.py`)."""

_MOST_FORESEEN_BYTES = 20_000


@dataclass(slots=True, kw_only=True)
class ShrinkState:
    """What is known of a shrink that is under way.

    Attributes:
        first_bytes: the size that it started from.
    """

    first_bytes: int
    _started: float = field(default_factory=time.monotonic)
    _trials: int = 0
    _remembered: int = 0
    _warm: int = 0
    _quiet: int = 0
    _pass: str = ""
    _best: bytes | None = None
    _sizes: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])

    def note(self, event: PassStarted | PayloadReduced | TrialFinished) -> None:
        """Take in what happened."""
        match event:
            case PassStarted():
                self._pass = event.name
            case PayloadReduced():
                self._best, self._quiet = event.content, 0
                self._sizes.append((time.monotonic() - self._started, event.after_bytes))
            case TrialFinished():
                self._trials += 1
                self._quiet += 1
                self._remembered += event.number is None
                self._warm += bool(event.outcome.resumed_from) and event.number is not None

    def lines(self) -> list[str]:
        """Return what is known, without the payload."""
        elapsed = time.monotonic() - self._started
        now = self._sizes[-1][1] if self._sizes else self.first_bytes
        sizes = f"{shown_bytes(self.first_bytes)} → {shown_bytes(now)}"
        run = self._trials - self._remembered
        parts = [f"{shown_count(run, 'trial')}, {run / max(elapsed, 1e-3):.1f}/s"]
        if self._warm:
            parts.append(f"{self._warm / max(run, 1):.0%} warm")
        if self._remembered:
            parts.append(f"{self._remembered} known from earlier searches")
        times = [shown_seconds(elapsed)]
        rest = self._rest(now, elapsed)
        if rest:
            times.append(f"about {rest} more if whet finds nothing smaller")
        return [
            f"{sizes}  {self._curve(elapsed)}",
            " · ".join(parts),
            " · ".join(filter(None, [self._pass, *times])),
        ]

    def best_lines(self) -> list[str]:
        """Return the first lines of the best payload."""
        if self._best is None:
            return []
        cut = self._best[:_SHOWN_BYTES]
        text = visible(cut.decode("utf-8", "replace")) if is_text(self._best) else hex_dump(cut)
        lines = text.splitlines()
        if len(lines) > _SHOWN_LINES or len(cut) < len(self._best):
            lines = [*lines[:_SHOWN_LINES], "…"]
        return lines

    def _rest(self, now: int, elapsed: float) -> str:
        """Return how long the last round takes: the one that shows that nothing more can go."""
        left = _LAST_ROUND * now - self._quiet
        if now > _MOST_FORESEEN_BYTES or left <= 0 or not self._trials:
            return ""
        return shown_seconds(left * elapsed / self._trials)

    def _curve(self, elapsed: float) -> str:
        """Return the size against time as a line of bars, by powers of ten."""
        columns = min(_CURVE_COLUMNS, 1 + len(self._sizes) * 4)
        top = math.log10(self.first_bytes + 1) or 1
        bars = ""
        for column in range(columns):
            until = elapsed * (column + 1) / columns
            sizes = [size for at, size in self._sizes if at <= until]
            size = sizes[-1] if sizes else self.first_bytes
            height = math.log10(size + 1) / top
            bars += _BARS[min(len(_BARS) - 1, int(height * len(_BARS)))]
        return bars

    def drawn(self) -> "Panel":
        """Return what rich draws."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        def text(line: str, style: str = "") -> Text:
            return Text(visible_line(line), style=style, no_wrap=True, overflow="ellipsis")

        size, rates, work = self.lines()
        best = [text(line, "cyan") for line in self.best_lines()]
        gap = [Text("")] if best else []
        return Panel(
            Group(text(size, "bold"), text(rates), text(work, "dim"), *gap, *best),
            title="shrinking",
            title_align="left",
            border_style="dim",
        )
