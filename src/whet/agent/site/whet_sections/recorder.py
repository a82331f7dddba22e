"""What one process records of its sections: a line for each, and the sums of each name.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys
import time
from _thread import RLock
from contextvars import ContextVar

from .descriptors import Descriptor
from .memory import UNKNOWN, Peaks, Usage
from .places import encoded, encoded_place, encoded_words, here_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Optional, Union

    Word = Optional[Union[str, int, float]]
    Words = tuple[Word, Word, Word, Word]

FOLDER = os.environ.get("WHET_AGENT", "")
"""Where whet reads what the processes of a trial have left; empty: no whet runs this program."""

_NO_WORDS = (None, None, None, None)
_SUFFIX = ".sections"
_VERSION = 1
_MOST_SPANS, _MOST_NAMES, _MOST_RANGES = 5000, 1000, 10_000
_SHARE, _LEAST_NANOSECONDS = 100, 50_000_000  # sums are at least this far behind


class _Sums:
    """What all runs of the sections of one name come to in this process."""

    __slots__ = (
        "count", "cpu", "cpu_before", "encoded", "is_unwritten", "kept", "nanoseconds", "open",
        "peak", "resident_before",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.encoded = encoded(name)
        self.count = self.nanoseconds = self.cpu = self.kept = self.open = 0
        self.peak = UNKNOWN
        self.cpu_before = self.resident_before = 0
        self.is_unwritten = False

    def begin(self, cpu: int, resident_bytes: int) -> None:
        # Runs that overlap, in threads say, share what the process uses: it counts once.
        if not self.open:
            self.cpu_before, self.resident_before = cpu, resident_bytes
        self.open += 1

    def end(self, nanoseconds: int, usage: tuple[int, int, int], *, is_outermost: bool) -> None:
        """Add a run; `usage`: CPU time of the process, its memory, and the most that it was."""
        cpu, resident_bytes, peak = usage
        self.open -= 1
        self.count += 1
        self.nanoseconds += nanoseconds if is_outermost else 0
        self.peak = max(self.peak, peak)
        if not self.open:
            self.cpu += cpu - self.cpu_before
            self.kept += resident_bytes - self.resident_before

    def words(self, highest: int) -> bytes:
        return b"%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s" % (
            self.count, self.open, self.nanoseconds, self.cpu, self.peak, self.kept, highest,
            self.encoded,
        )  # fmt: skip


class Span:
    """One run of a section, while it is open."""

    __slots__ = (
        "began", "here", "is_open", "is_outermost", "names", "number", "parent", "process",
        "resident_bytes", "start", "sums",
    )  # fmt: skip

    def __init__(self, process: _Process, sums: _Sums, here: tuple[int, object]) -> None:
        """Make it.

        Args:
            process: the process in which it began.
            sums: those of its name.
            here: the thread and the task.
        """
        self.process = process
        self.sums = sums  # of a range: none are used
        self.here = here
        self.parent: Span | None = None
        self.names: frozenset[str] = frozenset()
        self.is_outermost = self.is_open = True
        self.number = UNKNOWN
        self.start = 0
        self.began: tuple[int, int] = (0, 0)
        self.resident_bytes = UNKNOWN

    def stand_in(self, around: Span | None, name: str = "") -> None:
        """Stand in another one: its time counts once if that has the same name."""
        self.parent = around
        if not name:
            self.names = frozenset() if around is None else around.names
            return
        if around is None:
            self.names = frozenset((name,))
            return
        self.is_outermost = name not in around.names
        self.names = around.names | {name} if self.is_outermost else around.names


_NO_SUMS = _Sums("")
_CURRENT: ContextVar[Span | None] = ContextVar("whet_section", default=None)


class _Process:
    """What is recorded in one process.

    Attributes:
        pid: its number; a forked copy has another one, and a record of its own.
    """

    def __init__(self, folder: str) -> None:
        self.pid = os.getpid()
        self._lock = RLock()
        # Two processes of two namespaces may have one number.
        name = "{}-{:x}{}".format(self.pid, time.monotonic_ns(), _SUFFIX)
        self._log = Descriptor(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._sums: dict[str, _Sums] = {}
        self._usage = Usage()
        self._peaks = Peaks(self._usage.reset)
        self._spans = self._sections = self._ranges = self._left_out = self._open = 0
        self._due = time.monotonic_ns()
        self._began = self._due
        self._write(b"process\t%d\t%d", _VERSION, self.pid)
        _at_end(self.flush)

    def begin(self, name: str) -> Span:
        """Begin a section in this thread and task."""
        here = here_now()
        with self._lock:
            sums = self._sums.get(name) or self._new_sums(name)
            span = Span(self, sums, here)
            span.stand_in(self._around(here), name)
            level, mark, cpu = self._usage.read()
            span.resident_bytes = level
            span.began = self._peaks.begin(level, mark, is_alone=not self._open)
            sums.begin(cpu, level)
            self._open += 1
            if self._sections < _MOST_SPANS and sums.encoded:
                self._sections += 1
                self._write_begin(span, sums.encoded, b"section")
        _CURRENT.set(span)
        span.start = time.monotonic_ns()  # last: what this costs is not the section's
        return span

    def end(self, span: Span, stopped: int) -> None:
        """End a section.

        Args:
            span: what `begin` returned.
            stopped: when it ended.
        """
        span.is_open = False
        if _CURRENT.get() is span:
            _CURRENT.set(span.parent)
        if self.pid != os.getpid():
            return  # it was forked inside of it: the section is its parent's
        with self._lock:
            level, mark, cpu = self._usage.read()
            peak = self._peaks.end(span.began, mark)
            nanoseconds, sums = stopped - span.start, span.sums
            sums.end(nanoseconds, (cpu, level, peak), is_outermost=span.is_outermost)
            self._open -= 1
            if span.number >= 0:
                kept = level - span.resident_bytes
                words = sums.words(self._peaks.highest)
                self._write(b"end\t%d\t%d\t%d\t%d\t%s", span.number, nanoseconds, peak, kept, words)
            else:
                sums.is_unwritten = True
                if stopped > self._due:
                    self.flush()

    def begin_range(self, name: str, source: str, words: Words = _NO_WORDS) -> Span | None:
        """Begin a range in this thread and task, of which only the time is kept; None: not even that."""
        here = here_now()
        with self._lock:
            span = Span(self, _NO_SUMS, here)
            span.stand_in(self._around(here))
            if self._ranges >= _MOST_RANGES:
                self._leave_out()
                return None
            self._ranges += 1
            self._write_begin(span, encoded(name), encoded(source), encoded_words(words))
        _CURRENT.set(span)
        span.start = time.monotonic_ns()
        return span

    def end_range(self, span: Span, stopped: int) -> None:
        """End a range; the arguments are as of `end`."""
        span.is_open = False
        if _CURRENT.get() is span:
            _CURRENT.set(span.parent)
        if self.pid == os.getpid():
            with self._lock:
                self._write(b"over\t%d\t%d", span.number, stopped - span.start)

    def mark(self, name: str, words: Words) -> None:
        """Note a moment."""
        with self._lock:
            if self._ranges >= _MOST_RANGES:
                self._leave_out()
                return
            self._ranges += 1
            now, place = time.monotonic_ns(), encoded_place(here_now())
            self._write(b"mark\t%d\t%s\t%s\t%s", now, encoded(name), place, encoded_words(words))

    def _leave_out(self) -> None:
        self._left_out += 1
        if time.monotonic_ns() > self._due:
            self.flush()

    def _write_begin(self, span: Span, name: bytes, source: bytes, words: bytes = b"") -> None:
        span.number = self._spans
        self._spans += 1
        parent = UNKNOWN if span.parent is None else span.parent.number
        place = encoded_place(span.here)
        self._write(
            b"begin\t%d\t%d\t%d\t%s\t%s\t%s\t%s",
            span.number, parent, time.monotonic_ns(), name, place, source, words,
        )  # fmt: skip

    def _around(self, here: tuple[int, object]) -> Span | None:
        """Return the innermost section that is open in this thread and task."""
        span = _CURRENT.get()
        while span is not None and not (span.is_open and span.here == here):
            span = span.parent
        # What was open when this process was forked belongs to another one.
        return span if span is not None and span.process is self else None

    def flush(self) -> None:
        """Write the sums that are not yet written."""
        if self.pid != os.getpid():
            return
        with self._lock:
            unwritten = [each for each in self._sums.values() if each.is_unwritten]
            for sums in unwritten:
                sums.is_unwritten = False
                self._write(b"sums\t%s", sums.words(self._peaks.highest))
            if self._left_out:
                self._write(b"left out\t%d", self._left_out)
            now = time.monotonic_ns()
            # Ever more seldom, and more so with many names: the file stays small.
            pause = max(_LEAST_NANOSECONDS, (now - self._began) // _SHARE)
            self._due = now + pause * (1 + len(unwritten) // _SHARE)

    def close(self) -> None:
        """Give back what a fork has handed on."""
        self._log.close()
        self._usage.close()

    def _new_sums(self, name: str) -> _Sums:
        if len(self._sums) >= _MOST_NAMES:
            name = ""  # all further names together
        return self._sums.setdefault(name, _Sums(name))

    def _write(self, line: bytes, *values: object) -> None:
        # It begins a line of its own, also after one that a full disk has cut off, and says where
        # it ends.
        data = b"\n%s\t." % (line % values)
        try:
            os.write(self._log.number(), data)
        except OSError:
            pass  # the trial is over, or the disk is full: the program is what matters


_PROCESS: list[_Process] = []


def process_now() -> _Process:
    """Return what is recorded of this process, which may be a copy of another one."""
    if _PROCESS and _PROCESS[-1].pid == os.getpid():
        return _PROCESS[-1]
    mine = _Process(FOLDER)
    for other in _PROCESS:
        other.close()
    _PROCESS[:] = [mine]
    return mine


def _at_end(flush: Callable[[], None]) -> None:
    import atexit

    atexit.register(flush)
    processes: Any = sys.modules.get("multiprocessing.util")
    if processes is not None:  # such a process ends without what is registered
        processes.Finalize(None, flush, exitpriority=0)
