"""Equal stacks of many processes in groups: which ranks wait where, and which one does something else."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from whet.core.failure import Frame
from whet.core.observations.clue import Clue, Placing
from whet.core.observations.evidence import STACKS, Evidence
from whet.core.observations.stack import ProcessStack, TaskStack, ThreadStack
from whet.core.text.quantity import listed
from whet.core.text.record import as_record, decoded, records
from whet.core.value_class import value_class

NO_ROLES: Mapping[int, str] = {}
_MOST_NUMBERS = 8
_MOST_NAMES = 5
_BUSY_SHARE = 0.5
_JOINS, _INNERMOST = {"join", "_wait_for_tstate_lock", "_shutdown"}, 2
_WAITING_SHARE = 0.02
_WHY_STACKS = (
    "where it stopped, it waits for another thread or process, which may be somewhere else"
)


@value_class(kw_only=True)
class Member:
    """A thread of a group, with its process."""

    process: ProcessStack
    thread: ThreadStack


@value_class(kw_only=True)
class StackGroup:
    """Threads at the same place.

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


def stacks_in(evidence: Evidence) -> tuple[ProcessStack, ...]:
    """Return the processes in an observation of this kind."""
    data = as_record(decoded(evidence.data), STACKS)
    return tuple(ProcessStack.from_json(each) for each in records(data, "processes"))


def groups_of(processes: Sequence[ProcessStack]) -> tuple[StackGroup, ...]:
    """Return the threads by equal stacks, main threads first, the largest group first.

    Every thread with a stack is in exactly one group.
    """
    by_frames: dict[tuple[bool, tuple[Frame, ...]], list[Member]] = {}
    for process in processes:
        for position, thread in enumerate(process.threads):
            if thread.frames:
                key = (position == 0, thread.frames)
                by_frames.setdefault(key, []).append(Member(process=process, thread=thread))
    groups = [
        StackGroup(frames=frames, members=tuple(members), is_main=is_main)
        for (is_main, frames), members in by_frames.items()
    ]
    return tuple(sorted(groups, key=lambda group: (not group.is_main, -len(group.members))))


@value_class(kw_only=True)
class TaskGroup:
    """Asyncio tasks at the same place.

    Attributes:
        frames: their stack, innermost last.
        members: the tasks, each with its process.
    """

    frames: tuple[Frame, ...]
    members: tuple[tuple[ProcessStack, TaskStack], ...]


def task_groups(processes: Sequence[ProcessStack]) -> tuple[TaskGroup, ...]:
    """Return the tasks by equal stacks, the largest group first; each is in exactly one."""
    by_frames: dict[tuple[str, tuple[Frame, ...]], list[tuple[ProcessStack, TaskStack]]] = {}
    for process in processes:
        for task in process.tasks:
            by_frames.setdefault((task.died, task.frames), []).append((process, task))
    groups = [TaskGroup(frames=key[1], members=tuple(each)) for key, each in by_frames.items()]
    return tuple(sorted(groups, key=lambda group: -len(group.members)))


def task_sentence(group: TaskGroup) -> str:
    """Say which tasks stand where, such as ``3 tasks (a, b, c) await Queue.get() at app.py:12``."""
    names = list(dict.fromkeys(task.name for _, task in group.members))
    names_shown = ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
    plural = len(group.members) > 1
    who = f"{len(group.members)} tasks ({names_shown})" if plural else f"task {names_shown}"
    died = group.members[0][1].died
    if died:
        told_at = [each for each in group.frames if each.in_user_code] or list(group.frames)
        line = f" at {PurePath(told_at[-1].path).name}:{told_at[-1].line}" if told_at else ""
        return f"{who} {'have' if plural else 'has'} died of {died}{line}, unnoticed"
    targets = list(dict.fromkeys(task.awaits for _, task in group.members if task.awaits))
    if not group.frames:
        return f"{who}: not started yet" if targets == ["is ready"] else who
    own = [frame for frame in group.frames if frame.in_user_code]
    place, last = (own or group.frames)[-1], group.frames[-1]
    at = f"{place.function}() at {PurePath(place.path).name}:{place.line}"
    if targets in (["runs"], ["is ready"]):
        return f"{who} {targets[0]} in {at}"
    for_what = f", for {'; '.join(targets[:_MOST_NAMES])}" if targets else ""
    what = "" if place is last else f" {last.function}()"
    return f"{who} {'await' if plural else 'awaits'}{what} in {at}{for_what}"


def sentence(group: StackGroup, roles: Mapping[int, str] = NO_ROLES) -> str:
    """Say who stands where, such as ``7 ranks (0-2, 4-7) wait in all_reduce at loss.py:40``.

    Args:
        group: who.
        roles: what to call processes instead of by their numbers, which are others in each run.
    """
    plural = len(group.members) > 1
    return f"{_who(group, roles)} {_deed(group, plural=plural)} {_where(group)}"


