"""whet's own terminal, streams and signals, lent to the program that `whet run` runs."""

import os
import signal
import stat
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

from whet.host.process.control import Control
from whet.host.process.ending import be_told
from whet.host.process.nonblocking_writer import NonblockingWriter
from whet.host.process.terminal import Terminal

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_ENDS = (signal.SIGTERM, signal.SIGHUP)
_OWN = (signal.SIGWINCH, signal.SIGTSTP)

_STDIN, _STDOUT, _STDERR = 0, 1, 2

Previous = Callable[[int, FrameType | None], object] | int | None


@dataclass(slots=True)
class Progress:
    """How far the program has come that a console shows; whoever watches it looks here.

    Attributes:
        pid: its number; 0: it has not started.
        began: when it started, in seconds of `time.monotonic`.
        stream_bytes: how much has come of each of its streams, by name.
    """

    pid: int = 0
    began: float = 0.0
    stream_bytes: dict[str, int] = field(default_factory=dict[str, int])


class Console:
    """Where a program's output is shown, live and byte for byte, while it is captured.

    If whet's standard output is a terminal, so is the program's: one pseudo-terminal for its
    input and output, a second one for its standard error, so that the two stay apart. What
    the terminal echoes of the user's typing is part of the captured standard output, as it is
    for `script`. Signals that whet is sent go to the program (`listen`).

    Attributes:
        stdin: descriptor of whet's own standard input.
        stdout: where standard output is shown.
        stderr: where standard error and the output of reset steps are shown.
        terminal: the user's terminal if standard output is one.
        is_interactive: the user's keys go to the program: standard input is a terminal too,
            and whet is in its foreground.
        is_shown: the user sees the program, and it gets the user's keys and signals.
        is_one_place: both streams are shown in one terminal, or go into one pipe or file.
        joins_errors: programs get one stream for both there, so that they are shown in the order in
            which they are written; the errors are part of the captured standard output then.
        progress: how far the program has come.
    """

    def __init__(self, stdin: int = 0, stdout: int = 1, stderr: int = 2) -> None:
        self.stdin = stdin
        self.stdout = NonblockingWriter(stdout)
        self.stderr = NonblockingWriter(stderr)
        # Started with a stream closed (`>&-`), whet's next open file got its number.
        if stdout == _STDOUT and sys.__stdout__ is None:
            self.stdout.give_up()
        if stderr == _STDERR and sys.__stderr__ is None:
            self.stderr.give_up()
        if stdin == _STDIN and sys.__stdin__ is None:
            self.stdin = stdin = -1
        self.is_one_place = not self.stdout.is_broken and _is_one_place(stdout, stderr)
        self.joins_errors = False
        if self.is_one_place:
            self.stderr = self.stdout  # a slow reader gets what waits in the order in which it came
        self.terminal: Terminal | None = None
        self.is_interactive = False
        self.shows_errors_in_terminal = False
        if not self.stdout.is_broken and os.isatty(stdout):
            self.shows_errors_in_terminal = not self.stderr.is_broken and os.isatty(stderr)
            own = Terminal(stdin if _is_terminal(stdin) else stdout)
            self.terminal = own
            self.is_interactive = _is_terminal(stdin) and own.is_ours
        self.is_shown = True
        self.progress = Progress()
        self._previous: dict[int, Previous] = {}
        self._control: Control | None = None
        self._told = 0
        self._at_end: Callable[[], None] | None = None
        self._is_stopping = False

    def silent(self) -> "Console":
        """Return another one, in which a program finds the same but stays unseen and unheard."""
        silent = Console(self.stdin, self.stdout.descriptor, self.stderr.descriptor)
        silent.is_interactive = self.is_interactive
        silent.shows_errors_in_terminal = self.shows_errors_in_terminal
        silent.joins_errors = self.joins_errors
        silent.is_shown = False
        silent.stdout.give_up()
        silent.stderr.give_up()
        return silent

    @property
    def has_file(self) -> bool:
        """Whether standard input is a plain file, which each run could read from its start."""
        try:
            return self.stdin >= 0 and stat.S_ISREG(os.fstat(self.stdin).st_mode)
        except OSError:
            return False

    def outlet_of(self, name: str) -> NonblockingWriter:
        """Return where the stream ``name`` is shown."""
        return self.stdout if name == "stdout" else self.stderr

    @property
    def shown_at(self) -> int:
        """When something was last shown, in nanoseconds; 0: never."""
        return max(self.stdout.wrote_at, self.stderr.wrote_at)

    def at_end(self, tell: Callable[[], None]) -> None:
        """Have something said when the program has ended that is shown now, by another thread."""
        self._at_end = tell

    def finish(self) -> None:
        """Say what was to be said at the end of a program, on a line of its own."""
        self._end_line()
        tell, self._at_end = self._at_end, None
        if tell is not None:
            tell()

    def _end_line(self) -> None:
        """End the line that a program has left unfinished in the terminal that whet talks to."""
        if not self.is_shown or self.stderr.is_broken or not os.isatty(self.stderr.descriptor):
            return
        outlets = (self.stdout, self.stderr) if self.shows_errors_in_terminal else (self.stderr,)
        if max(outlets, key=lambda nonblocking_writer: nonblocking_writer.wrote_at).is_in_line:
            self.stderr.push(memoryview(b"\n"))

    def listen(self) -> None:
        """Send on the signals that whet gets, from now until `unlisten`; main thread only.

        A signal that was ignored when whet started (`nohup`) stays ignored.
        """
        if (
            not self.is_shown
            or self._previous
            or threading.current_thread() is not threading.main_thread()
        ):
            return
        for number in (*_FORWARDED, *_OWN):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, self._on_signal)

    def unlisten(self) -> None:
        """Let signals do what they did before `listen`."""
        if threading.current_thread() is threading.main_thread():
            for number, previous in self._previous.items():
                signal.signal(number, previous)
            self._previous.clear()

    def lend_to(self, control: Control | None) -> None:
        """Send signals to this trial from now on; None: to none."""
        self._control = control
        self._is_stopping = False

    def send(self, number: int) -> None:
        """Pass a signal on to the program that is shown now, as if whet had received it."""
        if self._control is not None:
            self._control.ask(number)

    def end_if_told(self) -> None:
        """End whet if it was told to while it ran a program, which was told instead.

        For whoever would run another one: that nobody wants any more.
        """
        number, self._told = self._told, 0
        if number:
            be_told(number)

    def stop_whet(self) -> None:
        """Stop whet itself as Ctrl-Z does, once the program is stopped; then send SIGCONT."""
        self._is_stopping = True
        os.kill(os.getpid(), signal.SIGTSTP)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        control = self._control
        if number == signal.SIGTSTP and (control is None or self._is_stopping):
            self._is_stopping = False
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)  # whet stands still in this line until it is continued
            signal.signal(number, self._on_signal)
            if control is not None:
                control.ask(signal.SIGCONT)
        elif control is not None:
            self._told = number if number in _ENDS else self._told
            control.ask(number)
        else:
            self._as_before(number, frame)

    def _as_before(self, number: int, frame: FrameType | None) -> None:
        previous = self._previous.get(number)
        if callable(previous):
            previous(number, frame)
        elif number != signal.SIGWINCH:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


def _is_one_place(stdout: int, stderr: int) -> bool:
    try:
        first, second = os.fstat(stdout), os.fstat(stderr)
    except OSError:  # one of them is closed
        return False
    is_null = stat.S_ISCHR(first.st_mode) and not os.isatty(stdout)
    return os.path.samestat(first, second) and not is_null


def _is_terminal(descriptor: int) -> bool:
    return descriptor >= 0 and os.isatty(descriptor)
