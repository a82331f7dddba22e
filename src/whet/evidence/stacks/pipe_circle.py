"""Processes that wait for each other at pipes and locks of files, so none of them continues."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from whet.core.failure import Frame
from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.observations.stack import PipeWait, ProcessStack
from whet.core.value_class import value_class
from whet.evidence.stacks.stack_groups import roles_of

_STREAMS = {0: "standard input", 1: "standard output", 2: "standard error"}
_WHY = "each process of a hang was asked which pipe it waits for, and who has the other end"
WHY_LOCKED = "the kernel says who waits for the lock of a file, and who holds it"
_READ_BOTH = (
    "Read both at once: `communicate()` of subprocess does, or a thread for each pipe;"
    " or send one to a file, to `DEVNULL` or to the other (`stderr=STDOUT`)."
)
_CLOSE = "Close the ends that a process doesn't use: the reader sees the end only when no writer is left."
_RELEASE = "Release the lock before waiting for a process that needs it, or take several locks in the same order everywhere."
_FLUSH = "Check what each should have written by then: it may still be in a buffer (`flush=True`), it may lack a newline, or the pipe was never closed."


@value_class
class Waiting:
    """A process of the circle, and the wait that keeps it there.

    Attributes:
        process: the process.
        wait: the wait.
        other: the process that alone could end it, and its descriptor.
    """

    process: ProcessStack
    wait: PipeWait
    other: tuple[int, int]

    @property
    def place(self) -> Frame | None:
        """Where it waits, in the user's own code if it is there; None: not known."""
        return place_of(self.process, self.wait)


def place_of(process: ProcessStack, wait: PipeWait) -> Frame | None:
    """Return where a process waits, in the user's own code if it is there; None: not known."""
    threads = [each for each in process.threads if each.number == wait.thread]
    frames = [frame for each in threads for frame in each.frames]
    own = [frame for frame in frames if frame.in_user_code]
    return own[-1] if own else frames[-1] if frames else None


def pipe_circle(processes: Sequence[ProcessStack]) -> tuple[Waiting, ...]:
    """Return processes of which each waits for the next one alone, and the last for the first; or none."""
    by_pid = {each.pid: each for each in processes if each.pipe_waits}
    only = {
        pid: [
            Waiting(each, wait, wait.others[0]) for wait in each.pipe_waits if _waits_for_one(wait)
        ]
        for pid, each in by_pid.items()
    }
    for first in sorted(only):
        circle = _back_to(first, first, only, ())
        if circle:
            return circle
    return ()


def _waits_for_one(wait: PipeWait) -> bool:
    return len({pid for pid, _ in wait.others}) == 1


def _back_to(
    first: int, now: int, only: Mapping[int, Sequence[Waiting]], before: tuple[Waiting, ...]
) -> tuple[Waiting, ...]:
    """Return the way from one process back to the first one; at a reader only its main thread counts.

    A helper thread, such as a pool's, may read forever and isn't why a program hangs.
    """
    for each in only.get(now, ()):
        is_main = each.wait.thread == now
        target = each.other[0]
        if not is_main and each.wait.deed == "read":
            continue
        if target == first:
            return (*before, each)
        if all(target != member.process.pid for member in (*before, each)):
            found = _back_to(first, target, only, (*before, each))
            if found:
                return found
    return ()


def pipe_sentence(processes: Sequence[ProcessStack], at: Callable[[Frame], str]) -> str:
    """Say which processes wait for each other at pipes, and where; empty: none do.

    Args:
        processes: all of the program.
        at: says where a line is.
    """
    circle, roles = pipe_circle(processes), roles_of(processes)
    return "; ".join(_member(each, roles, at) for each in circle)


def pipe_clues(processes: Sequence[ProcessStack], at: Placing) -> list[Clue]:
    """Return the circle as a clue; nothing if there is none."""
    circle = pipe_circle(processes)
    if not circle:
        return []
    deeds = {each.wait.deed for each in circle}
    # Who waits for the end, or reads one pipe to its end, leaves the other one full, or keeps a lock.
    blamed = next((each for each in circle if each.wait.deed not in {"write", "lock"}), circle[0])
    place = blamed.place
    is_full, is_locked = "write" in deeds, "lock" in deeds
    says = pipe_sentence(processes, lambda frame: at(frame.path, frame.line))
    step = _READ_BOTH if is_full else _CLOSE if len(circle) == 1 else _FLUSH
    return [
        Clue(
            says=f"{says[0].upper()}{says[1:]}", why=WHY_LOCKED if is_locked else _WHY, path=place.path if place else "",
            line=place.line if place else 0,
            sureness=Sureness.SEEN if (is_full or is_locked) and place else Sureness.POSSIBLE,
            next_step=_RELEASE if is_locked else step,
        )
    ]  # fmt: skip


def _member(each: Waiting, roles: Mapping[int, str], at: Callable[[Frame], str]) -> str:
    """Say where one of them waits, and for what."""
    pid, (other, end) = each.process.pid, each.other
    who, whom = _name(pid, roles), _name(other, roles)
    where = "" if each.place is None else f" at {at(each.place)}"
    own = _STREAMS.get(each.wait.descriptor)
    theirs = _STREAMS.get(end)
    match each.wait.deed:
        case "lock":
            holds = "it holds itself" if other == pid else f"{whom} holds"
            what = f"for the lock of `{PurePath(each.wait.file).name}`, which {holds}"
        case "end":
            what = f"for the end of {whom}"
        case "write" if own:
            what = f"until {whom} reads its {own}, as that pipe is full"
        case "write" if theirs:
            what = f"until {whom} reads its {theirs}, as that pipe is full"
        case "write":
            what = f"until {whom} reads a pipe that is full"
        case _ if other == pid:
            what = "for the end of a pipe that it alone has open for writing"
        case _ if theirs:
            what = f"for the {theirs} of {whom}"
        case _ if own:
            what = f"until {whom} writes to its {own}"
        case _:
            what = f"until {whom} writes to a pipe"
    return f"{who} waits{where} {what}"


def _name(pid: int, roles: Mapping[int, str]) -> str:
    return roles.get(pid) or f"process {pid}"


def in_short(frame: Frame) -> str:
    """Return where a line is, by the name of its file."""
    return f"{PurePath(frame.path).name}:{frame.line}" if frame.line else frame.function
