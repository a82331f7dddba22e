"""What the view shows: a watch that goes on, or a recorded trial."""

import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from whet.core.observations.panel import Sight
from whet.core.text.quantity import shown_seconds
from whet.host.process.panel_terminal import PanelTerminal
from whet.workbench.watch.recording import Replay
from whet.workbench.watch.watching import Watch

_SEEK_SECONDS = 5.0
_FRAME_SECONDS = 0.1
_MOST_PARTS = 200
_SPEEDS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


@dataclass(slots=True, kw_only=True)
class Live:
    """A watch that goes on.

    Attributes:
        watch: what looks.
        terminal: of the program; None: there is none.
        written: the last of what the program has written, for when the view is left.
        ended: how the program ended, in words.
    """

    watch: Watch
    terminal: PanelTerminal | None = None
    written: deque[tuple[str, bytes]] = field(default_factory=lambda: deque(maxlen=_MOST_PARTS))
    ended: Callable[[], str] = lambda: ""
    _last: Sight | None = None

    @property
    def interval_seconds(self) -> float:
        """How often to look: with thresholds as often as is cheap."""
        watch = self.watch
        return watch.pause_seconds if watch.crossings else watch.interval_seconds

    @property
    def output(self) -> Mapping[str, int] | None:
        """Where the program's output comes."""
        return None if self.terminal is None else self.terminal.readers

    @property
    def keys(self) -> Mapping[str, str]:
        """What keys do now."""
        if self.terminal is None:
            return {"q": "leave"}
        if self.watch.is_over():
            return {"q": "leave"}
        return {"q": "leave, the program runs on", "ctrl+c": "interrupt it"}

    @property
    def must_leave(self) -> bool:
        """Whether the time is up, or the program couldn't be started."""
        is_empty = self.terminal is None or not self.watch.has_started
        return is_empty and self.watch.is_over()

    def look(self) -> Sight | None:
        """Look now; once the program has ended its last levels stay."""
        is_over = self.watch.is_over() or self.watch.has_ended
        if self.terminal is not None and is_over and self._last is not None:
            told = self.watch.untold()
            return Sight(seconds=self._last.seconds, readings=(), events=tuple(told))
        self._last = self.watch.look()
        return self._last

    def read(self, stream: str, /) -> bytes:
        """Return what the program has written."""
        data = b"" if self.terminal is None else self.terminal.read(stream)
        if data:
            self.written.append((stream, data))
        return data

    def state(self) -> str:
        """Return the time, and whether the program has ended."""
        now = self.watch.seconds_at(time.monotonic())
        if self.terminal is None:
            return shown_seconds(now)
        if self.watch.is_over():
            seconds = 0.0 if self._last is None else self._last.seconds
            return f"{self.ended() or 'ended'} after {shown_seconds(seconds)}"
        return shown_seconds(now) if self.watch.has_started else "starting"

    def press(self, key: str, /) -> str | None:
        """Leave, or interrupt the program."""
        if key == "ctrl+c" and self.terminal is not None and not self.watch.is_over():
            self.watch.interrupt(signal.SIGINT)
            return None
        return "leave" if key in {"q", "ctrl+c", "ctrl+q", "escape"} else None

    def past(self) -> Sequence[Sight]:
        """Return nothing: a curve grows as it goes."""
        return ()

    def resize(self, columns: int, rows: int, /) -> None:
        """Let the program know how much room it has."""
        if self.terminal is not None:
            self.terminal.resize(columns, rows)


