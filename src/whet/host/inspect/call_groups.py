"""The calls that a follower saw, in groups: equal failures count as one, with their number."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from whet.core.failure import Frame
from whet.core.observations.system_call import (
    AddressUse,
    FailedCall,
    FileLook,
    FileUse,
    LongCall,
    OpenFiles,
    PathFacts,
    SystemCalls,
)
from whet.core.value_class import value_class


class IsUsual(Protocol):
    """Whether a failing call, its error and its path are what nearly every program meets."""

    def __call__(
        self, call: str, error: str, path: str, frames: tuple[Frame, ...] | None = ..., /
    ) -> bool:
        """Return it; without frames (None) only if they could change nothing."""
        ...


_SEARCHES = frozenset({"execve", "execveat"})
MOST_GROUPS = 20_000
_MOST_FILES = 5000
_LEAST_LOOKS = 3
_MOST_WAITS = 200
_MOST_ADDRESSES = 500
_MOST_STACKS = 64


@value_class
class Sieve:
    """What of the failing calls is kept.

    Attributes:
        is_usual: which are only counted.
        telling: what is left of all of them in the end.
    """

    is_usual: IsUsual
    telling: Callable[[Iterable[FailedCall]], tuple[FailedCall, ...]]


@dataclass(slots=True)
class Process:
    """A process that is followed.

    Attributes:
        pid: its number.
        command: its command line.
        is_program: it is the program, or came of it; before that it is whet's own.
        started_by: the Python lines that started it, or the nearest process above it that is one's.
        is_copy: it was forked, and runs no other program yet.
        ended_at: `time.monotonic` of its end; None: it has not ended.
    """

    pid: int
    command: str
    is_program: bool
    started_by: tuple[Frame, ...] = ()
    is_copy: bool = False
    ended_at: float | None = None


@dataclass(slots=True)
class FailedGroup:
    """Calls of one process that failed alike on one path."""

    call: str
    error: str
    path: str
    given: str
    detail: str
    process: Process
    command: str
    count: int = 0
    order: int = 0
    at: float = 0.0
    frames: tuple[Frame, ...] = ()
    facts: PathFacts | None = None
    open_files: OpenFiles | None = None

    def put(self, frames: tuple[Frame, ...]) -> None:
        """Take in where it was made."""
        self.frames = frames or self.frames


@dataclass(slots=True)
class LongGroup:
    """Calls of one process that took long, on one target."""

    call: str
    target: str
    process: Process
    command: str
    count: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    is_under_way: bool = False
    frames: tuple[Frame, ...] = ()

    def put(self, frames: tuple[Frame, ...]) -> None:
        """Take in where it was made."""
        self.frames = frames or self.frames


@dataclass(slots=True)
class LookGroup:
    """Questions of one process on one path, all answered by yes."""

    path: str
    process: Process
    count: int = 0
    at: float = 0.0
    frames: tuple[Frame, ...] = ()

    def put(self, frames: tuple[Frame, ...]) -> None:
        """Take in where it was asked."""
        self.frames = frames or self.frames

    @property
    def wants_stack(self) -> bool:
        """Whether it is worth the time to ask where the last one was asked."""
        return self.count >= _LEAST_LOOKS and _is_rare(self.count, _LEAST_LOOKS)


@dataclass(slots=True)
class CallGroups:
    """All that was seen.

    Attributes:
        is_usual: says which failing calls are only counted.
        began: `time.monotonic` when it began.
        until: `time.monotonic` when whet began to end it; None: it ends on its own.
    """

    is_usual: IsUsual
    began: float = field(default_factory=time.monotonic)
    until: float | None = None
    seen: int = 0
    failed: int = 0
    usual: int = 0
    processes: int = 0
    notes: list[str] = field(default_factory=list[str])
    _failures: dict[tuple[int, str, str, str], FailedGroup] = field(
        default_factory=dict[tuple[int, str, str, str], FailedGroup]
    )
    _places: Counter[tuple[int, str, str, str]] = field(
        default_factory=Counter[tuple[int, str, str, str]]
    )
    _waits: dict[tuple[int, str, str], LongGroup] = field(
        default_factory=dict[tuple[int, str, str], LongGroup]
    )
    _files: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    _looks: dict[tuple[int, str], LookGroup] = field(
        default_factory=dict[tuple[int, str], LookGroup]
    )
    _addresses: dict[tuple[str, str], list[str | int]] = field(
        default_factory=dict[tuple[str, str], list[str | int]]
    )

    def failure(self, process: Process, call: str, error: str, path: str) -> FailedGroup | None:
        """Return the group of a failing call, counted; None if there are too many groups."""
        key = (process.pid, call, error, path)
        group = self._failures.get(key)
        if group is None:
            if len(self._failures) >= MOST_GROUPS:
                note = f"more than {MOST_GROUPS} kinds of failing calls: whet only counts the later ones"
                self.notes += [] if note in self.notes else [note]
                return None
            group = FailedGroup(call, error, path, path, "", process, process.command)
            self._failures[key] = group
        # Where it came last decides where it stands.
        self._failures[key] = self._failures.pop(key)
        group.count += 1
        group.order, group.at = self.failed, time.monotonic()
        return group

    def forget_search(self, pid: int) -> None:
        """Note that a process has found the program that it looked for in several places."""
        for key in [key for key in self._failures if key[0] == pid and key[1] in _SEARCHES]:
            self.usual += self._failures.pop(key).count

    def wants_stack(self, group: FailedGroup) -> bool:
        """Whether it is worth the time to ask where a call was made: not at each of thousands."""
        key = (group.process.pid, group.call, group.error, os.path.dirname(group.path))
        self._places[key] += 1
        return _is_rare(group.count, 3) and _is_rare(self._places[key], _MOST_STACKS)

    def wait(self, process: Process, call: str, target: str, seconds: float) -> LongGroup:
        """Return what a call that took long belongs to, counted."""
        key = (process.pid, call, target)
        group = self._waits.get(key)
        if group is None:
            group = self._waits[key] = LongGroup(call, target, process, process.command)
        group.count += 1
        group.seconds += seconds
        group.longest = max(group.longest, seconds)
        return group

    def file(self, path: str, *, reads: bool, writes: bool) -> None:
        """Note that a file was opened."""
        use = self._files.get(path)
        if use is None:
            if len(self._files) >= _MOST_FILES:
                return
            use = self._files[path] = [0, 0, 0]
        use[0] |= reads
        use[1] |= writes
        use[2] += 1

    def look(self, process: Process, path: str) -> LookGroup | None:
        """Return what a question belongs to that found its path, counted; None if there are too many."""
        key = (process.pid, path)
        group = self._looks.get(key)
        if group is None:
            if len(self._looks) >= _MOST_FILES:
                return None
            group = self._looks[key] = LookGroup(path, process)
        group.count += 1
        group.at = time.monotonic()
        return group

    def address(self, call: str, address: str, error: str) -> None:
        """Note that an address was used."""
        if len(self._addresses) < _MOST_ADDRESSES:
            use = self._addresses.setdefault((call, address), ["", 0])
            use[0] = error
            use[1] = int(use[1]) + 1

    def calls(self) -> SystemCalls:
        """Return all of it as values."""
        waits = sorted(self._waits.values(), key=lambda each: (-each.is_under_way, -each.seconds))
        failures = [
            each
            for each in self._failures.values()
            if not self.is_usual(each.call, each.error, each.path, each.frames)
        ]
        total = sum(each.count for each in self._failures.values())
        return SystemCalls(
            seen=self.seen,
            failed=self.failed,
            usual=self.usual + total - sum(each.count for each in failures),
            processes=self.processes,
            failures=tuple(map(self._failed, failures)),
            waits=tuple(_long(each) for each in waits[:_MOST_WAITS]),
            files=tuple(
                FileUse(path=path, is_read=bool(reads), is_written=bool(writes), count=count)
                for path, (reads, writes, count) in self._files.items()
            ),
            looks=tuple(
                FileLook(
                    path=each.path,
                    count=each.count,
                    frames=each.frames,
                    before_end_seconds=self._before_end(each.process, each.at),
                )
                for each in self._looks.values()
                if each.count >= _LEAST_LOOKS
            ),
            addresses=tuple(
                AddressUse(call=call, address=address, error=str(error), count=int(count))
                for (call, address), (error, count) in self._addresses.items()
            ),
            notes=tuple(self.notes),
        )

    def _before_end(self, process: Process, at: float) -> float | None:
        """Return how long before the end of a process something was; None: it has not ended."""
        if process.ended_at is None:
            return None
        end = process.ended_at if self.until is None else min(process.ended_at, self.until)
        return max(0.0, end - at)

    def _failed(self, group: FailedGroup) -> FailedCall:
        return FailedCall(
            call=group.call,
            error=group.error,
            path=group.path,
            given=group.given if group.given != group.path else "",
            detail=group.detail,
            pid=group.process.pid,
            process=group.command,
            count=group.count,
            order=group.order,
            seconds=group.at - self.began,
            before_end_seconds=self._before_end(group.process, group.at),
            frames=group.frames,
            started_by=() if group.frames else group.process.started_by,
            facts=group.facts,
            open_files=group.open_files,
        )


def _long(group: LongGroup) -> LongCall:
    return LongCall(
        call=group.call,
        target=group.target,
        pid=group.process.pid,
        process=group.command,
        count=group.count,
        seconds=group.seconds,
        longest_seconds=group.longest,
        is_under_way=group.is_under_way,
        frames=group.frames,
    )


def _is_rare(count: int, most: int) -> bool:
    """Whether it is one of the first, or one of those that come ever more seldom."""
    return count <= most or count & (count - 1) == 0
