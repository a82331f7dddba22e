"""What is taken and has to be given back by hand: places of semaphores, items of queues."""

from __future__ import annotations

import os
import sys

from .report_file import innermost_frames, place, stack_of, user_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from whet.agent.site.whet_state.secret_rule import masked

    from .report_file import ReportLines
else:
    from whet_state.secret_rule import masked

_PATIENCE_SECONDS = 0.5
_MOST = 1000
_LONGEST = 60
_above = vars(sys)["_getframe"]


class _Place:
    """A place or an item that was taken: by which frame, where, and what it is."""

    def __init__(self, frame: FrameType | None, at: list[Any], item: str) -> None:
        self.frame = frame
        self.at = at
        self.item = item


class Taken:
    """Keeps, for each semaphore and queue, what was taken and not given back."""

    def __init__(self, told: ReportLines) -> None:
        self._told = told
        self._out: dict[int, list[_Place]] = {}
        self._owners: dict[int, Any] = {}
        """What they are: another one must not get the number of one that is gone."""
        self._given: set[tuple[str, int]] = set()
        """Where a call took something that it has given back."""
        self._asking: set[int] = set()
        """The frames that wait for an item of a queue."""

    def watch_threads(self, module: dict[str, Any]) -> None:
        """Watch the semaphores of `threading`."""
        for kind in (module["Semaphore"], module["BoundedSemaphore"]):
            if "acquire" in vars(kind):
                kind.acquire = kind.__enter__ = self._acquiring(kind.acquire)
            kind.release = self._giving(kind.release)

    def watch_queues(self, module: dict[str, Any]) -> None:
        """Watch the queues of `queue`."""
        kind = module["Queue"]
        kind.get = self._getting(kind.get)
        kind.task_done = self._giving(kind.task_done)
        kind.join = self._joining(kind.join)

    def watch_tasks(self, module: dict[str, Any]) -> None:
        """Watch the semaphores of `asyncio`."""
        kind, taken = module["Semaphore"], self
        acquire, running_loop = (
            kind.acquire,
            vars(sys.modules["asyncio.events"])["get_running_loop"],
        )

        async def acquired(owner: Any) -> Any:
            caller = _above(1)
            later = None
            if owner.locked():
                later = running_loop().call_later(
                    _PATIENCE_SECONDS, taken._tell, "semaphore", owner
                )
            try:
                found = await acquire(owner)
            finally:
                if later is not None:
                    later.cancel()
            taken._take(owner, caller, "")
            return found

        kind.acquire, kind.release = acquired, self._giving(kind.release)

    def watch_task_queues(self, module: dict[str, Any]) -> None:
        """Watch the queues of `asyncio`."""
        kind, taken = module["Queue"], self
        get, get_at_once, join = kind.get, kind.get_nowait, kind.join
        running_loop = vars(sys.modules["asyncio.events"])["get_running_loop"]

        async def got(owner: Any) -> Any:
            caller = id(_users(_above(1)))
            taken._asking.add(caller)
            try:
                return await get(owner)
            finally:
                taken._asking.discard(caller)

        def got_at_once(owner: Any) -> Any:
            item = get_at_once(owner)
            taken._take(owner, _above(1), _words(item))
            return item

        async def joined(owner: Any) -> Any:
            later = running_loop().call_later(_PATIENCE_SECONDS, taken._tell, "queue", owner)
            try:
                return await join(owner)
            finally:
                later.cancel()

        kind.get, kind.get_nowait, kind.join = got, got_at_once, joined
        kind.task_done = self._giving(kind.task_done)

    def _acquiring(self, acquire: Any) -> Any:
        def acquired(owner: Any, blocking: object = 1, timeout: Any = None) -> Any:
            if not blocking or timeout is not None:
                found = acquire(owner, blocking, timeout)
            else:
                found = acquire(owner, timeout=_PATIENCE_SECONDS)
                if not found:
                    self._tell("semaphore", owner)
                    found = acquire(owner)
            if found:
                self._take(owner, _above(1), "")
            return found

        return acquired

    def _getting(self, get: Any) -> Any:
        def got(owner: Any, block: object = 1, timeout: Any = None) -> Any:
            caller = id(_users(_above(1)))
            self._asking.add(caller)
            try:
                item = get(owner, block, timeout)
            finally:
                self._asking.discard(caller)
            self._take(owner, _above(1), _words(item))
            return item

        return got

    def _joining(self, join: Any) -> Any:
        def joined(owner: Any) -> Any:
            with owner.all_tasks_done:
                if owner.unfinished_tasks:
                    owner.all_tasks_done.wait(_PATIENCE_SECONDS)
                is_stuck = bool(owner.unfinished_tasks)
            if is_stuck:
                self._tell("queue", owner)
            return join(owner)

        return joined

    def _giving(self, give: Any) -> Any:
        def given(owner: Any, *words: Any, **named: Any) -> Any:
            out = self._out.get(id(owner), [])
            frame = _users(_above(1))
            for _ in range((*words, *named.values(), 1)[0]):
                own = [each for each in out if each.frame is frame]
                if own:
                    self._given.add((own[-1].at[0], own[-1].at[1]))
                while out:
                    try:
                        out.remove(own[-1] if own else out[0])
                        break
                    except (ValueError, IndexError):
                        own = []  # another thread was quicker
            return give(owner, *words, **named)

        return given

    def _take(self, owner: Any, frame: FrameType, item: str) -> None:
        self._owners[id(owner)] = owner
        out = self._out.setdefault(id(owner), [])
        at = user_place(frame)
        if at and len(out) < _MOST:
            out.append(_Place(_users(frame), at, item))

    def _tell(self, kind: str, owner: Any) -> None:
        """Write down what was taken by calls that have ended, or that have taken more since."""
        out = list(self._out.get(id(owner), ()))
        running = _running()
        for number, each in enumerate(out):
            ended = each.frame is None or id(each.frame) not in running
            is_again = any(other.frame is each.frame for other in out[number + 1 :])
            if each.frame is None or not (ended or is_again or id(each.frame) in self._asking):
                continue
            self._told.tell(
                "kept",
                what=kind,
                taken=each.at,
                left=place(each.frame) if ended else [],
                item=each.item,
                gives=(each.at[0], each.at[1]) in self._given,
                process=os.getpid(),
            )


def _words(item: Any) -> str:
    """Return how a text or a number is written; empty: it is something else."""
    is_plain = type(item) in (str, int, float)
    return masked(repr(item))[:_LONGEST] if is_plain else ""


def _users(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of the user's own code."""
    while frame is not None and user_place(frame)[:1] != [frame.f_code.co_filename]:
        frame = frame.f_back
    return frame


def _running() -> set[int]:
    """Return the frames under way."""
    found = {id(each) for top in innermost_frames().values() for each in stack_of(top)}
    for task in _tasks():
        waiting: Any = task.get_coro()
        while waiting is not None:
            found.add(id(getattr(waiting, "cr_frame", None)))
            waiting = getattr(waiting, "cr_await", None)
    return found


def _tasks() -> Any:
    """Return the tasks of the loop that runs in this thread."""
    tasks = sys.modules.get("asyncio.tasks")
    try:
        return () if tasks is None else vars(tasks)["all_tasks"]()
    except RuntimeError:  # no loop runs
        return ()