@dataclass(slots=True, kw_only=True)
class Recorded:
    """A recorded trial, played as it was.

    Attributes:
        replay: what was recorded.
        streams: the program's output, by stream.
        speed: how many seconds of it pass in one.
        at: which moment is shown, in seconds of the trial.
    """

    replay: Replay
    streams: Mapping[str, bytes]
    speed: float = 1.0
    at: float = 0.0
    is_paused: bool = False
    _then: float = field(default_factory=time.monotonic)
    _shown: int = -1
    _taken: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def interval_seconds(self) -> float:
        """How often to look."""
        return _FRAME_SECONDS

    @property
    def output(self) -> Mapping[str, int] | None:
        """There are no descriptors: it is kept."""
        return {} if any(self.streams.values()) else None

    @property
    def keys(self) -> Mapping[str, str]:
        """What keys do."""
        return {
            "space": "play" if self.is_paused else "pause",
            "←→": "5 s",
            "+-": "speed",
            "q": "leave",
        }

    @property
    def must_leave(self) -> bool:
        """Whether there is nothing to show: there is always something."""
        return False

    def look(self) -> Sight | None:
        """Return the sight of the moment; None: it is shown already."""
        now = time.monotonic()
        if not self.is_paused:
            self.at = min(self.at + (now - self._then) * self.speed, self.replay.seconds)
        self._then = now
        place = self.replay.at(self.at)
        if place == self._shown:
            return None
        self._shown = place
        return self.replay.sights[place]

    def read(self, stream: str, /) -> bytes:
        """Return what had been written by then."""
        place = max(self._shown, 0)
        is_last = place == len(self.replay.sights) - 1
        data = self.streams.get(stream, b"")
        end = len(data) if is_last else self.replay.stream_bytes[place].get(stream, 0)
        start = self._taken.get(stream, 0)
        self._taken[stream] = max(end, start)
        return data[start:end]

    def state(self) -> str:
        """Return the time of the moment, the length and the speed."""
        speed = "" if self.speed == 1 else f"  {self.speed:g}x"
        return f"{shown_seconds(self.at)} of {shown_seconds(self.replay.seconds)}{speed}"

    def press(self, key: str, /) -> str | None:
        """Play, pause, seek, or leave."""
        if key in {"q", "ctrl+c", "ctrl+q", "escape"}:
            return "leave"
        if key == "space":
            self.is_paused = not self.is_paused
        elif key in {"plus", "minus"}:
            self.speed = _next_speed(self.speed, up=key == "plus")
        elif key in {"left", "right", "home", "end"}:
            steps = {"left": -_SEEK_SECONDS, "right": _SEEK_SECONDS}
            target = {"home": 0.0, "end": self.replay.seconds}.get(
                key, self.at + steps.get(key, 0.0)
            )
            self.at = min(max(target, 0.0), self.replay.seconds)
            self._shown = -1
            self._taken = {}
            return "redraw"
        return None

    def past(self) -> Sequence[Sight]:
        """Return the sights up to the moment."""
        return self.replay.sights[: self.replay.at(self.at)]

    def resize(self, _columns: int, _rows: int, /) -> None:
        """Return: the program has written what it has written."""


def _next_speed(speed: float, *, up: bool, speeds: Sequence[float] = _SPEEDS) -> float:
    if up:
        return min((each for each in speeds if each > speed), default=speed)
    return max((each for each in speeds if each < speed), default=speed)


def pass_on(stream: str, data: bytes) -> None:
    """Write what a program has written to whet's own stream, byte for byte."""
    descriptor = 1 if stream == "stdout" else 2
    while data:
        data = data[os.write(descriptor, data) :]


def follow(live: Live) -> Iterator[str]:
    """Pass on what a program writes until it has ended; yield what thresholds have to say.

    What it wrote last in its panel comes first: the panel is gone.

    Ctrl-C goes to the program meanwhile.
    """
    watch, terminal = live.watch, live.terminal
    assert terminal is not None, "there is a program"
    for stream, data in live.written:
        pass_on(stream, data)
    previous = signal.signal(signal.SIGINT, lambda number, _frame: watch.interrupt(number))
    try:
        due = time.monotonic()
        while True:
            is_over = watch.is_over()
            waiting = select.select(
                list(terminal.readers.values()), [], [], 0 if is_over else _FRAME_SECONDS
            )[0]
            for stream, descriptor in terminal.readers.items():
                if descriptor in waiting:
                    pass_on(stream, terminal.read(stream))
            if time.monotonic() >= due and not is_over:
                yield from watch.look().events
                due = time.monotonic() + live.interval_seconds
            if is_over and not waiting:
                return
    finally:
        signal.signal(signal.SIGINT, previous)
