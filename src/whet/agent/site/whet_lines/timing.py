"""Adds up the time, the count and the kept memory of each statement, in a file that whet reads.

What the counting itself costs is measured meanwhile, and subtracted.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import _thread
import os
import sys
from time import perf_counter as _now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    _Call = Callable[..., object]

SUFFIX = ".lines"
COLUMNS = 4
"""Of each statement: how often it ran, its seconds, how many marks these hold, the bytes it kept."""

HEAD = 4
"""In front of them: how many marks were met, the seconds that they took, what a mark takes beside, and how many
threads met one."""

_MAGIC_FOLDER = 0x57686574  # tags what is whet's own, see `whet.host.kernel.syscalls`
_NUMBER_BYTES = 8
_TRIES, _CALLS, _MARKS = 5, 60, 3
NONE = -1
_HIGH_DESCRIPTOR = 1003
_identify = _thread.get_ident


_gettrace, _settrace = sys.gettrace, sys.settrace


class TimeMark:
    """Stands in code in front of a statement."""

    __slots__ = ("_met",)

    def __init__(self, met: Callable[[Any], object]) -> None:
        self._met = met

    def __call__(self, frame: Any = None, value: object = None) -> object:
        """Tell that Python has come here.

        Args:
            frame: what `enter` returned in this frame; None: it is the module's own.
            value: what is handed over on the way; it is returned.
        """
        tracer = _gettrace()
        if tracer is not None:
            _settrace(None)  # a debugger, or a measure of coverage, isn't to see what whet does
        made = self._met(frame)
        if tracer is not None and _gettrace() is None:
            _settrace(tracer)
        return value if made is None else made

    def __reduce__(self) -> tuple[Any, ...]:
        """Be a function that does nothing where code is pickled for another machine."""
        return eval, ("lambda frame=None, value=None: value",)


class Frame:
    """One frame of the program, and the statement that runs in it.

    It stands in a variable of the frame itself: to ask Python for the frame is audited, and with the
    hooks of whet's agent that takes longer than all the rest.
    """

    __slots__ = ("is_outermost", "marks", "memory", "number", "overhead", "since", "thread")

    def __init__(self) -> None:
        self.number = NONE
        self.thread: _Thread
        self.is_outermost = True
        self.memory = 0
        self.overhead = 0.0
        self.marks = 0
        self.since = 0.0


class _Thread:
    """What whet's marks have cost one thread, and which statements run in it."""

    __slots__ = ("depths", "marks", "overhead")

    def __init__(self) -> None:
        self.overhead = 0.0
        self.marks = 0
        self.depths: dict[int, int] = {}


