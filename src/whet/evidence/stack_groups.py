"""Equal stacks of many processes, told once: which ranks wait where, and which does something else."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from whet.core.failure import Frame
from whet.core.stack import ProcessStack, ThreadStack

_MOST_NUMBERS = 8
_BUSY_SHARE = 0.5
_WAITING_SHARE = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A thread of a group, with its process."""

    process: ProcessStack
    thread: ThreadStack


@dataclass(frozen=True, slots=True, kw_only=True)
class StackGroup:
    """Threads that stand in the same place.

    Attributes:
        frames: their stack, innermost last.
        members: who they are.
        is_main: they are the main threads of their processes.
    """

    frames: tuple[Frame, ...]
    members: tuple[Member, ...]
    is_main: bool

    @property
    def place(self) -> Frame | None:
        """The innermost frame of the user's own code, else the innermost."""
        own = [frame for frame in self.frames if frame.in_user_code]
        return own[-1] if own else self.frames[-1] if self.frames else None


def groups_of(processes: Sequence[ProcessStack]) -> tuple[StackGroup, ...]:
    """Return the threads by equal stacks, main threads first, the largest group first.

    Every thread with a stack is in exactly one group.
    """
    found: dict[tuple[bool, tuple[Frame, ...]], list[Member]] = {}
    for process in processes:
        for position, thread in enumerate(process.threads):
            if thread.frames:
                key = (position == 0, thread.frames)
                found.setdefault(key, []).append(Member(process=process, thread=thread))
    groups = [
        StackGroup(frames=frames, members=tuple(members), is_main=is_main)
        for (is_main, frames), members in found.items()
    ]
    return tuple(sorted(groups, key=lambda group: (not group.is_main, -len(group.members))))


def sentence(group: StackGroup) -> str:
    """Say who stands where, such as ``7 ranks (0-2, 4-7) wait in all_reduce at loss.py:40``."""
    plural = len(group.members) > 1
    return f"{_who(group)} {_deed(group, plural=plural)} {_where(group)}"


def headline(groups: Sequence[StackGroup]) -> str:
    """Say in one line what the main threads do; empty if nothing was seen."""
    main = [group for group in groups if group.is_main][:3]
    return "; ".join(map(sentence, main))


def motion(process: ProcessStack) -> str:
    """Say whether a process works, spins or waits, from its CPU time and from two looks."""
    share = process.cpu_share
    if share is None:
        return ""
    moved = any(thread.has_moved for thread in process.threads)
    if share >= _BUSY_SHARE:
        words = "moves" if moved else "stays there: it spins, or computes"
        return f"{words} ({share:.0%} CPU)"
    if moved:
        return f"moves ({share:.0%} CPU)"
    return f"waits ({share:.0%} CPU)" if share > _WAITING_SHARE else "waits"


def numbers(values: Sequence[int]) -> str:
    """Return numbers as a list with ranges, cut where it is long: ``0-2, 4``."""
    ordered = sorted(set(values))
    spans: list[list[int]] = []
    for value in ordered:
        if spans and value == spans[-1][1] + 1:
            spans[-1][1] = value
        else:
            spans.append([value, value])
    parts = [str(first) if first == last else f"{first}-{last}" for first, last in spans]
    more = len(parts) - _MOST_NUMBERS
    return ", ".join(parts[:_MOST_NUMBERS]) + (f" and {more} more" if more > 0 else "")


def _who(group: StackGroup) -> str:
    processes = {member.process.pid: member.process for member in group.members}
    ranks = [each.rank for each in processes.values() if each.rank is not None]
    count = len(group.members)
    if not group.is_main:
        names = sorted({member.thread.name for member in group.members if member.thread.name})
        word = "thread" if count == 1 else f"{count} threads"
        told = f" {', '.join(names[:3])}" if names else ""
        of = (
            f"process {next(iter(processes))}"
            if len(processes) == 1
            else f"{len(processes)} processes"
        )
        return f"{word}{told} of {of}"
    if len(ranks) == len(processes):
        return f"rank {ranks[0]}" if count == 1 else f"{count} ranks ({numbers(ranks)})"
    pids = numbers(list(processes))
    return f"process {pids}" if count == 1 else f"{count} processes ({pids})"


def _deed(group: StackGroup, *, plural: bool) -> str:
    threads = [member.thread for member in group.members]
    if all(thread.has_moved for thread in threads):
        return "work in" if plural else "works in"
    if all(thread.is_running for thread in threads):
        return "are busy in" if plural else "is busy in"
    return "wait in" if plural else "waits in"


def _where(group: StackGroup) -> str:
    place, last = group.place or group.frames[-1], group.frames[-1]
    at = f" at {PurePath(place.path).name}:{place.line}" if place.line else ""
    within = "" if place is last else f" ({last.function})"
    function = place.function if place.function.startswith("<") else f"{place.function}()"
    return f"{function}{at}{within}"
