"""What whet, its spawner and their helpers say to each other, as named tuples; imports next to nothing.

`plain` makes of them what `marshal` takes, and the functions named `as_…` read that again. Both ends
are the same whet: what is broken can't come from the other one.
"""

from __future__ import annotations

import marshal

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NamedTuple, Self, TypeVar

    from whet.host.files.marks import Listing, Mark
    from whet.host.limits.enforcer import Order

    MessageT = TypeVar("MessageT")
else:

    class NamedTuple(tuple):
        """`typing.NamedTuple`, as far as messages need it."""

        __slots__ = ()

        def __init_subclass__(cls) -> None:
            cls._fields = tuple(cls.__annotations__)
            cls._usual = {name: vars(cls)[name] for name in cls._fields if name in vars(cls)}
            for number, name in enumerate(cls._fields):
                setattr(cls, name, property(lambda self, number=number: self[number]))

        def __new__(cls, *values: object, **named: object) -> Self:
            """Return a tuple of the values, missing ones by default."""
            fields = {**cls._usual, **named}
            rest = (fields[name] for name in cls._fields[len(values) :])
            return cls._make((*values, *rest))

        @classmethod
        def _make(cls, values: Iterable[object]) -> Self:
            return tuple.__new__(cls, values)


Exit = tuple[int, "int | None", bool]
"""Process, wait status (None: it could not be killed), whether it was left behind."""


class Freezing(NamedTuple):
    """How a program has to do with frozen copies."""

    address: str = ""  # where frozen copies of it report; empty: none are taken
    resumed: int = -1  # the copy to run on from; -1: start the program
    # what files of the program say now that have changed since
    changed: tuple[tuple[str, bytes], ...] = ()
    # paths of what a search varies: it runs on from the same copy again and again
    varied: tuple[str, ...] = ()
    first_word: int = 0  # of its command that a search varies, with all behind it; 0: none
    is_debugged: bool = False  # it opens a debugger where it continues
    # a stretch as long of a run from a copy is worth another one; below zero: as it was told before
    worth_seconds: float = -1.0
    # the folder below which it is noted what it looks at, and git's own folder of that; empty: it isn't
    looks: tuple[str, str] = ("", "")


class Guard(NamedTuple):
    """The limits around a program: what its process does, what is proved before, what is watched."""

    steps: Sequence[Order]
    probes: Sequence[Order]
    watches: Sequence[Order]


class Run(NamedTuple):
    """What the spawner is to run."""

    argv: list[bytes]  # the command
    environment: dict[bytes, bytes]  # all of it
    cwd: bytes  # the folder in which it starts
    # the reset steps before it: a shell's command, and whether it must succeed
    steps: list[tuple[bytes, bool]]
    terminal: int  # which of its streams is its controlling terminal; -1: none
    freezing: Freezing  # how it has to do with frozen copies
    guard: Guard  # the limits around it


class Sighted(NamedTuple):
    """What the agent in a program knows of what that has seen since it started or was resumed."""

    places: list[str]  # folders in which it looked for modules
    modules: list[str]  # which modules
    listings: dict[str, int]  # how often the importer listed which folder
    reads: dict[str, int]  # how often a source was opened in a way that does not count
    looks: dict[str, int]  # how often one was looked up so
    installed: dict[str, Mark]  # marks of installed sources that only the importer has looked up


WRITE, APPEND, REMOVE, OTHER = "write", "append", "remove", "other"
_EFFECTS_IN_WORDS = {
    WRITE: "writes {path}",
    APPEND: "appends to {path}",
    REMOVE: "removes {path}",
    OTHER: "{says}",
}


class LastingEffect(NamedTuple):
    """Why a run can't simply be repeated: what it left in the world, or what the user told it."""

    kind: str  # `WRITE`, `APPEND`, `REMOVE`: what becomes of the path; `OTHER`
    path: str = ""
    says: str = ""  # in words; only for `OTHER`

    def __str__(self) -> str:
        """Return it in words, with the program as their subject."""
        return _EFFECTS_IN_WORDS[self.kind].format(path=self.path, says=self.says)


class Done(NamedTuple):
    """What a run has done to the world."""

    effects: tuple[LastingEffect, ...]
    # files that it has changed, with folders for all that is in them; None: there may be more
    changed: tuple[str, ...] | None


class Observed(NamedTuple):
    """What the observer has noticed since it was last asked."""

    ended: str  # in words, the first effect that can't be put back; empty: there was none
    marks: dict[str, Mark]  # of what paths led to
    links: dict[str, Mark]  # marks of links themselves
    opened: dict[str, int]  # how often each path was opened
    looked: dict[str, int]  # how often each source was looked up
    listings: dict[str, Listing]  # what folders held
    listed: dict[str, int]  # how often each was listed


