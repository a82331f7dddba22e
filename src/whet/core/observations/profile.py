"""Where a trial's time or memory went: stacks with what each cost, from whichever profiler, in one form."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum

from whet.core.failure import Frame
from whet.core.observations.timeline import Timeline
from whet.core.text.json_record import Record, sparse
from whet.core.value_class import value_class

CPU_SECONDS = "cpu_seconds"
"""Time in which a thread ran."""

SECONDS = "seconds"
"""Time in which a thread was there, whether it ran or waited."""

BYTES = "bytes"
"""Memory that was held at the peak."""

COUNT = "count"
"""How many allocations, calls or events it was."""

GPU_SECONDS = "gpu_seconds"
"""Time in which a GPU worked."""


@value_class(kw_only=True)
class Stack(Record):
    """One stack that a profiler saw, and what it cost.

    Attributes:
        frames: places in `Profile.frames`, outermost first.
        pid: the process.
        thread: the thread's name; empty: the main thread.
        numbers: what it cost, by name, such as `CPU_SECONDS`.
    """

    frames: tuple[int, ...]
    pid: int = sparse(0)
    thread: str = sparse("")
    numbers: Mapping[str, float] = field(default_factory=dict[str, float])

    def number(self, name: str) -> float:
        """Return one of its numbers; 0: the profiler saw none."""
        return self.numbers.get(name, 0.0)


@value_class(kw_only=True)
class ProfiledProcess(Record):
    """A process in a profile.

    Attributes:
        pid: its number.
        parent: that of the process that started it.
        name: its program, without its arguments.
        rank: its number in a distributed job (`RANK`); None: it has none.
        begun: when whet first saw it, in seconds since the command started.
        ended: when whet last saw it.
        cpu_seconds: its time on processors, as the kernel counts it; without its children's.
        busy_before: how long its main thread had run, or had been ready to, when the profiler began.
    """

    pid: int
    parent: int = 0
    name: str = ""
    rank: int | None = sparse(None)
    begun: float = sparse(0.0)
    ended: float = sparse(0.0)
    cpu_seconds: float = sparse(0.0)
    busy_before: float = sparse(0.0)


@value_class(kw_only=True)
class Compilation(Record):
    """A function that a compiler in the program has compiled once.

    Attributes:
        compiler: ``JAX`` or ``torch.compile``.
        function: its name.
        seconds: how long that took.
        path: JAX: the file of the user's line that called it; torch: that of the function.
        line: the line in it.
        caller: the user's function that called it; empty: not known.
        types: those of its arguments, such as ``float32[10,3]``; none: not known.
        reason: why an earlier version doesn't fit, in the compiler's words; empty: it gives none.
        pid: the process.
    """

    compiler: str
    function: str
    seconds: float
    path: str = sparse("")
    line: int = sparse(0)
    caller: str = sparse("")
    types: tuple[str, ...] = sparse(())
    reason: str = sparse("")
    pid: int = sparse(0)


class Obstacle(Enum):
    """Why a profiler saw nothing, or less than half."""

    MISSING = "missing"
    FORBIDDEN = "forbidden"
    DAMAGED = "damaged"
    UNREAD = "unread"


_REFUSALS = ("Permission", "permission", "perf_event_paranoid", "not permitted")


def refusal_in(words: str) -> Obstacle | None:
    """Return whether a profiler says that the system forbids it to look."""
    return Obstacle.FORBIDDEN if any(each in words for each in _REFUSALS) else None


@value_class(kw_only=True)
class Profile(Record):
    """What one profiler saw of one trial.

    Attributes:
        question: what was asked: ``cpu``, ``memory``, ``gpu``, ``gpu_memory`` or ``io``.
        engine: the profiler, such as ``py-spy 0.4.3``.
        unit: the number that ranks the lines, such as `CPU_SECONDS`.
        frames: each line that was seen, once.
        stacks: each stack that was seen, once for each thread.
        samples: how often the profiler looked; 0: it doesn't sample.
        rate: how often each second.
        seconds: how long the profiler watched.
        processes: those it saw, the first one first.
        facts: what else is known, such as ``cpu_seconds`` as the kernel counts it.
        timeline: what each thread did when.
        notes: what it could not see, in sentences.
        compilations: what JAX and torch compiled meanwhile.
        obstacle: why the profiler saw nothing or less than half, as far as it is known.
    """

    question: str
    engine: str
    unit: str
    frames: tuple[Frame, ...] = ()
    stacks: tuple[Stack, ...] = ()
    samples: int = 0
    rate: float = 0.0
    seconds: float = 0.0
    processes: tuple[ProfiledProcess, ...] = ()
    facts: Mapping[str, float] = field(default_factory=dict[str, float])
    timeline: Timeline = field(default_factory=Timeline)
    notes: tuple[str, ...] = ()
    compilations: tuple[Compilation, ...] = sparse(())
    obstacle: Obstacle | None = sparse(None)

    def total(self, name: str) -> float:
        """Return the sum of a number over all stacks."""
        return sum(each.number(name) for each in self.stacks)

    def lines_of(self, stack: Stack) -> Sequence[Frame]:
        """Return the frames of a stack, outermost first."""
        return [self.frames[number] for number in stack.frames]


@value_class(kw_only=True)
class Recording:
    """What profilers recorded of a trial, as they wrote it.

    Attributes:
        engine: the profiler and its version.
        rate: how often it was to look each second.
        running: the threads that ran, sample by sample; speedscope's JSON; or perf's script.
        present: all threads, also those that waited; Chrome's trace format.
        offset: when it began, in seconds since the command started.
        seconds: how long it watched.
        processes: those below the command.
        complaint: what it said; empty: nothing of interest.
        obstacle: why it recorded nothing, as far as it is known.
    """

    engine: str
    rate: float
    running: bytes = b""
    present: bytes = b""
    offset: float = 0.0
    seconds: float = 0.0
    processes: tuple[ProfiledProcess, ...] = ()
    complaint: str = ""
    obstacle: Obstacle | None = None