def roles_of(processes: Iterable[ProcessStack]) -> Mapping[int, str]:
    """Return what to call the processes of a program, by their numbers."""
    by_pid = {each.pid: each for each in processes}
    children = [pid for pid, each in sorted(by_pid.items()) if each.parent in by_pid]
    if len(by_pid) - len(children) != 1:
        return NO_ROLES  # nobody has started all of them
    alone = f"its child{'' if len(children) == 1 else ' {}'}"
    names = {pid: alone.format(number) for number, pid in enumerate(children, 1)}
    (first,) = set(by_pid) - set(children)
    return {**names, first: "the main process" if children else "the program"}


def stack_clues(groups: Sequence[StackGroup], at: Placing) -> list[Clue]:
    """Return where the processes of a hang wait, those first that wait for no other one to end."""
    members = [member.process for group in groups for member in group.members]
    parents, roles = {each.parent for each in members}, roles_of(members)

    def starts_others(group: StackGroup) -> bool:
        return any(member.process.pid in parents for member in group.members)

    clues: list[Clue] = []

    def is_behind(group: StackGroup) -> tuple[bool, bool, bool]:
        return starts_others(group), _awaits_threads(group), not group.is_main

    for group in sorted(groups, key=is_behind):
        place = group.place
        if place is not None and place.in_user_code and not place.path.startswith("<"):
            words = sentence(group, roles).replace(
                f"{PurePath(place.path).name}:{place.line}", at(place.path, place.line), 1
            )
            clues.append(Clue(says=words, why=_WHY_STACKS, path=place.path, line=place.line))
    return clues


def _awaits_threads(group: StackGroup) -> bool:
    """Whether it waits for threads to end: where these wait is nearer to the cause."""
    inner = group.frames[-_INNERMOST:]
    return any(
        PurePath(each.path).name == "threading.py" and each.function in _JOINS for each in inner
    )


def motion(process: ProcessStack) -> str:
    """Say whether a process works, spins or waits, from its CPU time and from two looks."""
    share = process.cpu_share
    if share is None:
        return ""
    has_moved = any(thread.has_moved for thread in process.threads)
    if share >= _BUSY_SHARE:
        words = "moves" if has_moved else "stays there: it spins, or computes"
        return f"{words} ({share:.0%} CPU)"
    if has_moved:
        return f"moves ({share:.0%} CPU)"
    return f"waits ({share:.0%} CPU)" if share > _WAITING_SHARE else "waits"


def numbers(values: Sequence[int]) -> str:
    """Return numbers as a list with ranges, cut where it is long: ``0-2, 4``."""
    ascending = sorted(set(values))
    spans: list[list[int]] = []
    for value in ascending:
        if spans and value == spans[-1][1] + 1:
            spans[-1][1] = value
        else:
            spans.append([value, value])
    parts = [str(first) if first == last else f"{first}-{last}" for first, last in spans]
    more = len(parts) - _MOST_NUMBERS
    return ", ".join(parts[:_MOST_NUMBERS]) + (f" and {more} more" if more > 0 else "")


def _who(group: StackGroup, roles: Mapping[int, str]) -> str:
    processes = {member.process.pid: member.process for member in group.members}
    ranks = [each.rank for each in processes.values() if each.rank is not None]
    count = len(group.members)
    if not group.is_main:
        names = sorted({member.thread.name for member in group.members if member.thread.name})
        word = "thread" if count == 1 else f"{count} threads"
        suffix = f" {', '.join(names[:_MOST_NAMES])}{' …' if len(names) > _MOST_NAMES else ''}"
        suffix = suffix if names else ""
        pid = next(iter(processes))
        of = roles.get(pid) or f"process {pid}"
        of = of if len(processes) == 1 else f"{len(processes)} processes"
        return f"{word}{suffix} of {of}"
    if len(ranks) == len(processes):
        return f"rank {ranks[0]}" if count == 1 else f"{count} ranks ({numbers(ranks)})"
    if all(each.name for each in processes.values()):
        return process_names([*processes.values()])
    if all(pid in roles for pid in processes):
        return listed([roles[pid] for pid in processes][:_MOST_NAMES])
    pids = numbers(list(processes))
    return f"process {pids}" if count == 1 else f"{count} processes ({pids})"


def process_names(processes: Sequence[ProcessStack]) -> str:
    """Return who they are, by what the program calls them: it never sees their numbers."""
    names = [f"`{each.name}`" if each.name else f"process {each.pid}" for each in processes]
    listing = ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
    return f"process {listing}" if len(names) == 1 else f"{len(names)} processes ({listing})"


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