class Reported(NamedTuple):
    """A frozen copy, as it has said itself."""

    number: int  # the spawner's for it
    pid: int  # its process
    kind: str  # of the place, as of `whet.host.trial.process_snapshots.Snapshot`
    place: str  # where it was taken
    seconds: float  # how long the program took to get there
    sighted: Sighted  # what its agent knows
    sources: dict[str, bytes]  # the program's own files, and what they said
    stack: list[tuple[str, str]]  # file and function of each frame, the innermost last


class Taken(NamedTuple):
    """A frozen copy, and what the observer has noticed by then."""

    copy: Reported
    observed: Observed


class Looked(NamedTuple):
    """What a run has looked at below a folder, in paths from there."""

    gap: str  # why nothing may be concluded from the rest; empty: it may
    paths: list[str]  # that were named
    folders: list[str]  # that were opened
    moved: list[str]  # folders that were moved
    calls: int  # how many there were
    held_seconds: float  # how long they were held


class Noted(NamedTuple):
    """A limit that a watch has seen met: how much there was, and the process that it is about.

    For what a watch counts (`whet.host.kernel.counters`): how many there were.
    """

    limit: str
    amount: float
    pid: int
    process: str


class Sample(NamedTuple):
    """What all processes of a trial used at one moment, or by then."""

    seconds: float
    memory_bytes: int
    cpu_seconds: float
    files: int
    read_bytes: int
    written_bytes: int
    processes: int


class Ended(NamedTuple):
    """How a trial ended."""

    exits: list[Exit]  # of its processes, the command's first
    wall_seconds: float  # of the command
    cpu_seconds: float = 0.0  # of all processes
    peak_bytes: int = 0  # the most memory that they held at one moment
    failed_step: int = -1  # which reset step has ended it; -1: none
    was_killed: bool = False  # whet killed the command
    stubborn: Sequence[int] = ()  # processes that could not be killed
    started_at: float = 0.0  # `time.monotonic` just before the command's first instruction
    noted: Sequence[Noted] = ()  # limits that were met
    samples: Sequence[Sample] = ()  # what was used meanwhile
    # of the processes that held most: number, name, and how much that was
    peaks: Sequence[tuple[int, str, int]] = ()
    queued_seconds: float = 0.0  # how long the command's main thread waited for a processor


class Begun(NamedTuple):
    """The run that the observer is to watch from now on."""

    own_socket: str  # where copies report: that is whet's own affair
    cache: str  # folder of byte code by content; empty: none
    cwd: str  # the folder in which the run begins
    varied: tuple[str, ...]  # paths at whose first sight the program is asked where it is
    is_alone: bool  # no other run of the program is under way, which might append to the same files


class Plan(NamedTuple):
    """What a process makes of its room."""

    reporter: bytes  # name of the socket to report to
    network: str  # ``none`` or ``loopback``; empty: the machine's
    has_own_pids: bool  # whether it has its own process numbers
    # folders seen through, with their bytes (0: half of the memory) and inodes (0: no limit)
    overlays: tuple[tuple[bytes, int, int], ...]
    disks: tuple[tuple[bytes, int, int], ...]  # small file systems, likewise
    read_only: tuple[bytes, ...]  # what can't be written to
    hidden: tuple[bytes, ...]  # files that are empty
    real: tuple[bytes, ...]  # what stays as it is on the machine
    shown: tuple[bytes, ...]  # what stays as it is seen


def as_run(packed: bytes) -> Run:
    """Read what the spawner is to run."""
    *rest, freezing, guard = marshal.loads(packed)
    return Run._make((*rest, Freezing._make(freezing), Guard._make(guard)))


def as_taken(packed: bytes) -> Taken:
    """Read what is known of a frozen copy."""
    (*rest, sighted, sources, stack), observed = marshal.loads(packed)
    copy = Reported._make((*rest, Sighted._make(sighted), sources, stack))
    return Taken(copy, Observed._make(observed))


def as_ended(packed: bytes) -> Ended:
    """Read how a trial ended."""
    fields = dict(zip(Ended._fields, marshal.loads(packed), strict=True))
    fields["noted"] = [Noted._make(each) for each in fields["noted"]]
    fields["samples"] = [Sample._make(each) for each in fields["samples"]]
    return Ended(**fields)


def _reader(make: Callable[[Iterable[object]], MessageT]) -> Callable[[bytes], MessageT]:
    return lambda packed: make(marshal.loads(packed))


def as_done(packed: bytes) -> Done:
    """Read what a run has done to the world."""
    effects, changed = marshal.loads(packed)
    return Done(tuple(map(LastingEffect._make, effects)), changed)


as_begun = _reader(Begun._make)
as_looked = _reader(Looked._make)
as_noted = _reader(Noted._make)
as_observed = _reader(Observed._make)
as_plan = _reader(Plan._make)


def plain(message: Any) -> Any:
    """Return a message as tuples and lists that `marshal` takes."""
    if issubclass(message.__class__, tuple):
        return tuple(map(plain, message))
    is_deep = message.__class__ is list and message and issubclass(message[0].__class__, tuple)
    return list(map(plain, message)) if is_deep else message
