"""The view of `whet watch`: panels, the output of a program, and a line with the keys."""

import asyncio
import os
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import ClassVar, Protocol

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid
from textual.events import Resize
from textual.geometry import Size
from textual.widget import Widget

from whet.core.observations.panel import Reading, Sight
from whet.host.process.ending import holding_signals
from whet.host.process.terminal_guard import TerminalGuard
from whet.host.trial.known_secrets import veiled
from whet.watch.drawing import cut, panel_lines
from whet.watch.layout import LEAST_HEIGHT, layout
from whet.watch.output_lines import OutputLines

_MOST_HISTORY = 2048
_FRAME = 2
_MOST_TITLE = 200
_FIRST_LOOKS = (0.1, 0.2, 0.4)  # a short program is seen, too
_MOST_BYTES = 1 << 20  # at once: keys are heard in between
_TITLE_CSS = "border-title-color: $foreground; border-title-style: bold;"


class Source(Protocol):
    """Where the view's sights come from: a watch that goes on, or a recorded one."""

    @property
    def interval_seconds(self) -> float:
        """How often to ask."""
        ...

    @property
    def output(self) -> Mapping[str, int] | None:
        """Descriptors on which a program's output comes, by stream; None: there is no program.

        Empty: `look` makes more of it come.
        """
        ...

    @property
    def keys(self) -> Mapping[str, str]:
        """What keys do, by the name of the key, in a word or two."""
        ...

    @property
    def must_leave(self) -> bool:
        """Whether there is nothing more to show: the time is up, or the program can't be started."""
        ...

    def look(self) -> Sight | None:
        """Return what the panels show now; None: nothing new."""
        ...

    def read(self, stream: str, /) -> bytes:
        """Return what has come on a stream; empty: nothing new."""
        ...

    def state(self) -> str:
        """Return how far it is, for the last line."""
        ...

    def past(self) -> Sequence[Sight]:
        """Return the sights before the one that is shown, for curves."""
        ...

    def press(self, key: str, /) -> str | None:
        """Obey a key; return ``leave`` to end the view, ``redraw`` to show all output again."""
        ...

    def resize(self, columns: int, rows: int, /) -> None:
        """Note how much room a program's output has."""
        ...


class PanelView(Widget):
    """One panel in its frame.

    Attributes:
        panel: which one, as of `Reading`.
    """

    DEFAULT_CSS = f"PanelView {{ border: round $secondary; border-title-color: $foreground; border-title-style: bold; height: 1fr; min-height: {LEAST_HEIGHT}; }}"

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self.panel = reading.panel
        self._reading = reading
        self._before: Reading | None = None
        self._history: deque[float] = deque(maxlen=_MOST_HISTORY)
        self.show(reading)

    def show(self, reading: Reading) -> None:
        """Show another reading."""
        if reading.column != self._reading.column:
            self._history.clear()  # it was another number
        if reading.numbers:
            self._history.append(reading.numbers[0].value)
        if reading.lines != self._reading.lines:
            self._before = self._reading
        changed = reading != self._reading or bool(reading.numbers)
        self._reading = reading
        self.border_title = Text(cut(veiled(reading.title), _MOST_TITLE)).markup
        if changed:
            self.refresh()

    def begin_again(self, past: Sequence[Sight]) -> None:
        """Begin a new curve, with what was before."""
        self._history.clear()
        for sight in past:
            for each in sight.readings:
                if each.panel == self.panel and each.numbers:
                    self._history.append(each.numbers[0].value)

    def render(self) -> Text:
        """Return what is in the frame."""
        size = (self.content_size.width, self.content_size.height)
        drawn = panel_lines(self._reading, list(self._history), size, before=self._before)
        lines = [_veiled(each) for each in drawn]
        return Text("\n", no_wrap=True, overflow="crop").join(lines)


class OutputView(Widget):
    """The last lines of a program's output."""

    DEFAULT_CSS = f"OutputView {{ {_TITLE_CSS} border: round $primary; }}"

    def __init__(self) -> None:
        super().__init__()
        self.border_title = "output"
        self._lines = OutputLines()

    def feed(self, data: bytes) -> None:
        """Take in more of it."""
        self._lines.feed(data)
        self.refresh()

    def forget(self) -> None:
        """Begin anew."""
        self._lines = OutputLines()

    def render(self) -> Text:
        """Return the lines that there is room for."""
        width, height = self.content_size.width, self.content_size.height
        lines = [_veiled(Text.from_ansi(each)) for each in self._lines.last(height)]
        for each in lines:
            each.truncate(width, overflow="ellipsis")
        return Text("\n", no_wrap=True, overflow="crop").join(lines)


class StatusLine(Widget):
    """What was noticed last, and what the keys do."""

    DEFAULT_CSS = "StatusLine { dock: bottom; height: 1; }"

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._event = ""

    def tell(self, event: str) -> None:
        """Show an event until the next one."""
        self._event = event
        self.refresh()

    def render(self) -> Text:
        """Return one line."""
        width = self.size.width
        keys = "  ".join(f"{key} {does}" for key, does in self._source.keys.items())
        line = Text(f" {self._source.state()}  ", no_wrap=True, overflow="crop")
        if self._event:
            line.append(f"! {cut(self._event, max(0, width - len(line) - 3))}  ", style="bold red")
        line.append(cut(keys, max(0, width - len(line))), style="dim")
        return line


