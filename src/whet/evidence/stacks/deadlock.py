"""Threads or processes that wait for each other in a circle, so none of them continues."""

from collections.abc import Sequence
from pathlib import PurePath

from whet.core.observations.stack import ProcessStack, ThreadWait
from whet.evidence.stacks.pipe_circle import in_short, pipe_sentence

_MOST_THREADS = 4


def deadlock_sentence(processes: Sequence[ProcessStack]) -> str:
    """Say which threads or processes wait for each other, and where; empty: none are known to.

    Such as ``deadlock: Thread-1 holds a, waits for b at hang.py:6; Thread-2 holds b, …``.
    """
    for process in processes:
        circle = _circle(process.waits)
        if circle:
            sentences = [
                _member(each, before, circle)
                for before, each in zip([circle[-1], *circle], circle, strict=False)
            ]
            more = len(sentences) - _MOST_THREADS
            rest = [f"and {more} more"] if more > 0 else []
            return f"deadlock: {'; '.join([*sentences[:_MOST_THREADS], *rest])}"
    at_pipes = pipe_sentence(processes, in_short)
    return at_pipes and f"deadlock: {at_pipes}"


def _circle(waits: Sequence[ThreadWait]) -> list[ThreadWait]:
    """Return threads of which each waits for what the next one has, and the last for the first."""
    by_thread = {each.thread: each for each in waits}
    for first in sorted(waits, key=lambda each: (each.path, each.line)):
        waits_by_thread: dict[int, ThreadWait] = {}
        now: ThreadWait | None = first
        while now is not None and now.thread not in waits_by_thread:
            waits_by_thread[now.thread] = now
            now = by_thread.get(now.holder)
        if now is first:
            return list(waits_by_thread.values())
    return []


def _member(each: ThreadWait, before: ThreadWait, circle: Sequence[ThreadWait]) -> str:
    """Say what one of them has and waits for; `before` is the one that waits for it."""
    names = {wait.thread: wait.name for wait in circle}
    holds = f"holds {before.lock}, " if before.lock else ""
    awaited = each.lock or f"the end of {names[each.holder]}"
    itself = " itself" if each is before else ""
    return (
        f"{each.name} {holds}waits for {awaited}{itself} at {PurePath(each.path).name}:{each.line}"
    )
