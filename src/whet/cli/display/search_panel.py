"""A search for the first bad version at work, as it is drawn on a terminal."""

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whet.core.event import HistoryNarrowed, Stretch, SuspicionChanged, TrialFinished
from whet.core.text.quantity import shown_count, shown_seconds
from whet.core.text.shown_text import visible_line
from whet.core.verdict import Verdict

if TYPE_CHECKING:
    from rich.panel import Panel

_MARKS = {Verdict.GOOD: "●", Verdict.BAD: "✗", Verdict.SKIP: "-"}
_STYLES = {Verdict.GOOD: "green", Verdict.BAD: "red", Verdict.SKIP: "yellow"}
_BARS = "▁▂▃▄▅▆▇█"
_CLEARED = "·"
_LIKELY = 0.005


@dataclass(slots=True)
class SearchState:
    """What is known of a search over versions that is under way."""

    _started: float = field(default_factory=time.monotonic)
    _line: tuple[Stretch, ...] = ()
    _left: str = ""
    _steps: int = 0
    _last: str = ""

    def note(self, event: HistoryNarrowed | SuspicionChanged | TrialFinished) -> None:
        """Take in what happened."""
        match event:
            case HistoryNarrowed():
                left = shown_count(event.remaining, "suspect")
                steps = shown_count(event.steps_left, "step")
                self._left, self._line = f"{left} left, about {steps} to go", event.line
                self._steps += 1
            case SuspicionChanged():
                runs = shown_count(event.runs_left, "run")
                likely = f"{event.suspect} is likeliest ({event.probability:.0%})"
                self._left, self._line = f"{likely}, about {runs} to go", event.line
                self._steps += len(event.tested)
            case TrialFinished():
                self._last = event.label

    def marks(self) -> list[tuple[str, str]]:
        """Return the line of versions, oldest first, as signs with their styles.

        A tested version has its mark. Of the others those cleared are dots, and the higher the
        bar, the likelier the first bad version is there.
        """
        most = max((each.probability for each in self._line), default=0.0)
        return [_sign(each, most) for each in self._line]

    def words(self) -> str:
        """Return what is left and what was done."""
        steps = f"{shown_count(self._steps, 'step')} done"
        elapsed = shown_seconds(time.monotonic() - self._started)
        last = f"last run {self._last}" if self._last else ""
        return " · ".join(filter(None, [self._left, steps, elapsed, last]))

    def drawn(self) -> "Panel":
        """Return what rich draws."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        line = Text(no_wrap=True, overflow="ellipsis")
        line.append("old ", style="dim")
        for sign, style in self.marks():
            line.append(sign, style=style)
        line.append(" new", style="dim")
        words = Text(visible_line(self.words()), no_wrap=True, overflow="ellipsis")
        title = "searching  ● old  ✗ new  - skipped"
        return Panel(Group(line, words), title=title, title_align="left", border_style="dim")


def _sign(stretch: Stretch, most: float) -> tuple[str, str]:
    if stretch.told is not None:
        return _MARKS[stretch.told], _STYLES[stretch.told]
    if stretch.probability < _LIKELY * most or not stretch.probability:
        return _CLEARED, "dim"
    height = min(len(_BARS) - 1, int(len(_BARS) * stretch.probability / most))
    return _BARS[height], "bold"