class WatchView(App[str]):
    """All of them, until the user leaves."""

    CSS = "Screen { overflow: hidden; } #panels { overflow-y: auto; height: 1fr; }"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"press('{key}')", show=False, priority=True)
        for key in ("q", "ctrl+c", "ctrl+q", "escape", "space", "left", "right", "home", "end",
                    "plus", "minus")
    ]  # fmt: skip

    def __init__(self, source: Source, *, ansi_color: bool = True) -> None:
        super().__init__(ansi_color=ansi_color)
        self._source = source
        self._panels: list[PanelView] = []
        self._output: OutputView | None = None
        self._status = StatusLine(source)
        self._drawing: asyncio.AbstractEventLoop | None = None
        self._is_told = False

    def be_told(self) -> None:
        """Leave; may be called from the handler of a signal.

        An exception there would end whichever part of the view is at work: textual then waits for
        that part, or ends without giving the terminal back.
        """
        self._is_told = True
        if self._drawing is not None and not self._drawing.is_closed():
            self._drawing.call_soon_threadsafe(self.exit)

    def compose(self) -> ComposeResult:
        """Make the panels of the first look."""
        sight = self._source.look()
        self._panels = [] if sight is None else [PanelView(each) for each in sight.readings]
        yield Grid(*self._panels, id="panels")
        if self._source.output is not None:
            self._output = OutputView()
            yield self._output
        yield self._status

    def on_mount(self) -> None:
        """Begin to look, and to take in output as it comes."""
        self._drawing = asyncio.get_running_loop()
        if self._is_told:
            self.exit()
        with suppress(Exception):  # an older textual has no such theme
            self.theme = "textual-ansi"
        for seconds in _FIRST_LOOKS:
            self.set_timer(seconds, self.look)
        self.set_timer(self._source.interval_seconds, self._look_on)
        for stream, descriptor in (self._source.output or {}).items():
            asyncio.get_running_loop().add_reader(descriptor, self._take_in, stream, descriptor)

    def on_unmount(self) -> None:
        """Take in no more."""
        for descriptor in (self._source.output or {}).values():
            asyncio.get_running_loop().remove_reader(descriptor)

    def _follow_terminal(self) -> None:
        """Take the terminal's size anew: of two signals at one moment, one may be lost."""
        if self.is_headless or sys.__stderr__ is None:
            return
        try:
            size = Size(*os.get_terminal_size(sys.__stderr__.fileno()))  # where textual draws
        except (OSError, ValueError):
            return
        if size.area and size != self.size:
            self.post_message(Resize(size, size))

    def on_resize(self, event: Resize) -> None:
        """Share the terminal anew."""
        height = event.size.height - 1
        has_output = self._output is not None
        plan = layout(len(self._panels), event.size.width, height, has_output=has_output)
        grid = self.query_one("#panels", Grid)
        grid.styles.grid_size_columns = plan.columns
        grid.styles.grid_size_rows = plan.rows
        for panel, span in zip(self._panels, plan.spans, strict=True):
            panel.styles.column_span = span
        if self._output is not None:
            self._output.styles.height = plan.output_rows
            self._source.resize(event.size.width - _FRAME, plan.output_rows - _FRAME)

    def _look_on(self) -> None:
        self.look()
        self.set_timer(self._source.interval_seconds, self._look_on)

    def look(self) -> None:
        """Show what the panels show now."""
        self._follow_terminal()
        sight = self._source.look()
        if self._source.must_leave:
            self.exit()
        if sight is None:
            self._status.refresh()
            return
        readings = {each.panel: each for each in sight.readings}
        for view in self._panels:
            if view.panel in readings:
                view.show(readings[view.panel])
        for event in sight.events:
            self._status.tell(event)
            self.bell()
        if self._output is not None and not self._source.output:
            self._feed()
        self._status.refresh()

    def action_press(self, key: str) -> None:
        """Obey a key."""
        does = self._source.press(key)
        if does == "leave":
            self.exit(key)
        elif does == "redraw":
            for view in self._panels:
                view.begin_again(self._source.past())
            if self._output is not None:
                self._output.forget()
        self.look()

    def _take_in(self, stream: str, descriptor: int) -> None:
        parts: list[bytes] = []
        while sum(map(len, parts)) < _MOST_BYTES and (data := self._source.read(stream)):
            parts.append(data)
        if not parts:  # the last one has closed its end
            asyncio.get_running_loop().remove_reader(descriptor)
        elif self._output is not None:
            self._output.feed(b"".join(parts))

    def _feed(self) -> None:
        assert self._output is not None, "there is a program"
        for stream in ("stdout", "stderr"):
            data = self._source.read(stream)
            if data:
                self._output.feed(data)


def _veiled(line: Text) -> Text:
    """Return a line whose secrets are masked; colours between its letters hide none."""
    plain = veiled(line.plain)
    return line if plain == line.plain else Text(plain)


def show(source: Source) -> str | None:
    """Show a source until the user leaves; return the key that was pressed.

    The terminal is given back as it was, whatever ends the view, or whet.
    """
    guard = TerminalGuard()
    try:
        view = WatchView(source)
        guard.wait_until_ready()
        with holding_signals(view.be_told):
            return view.run()
    finally:
        guard.close()
