"""One use of `whet watch`: it looks at its panels, and acts as levels cross thresholds."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whet.core.observations.panel import Sight
from whet.core.text.quantity import shown_bytes
from whet.core.threshold import LEVEL_NAMES, Crossing, Threshold
from whet.host.process.console import Console
from whet.host.process.process_tree import has_ended, resident_bytes
from whet.workbench.watch.actions import Actions
from whet.workbench.watch.readers import Reader
from whet.workbench.watch.recording import Recording

_FIRST_SECONDS = 1.0
_LOOK_SECONDS, _LEAST_LOOK_SECONDS, _LOOK_SHARE = 1.0, 0.1, 0.02
"""How long after a look the next one is due; with thresholds it is as soon as looks then take at most so
much of a processor."""

_START_SECONDS, _STEP_SECONDS = 30.0, 0.02


@dataclass(slots=True, kw_only=True)
class Watch:
    """Panels that are looked at together.

    Attributes:
        readers: one for each panel.
        interval_seconds: how often levels are shown.
        console: of the program; None: there is none.
        told: what actions have to say; from any thread.
        recording: what was seen of the program.
        number: of the trial; None: there is none, or it has no row yet.
        is_over: whether there is nothing more to see.
        wait: waits this long, or until there is nothing more to see.
    """

    readers: Sequence[Reader]
    interval_seconds: float
    crossings: Sequence[Crossing]
    actions: Actions
    console: Console | None
    told: deque[str]
    is_over: Callable[[], bool] = lambda: False
    wait: Callable[[float], object] = time.sleep
    recording: Recording = field(default_factory=Recording)
    _began: float = field(default_factory=time.monotonic)
    _costs: deque[float] = field(default_factory=lambda: deque([0.0], maxlen=2))
    """Of the last two looks: a single one can be dear."""

    @property
    def pause_seconds(self) -> float:
        """How long after this look the next one is due."""
        longest = min(self.interval_seconds, _LOOK_SECONDS)
        if not self.crossings:
            return longest
        return min(longest, max(_LEAST_LOOK_SECONDS, min(self._costs) / _LOOK_SHARE))

    def settle(self) -> None:
        """Wait for the program to start, and give panels that take long a moment to be read."""
        ends = time.monotonic() + _START_SECONDS
        while not (self._can_be_measured or self.is_over()) and time.monotonic() < ends:
            self.wait(_STEP_SECONDS)
        ends = time.monotonic() + _FIRST_SECONDS
        for each in self.readers:
            each.settle(max(0.0, ends - time.monotonic()))

    def look(self) -> Sight:
        """Look at all panels now; do what a crossed threshold asks for."""
        moment, began = time.monotonic(), time.thread_time()
        readings = tuple(each.read(moment) for each in self.readers)
        # Not the time on the clock: on a busy machine a look waits, and costs no more for that.
        self._costs.append(time.thread_time() - began)
        seconds = self.seconds_at(moment)
        sight = Sight(seconds=max(seconds, 0.0), readings=readings)
        told = [*self._crossed(sight), *self.untold()]
        if self.has_started and not self.has_ended:
            stream_bytes = {} if self.console is None else self.console.progress.stream_bytes
            self.recording.note(sight, stream_bytes)
        return Sight(seconds=sight.seconds, readings=readings, events=tuple(told))

    @property
    def has_started(self) -> bool:
        """Whether the program runs, or has run."""
        return self.console is None or self.console.progress.pid != 0

    @property
    def _can_be_measured(self) -> bool:
        """Whether the program holds memory of its own: just after its start it doesn't."""
        return self.console is None or resident_bytes(self.console.progress.pid) > 0

    @property
    def has_ended(self) -> bool:
        """Whether the program's first process is gone; whet may still be collecting what it left."""
        pid = 0 if self.console is None else self.console.progress.pid
        return pid != 0 and has_ended(pid)

    def seconds_at(self, moment: float) -> float:
        """Return the seconds since the command started; without one, since the watch began."""
        if self.console is None:
            return moment - self._began
        began = self.console.progress.began
        return moment - began if began else 0.0

    def interrupt(self, number: int) -> None:
        """Pass a signal on to the program."""
        if self.console is not None:
            self.console.send(number)

    def _crossed(self, sight: Sight) -> list[str]:
        told: list[str] = []
        for crossing in self.crossings:
            threshold = crossing.threshold
            value = sight.number(threshold.name)
            if not crossing.crosses(value):
                continue
            assert value is not None, "a level that isn't measured crosses nothing"
            text = f"{threshold.text}: it is {shown_level(threshold, value)}"
            told.append(text)
            words = {"action": threshold.action, "value": value, "told": text}
            self.recording.note_event(round(sight.seconds, 3), threshold.text, words)
            self.actions.perform(threshold, sight.seconds)
        return told

    def untold(self) -> list[str]:
        """Return what actions have had to say since the last look, and record it."""
        told: list[str] = []
        at = round(max(self.seconds_at(time.monotonic()), 0.0), 3)
        while self.told:
            told.append(self.told.popleft())
            self.recording.note_event(at, told[-1], {"told": told[-1]})
        return told

    def close(self) -> None:
        """End what readers and actions have started."""
        for each in self.readers:
            each.close()
        self.actions.close()


def shown_level(threshold: Threshold, value: float) -> str:
    """Return a level as its panel shows it."""
    unit = LEVEL_NAMES[threshold.name].unit
    if unit.startswith("bytes"):
        return shown_bytes(round(value)) + unit.removeprefix("bytes")
    return f"{value:.0f} %" if unit == "percent" else f"{value:g}"
