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
from .gauges import Gauges, more_objects, objects_now
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

LISTENERS: list[Callable[[str], None]] = []
"""What is called with the name of a section that begins, before it is measured: `whet leak` looks there."""

_NO_WORDS = (None, None, None, None)
_SUFFIX = ".sections"
_RECORDER = "whet.sections"
_MOST_ENDED = 5
_VERSION = 1
_MOST_SPANS, _MOST_NAMES, _MOST_RANGES = 5000, 1000, 10_000
_SHARE, _LEAST_NANOSECONDS = 100, 50_000_000  # sums are at least this far behind


class Sums:
    """What all runs of the sections of one name come to in this process."""

    __slots__ = (
        "count", "cpu", "cpu_before", "encoded", "is_unwritten", "kept", "more", "nanoseconds",
        "open", "peak", "resident_before",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.encoded = encoded(name)
        self.count = self.nanoseconds = self.cpu = self.kept = self.open = 0
        self.peak = UNKNOWN
        self.cpu_before = self.resident_before = 0
        self.is_unwritten = False
        self.more: dict[str, tuple[int, int]] = {}

    def add(self, name: str, most: int, change: int) -> None:
        """Add what a gauge says of a run."""
        peak, kept = self.more.get(name, (UNKNOWN, 0))
        self.more[name] = max(peak, most), kept + change

    def begin(self, cpu: int, resident_bytes: int) -> None:
        """Begin a run, at this CPU time of the process and with this memory."""
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
        """Return them as a line has them; `highest`: the most memory of the process so far."""
        words = b"%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s" % (
            self.count, self.open, self.nanoseconds, self.cpu, self.peak, self.kept, highest,
            self.encoded,
        )  # fmt: skip
        if not self.more:
            return words + b"\t"
        pairs = (b"%s,%d,%d" % (name.encode(), *both) for name, both in self.more.items())
        return words + b"\t" + b";".join(pairs)


class Span:
    """One run of a section, while it is open."""

    __slots__ = (
        "began", "gauges", "here", "is_open", "is_outermost", "line", "name", "names", "number",
        "objects", "parent", "process", "resident_bytes", "start", "sums",
    )  # fmt: skip

    def __init__(self, process: Process, here: tuple[int, object]) -> None:
        """Make it.

        Args:
            process: the process in which it began.
            here: the thread and the task.
        """
        self.process = process
        self.name = ""
        self.sums = _NO_SUMS  # of a section: those of its name
        self.line: tuple[bytes, bytes, bytes] | None = None  # of a range: what it was written as
        self.gauges: list[Any] = []
        self.objects: dict[str, int] | None = None
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


_NO_SUMS = Sums("")
_CURRENT: ContextVar[Span | None] = ContextVar("whet_section", default=None)


class Process:
    """What is recorded in one process.

    Attributes:
        pid: its number; a forked copy has another one, and a record of its own.
    """

    def __init__(self, folder: str) -> None:
        """Begin a record.

        Args:
            folder: where its file is; empty: it has none, and only its sums are of use.
        """
        self._folder = folder
        self._lock = RLock()
        self._opened: dict[Span, None] = {}
        self._is_known = not folder
        self._start()

    def _start(self) -> None:
        self.pid = os.getpid()
        self._main_thread = UNKNOWN
        # Two processes of two namespaces may have one number.
        name = "{}-{:x}{}".format(self.pid, time.monotonic_ns(), _SUFFIX)
        self._log = Descriptor(
            os.path.join(self._folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND
        )
        self._sums: dict[str, Sums] = {}
        self._usage = Usage()
        self._peaks = Peaks(self._usage.reset)
        self._gauges = Gauges()
        self._spans = self._sections = self._ranges = self._left_out = 0
        self._due = time.monotonic_ns()
        self._began = self._due

    def make_known(self) -> None:
        """Begin its file, and tell whoever has to know of it; once."""
        with self._lock:
            if self._is_known:
                return
            self._is_known = True
            self._write(b"\nprocess\t%d\t.", _VERSION)
        _at_end(self.flush)
        sys.audit(_RECORDER, self)  # whoever freezes copies of this process has a word to say

    def begin(self, name: str, *, objects: bool = False) -> Span:
        """Begin a section in this thread and task; `objects`: count Python's objects, too."""
        for hear in LISTENERS:
            hear(name)
        span = Span(self, here_now())
        span.name = name
        span.stand_in(self._around(span.here), name)
        if objects:  # whet's own objects are there before it counts: they aren't the section's
            with self._lock:
                _ = self._sums.get(name) or self._new_sums(name)
            _CURRENT.set(_CURRENT.get())
            span.objects = objects_now()
        with self._lock:
            self._begin(span)
        _CURRENT.set(span)
        span.start = time.monotonic_ns()  # last: what this costs is not the section's
        return span

    def _begin(self, span: Span) -> None:
        sums = self._sums.get(span.name) or self._new_sums(span.name)
        level, mark, cpu = self._usage.read()
        is_alone = not self._opened
        span.sums, span.resident_bytes = sums, level
        span.began = self._peaks.begin(level, mark, is_alone=is_alone)
        span.gauges = self._gauges.begin(is_alone=is_alone)
        sums.begin(cpu, level)
        self._opened[span] = None
        if self._sections < _MOST_SPANS and sums.encoded:
            self._sections += 1
            self._write_begin(span, sums.encoded, b"section")

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
        now = None if span.objects is None else objects_now()
        with self._lock:
            level, mark, cpu = self._usage.read()
            peak = self._peaks.end(span.began, mark)
            nanoseconds, sums = stopped - span.start, span.sums
            sums.end(nanoseconds, (cpu, level, peak), is_outermost=span.is_outermost)
            self._opened.pop(span, None)
            more = self._gauges.end(span.gauges)
            if span.objects is not None and now is not None:
                count, kinds = more_objects(span.objects, now)
                more = [*more, ("objects", UNKNOWN, count)]
                self._write(b"\nobjects\t%d\t%s\t.", span.number, encoded(kinds))
            for name, most, change in more:
                sums.add(name, most, change)
            if span.number >= 0:
                kept = level - span.resident_bytes
                words = sums.words(self._peaks.highest)
                own = b"".join(
                    b"\t%s,%d,%d" % (n.encode(), most, change) for n, most, change in more
                )
                self._write(
                    b"\nend\t%d\t%d\t%d\t%d\t%s%s\t.",
                    span.number,
                    nanoseconds,
                    peak,
                    kept,
                    words,
                    own,
                )
            else:
                sums.is_unwritten = True
                if stopped > self._due:
                    self.flush()

    def begin_range(self, name: str, source: str, words: Words = _NO_WORDS) -> Span | None:
        """Begin a range in this thread and task, of which only the time is kept; None: not even that."""
        here = here_now()
        with self._lock:
            if self._ranges >= _MOST_RANGES:
                self._leave_out()
                return None
            self._ranges += 1
            span = Span(self, here)
            span.stand_in(self._around(here))
            span.line = encoded(name), encoded(source), encoded_words(words)
            self._opened[span] = None
            self._write_begin(span, *span.line)
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
                self._opened.pop(span, None)
                self._write(b"\nover\t%d\t%d\t.", span.number, stopped - span.start)

    def mark(self, name: str, words: Words) -> None:
        """Note a moment."""
        with self._lock:
            if self._ranges >= _MOST_RANGES:
                self._leave_out()
                return
            self._ranges += 1
            now, place = time.monotonic_ns(), encoded_place(here_now())
            self._write(
                b"\nmark\t%d\t%s\t%s\t%s\t.", now, encoded(name), place, encoded_words(words)
            )

    def _leave_out(self) -> None:
        self._left_out += 1
        if time.monotonic_ns() > self._due:
            self.flush()

    def _write_begin(self, span: Span, name: bytes, source: bytes, words: bytes = b"") -> None:
        span.number = self._spans
        self._spans += 1
        parent = UNKNOWN if span.parent is None else span.parent.number
        ident, task = span.here
        if ident == self._main_thread and task is None:
            place = b"\t"
        else:
            place = encoded_place(span.here)
            if place == b"\t" and "threading" in sys.modules:
                self._main_thread = ident
        self._write(
            b"\nbegin\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t.",
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
                self._write(b"\nsums\t%s\t.", sums.words(self._peaks.highest))
            if self._left_out:
                self._write(b"\nleft out\t%d\t.", self._left_out)
            now = time.monotonic_ns()
            # Ever more seldom, and more so with many names: the file stays small.
            pause = max(_LEAST_NANOSECONDS, (now - self._began) // _SHARE)
            self._due = now + pause * (1 + len(unwritten) // _SHARE)

    def rest(self) -> None:
        """Hold no file open: this process is about to be copied, or was."""
        self._log.close()
        self._usage.close()

    def resume(self) -> None:
        """Be the record of a run that has resumed from a frozen copy: it begins here.

        What was open when the copy was made is open here, from now on.
        """
        if self.pid == os.getpid():
            return
        with self._lock:
            ended = [each.encoded for each in self._sums.values() if each.count]
            opened, self._opened = self._opened, {}
            self._start()
            _PROCESSES.clear()
            _PROCESSES[self.pid] = self
            self._write(b"\nresumed\t%s\t.", b"\t".join(ended[:_MOST_ENDED]))
            for span in opened:
                if span.line is None:
                    self._begin(span)
                else:
                    self._opened[span] = None
                    self._ranges += 1
                    self._write_begin(span, *span.line)
                span.start = time.monotonic_ns()

    def _new_sums(self, name: str) -> Sums:
        if len(self._sums) >= _MOST_NAMES:
            name = ""  # all further names together
        return self._sums.setdefault(name, Sums(name))

    def _write(self, line: bytes, *values: object) -> None:
        if not self._folder:
            return
        # Each begins a line of its own, also after one that a full disk has cut off, and says where
        # it ends.
        try:
            os.write(self._log.number(), line % values)
        except OSError:
            pass  # the trial is over, or the disk is full: the program is what matters


# One for whet and for a file that stands alone: there is one high-water mark for both. By the
# number of the process: of several threads that come first, one wins.
_PROCESSES: dict[int, Process] = sys.__dict__.setdefault("_whet_sections_{}".format(_VERSION), {})


def process_now() -> Process:
    """Return what is recorded of this process, which may be a copy of another one."""
    pid = os.getpid()
    mine = _PROCESSES.get(pid)
    if mine is None:
        mine = _PROCESSES.setdefault(pid, Process(FOLDER))
        mine.make_known()
        for other in [each for each in _PROCESSES if each != pid]:
            copied = _PROCESSES.pop(other, None)
            if copied is not None:
                copied.rest()  # a fork has handed its files on
    return mine


def _at_end(flush: Callable[[], None]) -> None:
    import atexit

    atexit.register(flush)
    processes: Any = sys.modules.get("multiprocessing.util")
    if processes is not None:  # such a process ends without what is registered
        processes.Finalize(None, flush, exitpriority=0)