class Timing:
    """The times of one process; a forked one begins anew."""

    def __init__(self, folder: str, count: int) -> None:
        self._folder = folder
        self._count = count
        self._module = Frame()
        self._threads: dict[int, _Thread] = {}
        self._memory = _Memory()
        self.table: Any = [0.0] * (HEAD + COLUMNS * count)
        self._beside = self._cost()
        self._begin_file()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_anew)

    def mark(self, kind: str, number: int) -> TimeMark:
        """Return what tells of a statement.

        Args:
            kind: ``enter``: a frame begins, ``at``: a statement does, ``head``: its head runs again, after
                its body; ``resume``: a generator resumes it; ``leave``: it ends, for now or for good.
            number: the statement's.
        """
        if kind == "enter":
            return TimeMark(lambda _: Frame())
        if kind == "leave":
            return TimeMark(self._leave)
        return TimeMark(self._opens(number, 1.0 if kind == "at" else 0.0))

    def _opens(self, number: int, counts: float) -> Callable[[Frame | None], None]:
        place = HEAD + COLUMNS * number
        threads, now, memory = self._threads, _now, self._memory

        def met(given: Frame | None) -> None:
            came = now()
            held = memory.now()
            thread = threads.get(_identify())
            if thread is None:
                thread = threads[_identify()] = _Thread()
                self.table[3] = float(len(threads))
            frame = self._module if given is None else given
            if frame.number >= 0:
                self._close(frame, thread, came, held)
            self.table[place] += counts
            depth = thread.depths.get(number, 0)
            thread.depths[number] = depth + 1
            frame.number, frame.thread, frame.is_outermost = number, thread, depth == 0
            frame.memory = held
            thread.marks += 1
            left = now()
            took = left - came
            thread.overhead += took
            self.table[0] += 1.0
            self.table[1] += took
            frame.overhead, frame.marks, frame.since = thread.overhead, thread.marks, left

        return met

    def _leave(self, given: Frame | None) -> None:
        came = _now()
        frame = self._module if given is None else given
        if frame.number < 0:
            return
        thread = self._threads.get(_identify(), frame.thread)
        self._close(frame, thread, came, self._memory.now())
        frame.number = NONE
        thread.marks += 1
        took = _now() - came
        thread.overhead += took
        self.table[0] += 1.0
        self.table[1] += took

    def _close(self, frame: Frame, thread: _Thread, came: float, held: int) -> None:
        """Add what a statement took; of one that calls itself, only the outermost call counts."""
        of, number = frame.thread, frame.number
        of.depths[number] = of.depths.get(number, 1) - 1
        if not frame.is_outermost:
            return
        seconds, marks = came - frame.since, 1
        if of is thread:
            seconds -= thread.overhead - frame.overhead
            marks += thread.marks - frame.marks
        place = HEAD + COLUMNS * number
        self.table[place + 1] += max(seconds, 0.0)
        self.table[place + 2] += marks
        self.table[place + 3] += held - frame.memory

    # ---- the cost of a mark ----

    def _cost(self) -> float:
        """Return what a mark takes beside what it measures of itself: its call, and its frame."""
        if not self._count:
            return 0.0
        enter, at, leave = (self.mark(kind, 0) for kind in ("enter", "at", "leave"))
        found: list[float] = []
        for _ in range(_TRIES):
            measured, begun = self.table[1], _now()
            for _ in range(_CALLS):
                _marked(enter, at, leave)
            with_marks = _now() - begun - (self.table[1] - measured)
            begun = _now()
            for _ in range(_CALLS):
                _marked(_nothing, _nothing, _nothing)
            found.append((with_marks - (_now() - begun)) / (_CALLS * _MARKS))
        self._module.number = NONE
        self._threads.clear()
        self.table = [0.0] * len(self.table)
        return max(sorted(found)[_TRIES // 2], 0.0)

    # ---- the file ----

    def _begin_anew(self) -> None:
        """Let a forked process count what it does itself, and nothing of before."""
        self._memory = _Memory()
        self.table = [0.0] * len(self.table)
        self._module.number = NONE
        self._threads.clear()
        self._begin_file()

    def _begin_file(self) -> None:
        import mmap

        size = len(self.table) * _NUMBER_BYTES
        path = os.path.join(self._folder, "{}{}".format(os.getpid(), SUFFIX))
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, 0o600, dir_fd=_MAGIC_FOLDER)
        except OSError:
            return
        try:
            # All of it is there: a hole that can't be filled would kill the program (SIGBUS).
            os.posix_fallocate(descriptor, 0, size)
            self.table = memoryview(mmap.mmap(descriptor, size)).cast("d")
            self.table[2] = self._beside
        except OSError:
            pass
        finally:
            os.close(descriptor)


def _marked(enter: _Call, at: _Call, leave: _Call) -> None:
    """Do what a function with two statements does."""
    frame = enter()
    try:
        at(frame)
        at(frame)
    finally:
        leave(frame)


def _nothing(_frame: object = None) -> object:
    """Take what a call takes."""


class _Memory:
    """The resident memory of this process."""

    def __init__(self) -> None:
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._descriptor = -1
        try:
            first = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            os.fstat(_HIGH_DESCRIPTOR)
        except OSError:  # free: no program looks there that counts its files from below
            try:
                self._descriptor = os.dup2(first, _HIGH_DESCRIPTOR, inheritable=False)
            except OSError:  # beyond what the limits allow
                self._descriptor = first
            else:
                os.close(first)
        else:
            self._descriptor = first

    def now(self) -> int:
        try:
            return int(os.pread(self._descriptor, 64, 0).split(None, 2)[1]) * self._page
        except (OSError, ValueError, IndexError):
            return 0  # it isn't there, or the program has closed it
