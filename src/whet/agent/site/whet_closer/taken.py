"""What is taken and has to be given back by hand: places of semaphores, items of queues."""

from __future__ import annotations

import os
import sys

from .report_file import innermost_frames, is_own, number_of, place, stack_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from whet.agent.site.whet_state.secret_rule import masked

    from .report_file import ReportLines
else:
    from whet_state.secret_rule import masked

_PATIENCE_SECONDS = 0.5
_TIMES = 3
"""So often a call that waits for items is looked at, each time after twice as long."""
_MOST, _LEVELS, _FEW = 1000, 4, 4
_LONGEST = 60
_DATA = (str, bytes, int, float, tuple, list, dict, set, frozenset)
_above = vars(sys)["_getframe"]


class _Place:
    """A place or an item that was taken: by which frames, the innermost first, where, and what it is.

    Attributes:
        went: the last lines of each frame that took the next one with this one not given back.
        key: where it was taken, and whether it is one that can be put back.
    """

    def __init__(self, owner: Any, frames: list[FrameType], item: str, lent: object = None) -> None:
        self.owner = owner
        self.lent = lent
        self.frames = frames
        self.at = [place(each) for each in frames]
        self.item = item
        self.went: dict[int, list[int]] = {}
        self.key = (str(self.at[0][0]), int(self.at[0][1]), lent is not None)
        self.is_told = False


class Taken:
    """Keeps, for each semaphore and queue, what was taken and not given back."""

    def __init__(self, told: ReportLines) -> None:
        self._told = told
        self._out: dict[int, list[_Place]] = {}
        self._owners: dict[int, Any] = {}
        """What they are: another one must not get the number of one that is gone."""
        self._lent: dict[int, dict[int, _Place]] = {}
        """For each queue what was taken of it and not put back into it, by its number."""
        self._given: dict[tuple[str, int, bool], tuple[int, int, Any]] = {}
        """Where calls took something that was given back: how far out the one is that did, how often, and where."""
        self._own: dict[tuple[tuple[str, int, bool], Any], int] = {}
        """And how often each function that takes something there has given it back."""
        self._held: set[tuple[str, int, bool]] = set()
        """Where calls took something that they gave back after they had taken more."""
        self._asking: set[int] = set()
        """The frames that wait for an item of a queue."""
        self._lines: dict[int, list[int]] = {}
        """The last lines of the frames that have taken something."""
        self._last: dict[int, list[_Place]] = {}
        """What they took last."""

    def following(self, frame: FrameType, trace: Any) -> Any:
        """Return what traces a frame: its lines too, if it has taken something."""
        lines = self._lines.get(number_of(frame))
        if lines is None:
            return trace
        frame.f_trace_lines = True
        before = [trace]

        def follow(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                lines.append(frame.f_lineno or 0)
                del lines[:-_FEW]
            if before[0] is not None:
                before[0] = before[0](frame, event, argument)
            return follow

        return follow

    def watch_threads(self, module: dict[str, Any]) -> None:
        """Watch the semaphores of `threading`."""
        for kind in (module["Semaphore"], module["BoundedSemaphore"]):
            if "acquire" in vars(kind):
                kind.acquire = kind.__enter__ = self._acquiring(kind.acquire)
            kind.release = self._giving(kind.release)

    def watch_queues(self, module: dict[str, Any]) -> None:
        """Watch the queues of `queue`."""
        kind = module["Queue"]
        kind.get, kind.put = self._getting(kind.get, module["Empty"]), self._putting(kind.put)
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
            callers, later = taken._ask(owner, _above(1)), None
            if taken._lent.get(number_of(owner)):
                later = running_loop().call_later(_PATIENCE_SECONDS, taken._tell, "pool", owner)
            try:
                return await get(owner)
            except BaseException:
                taken._tell("pool", owner)
                raise
            finally:
                taken._asking -= callers
                if later is not None:
                    later.cancel()

        def got_at_once(owner: Any) -> Any:
            try:
                item = get_at_once(owner)
            except module["QueueEmpty"]:
                taken._tell("pool", owner)
                raise
            taken._take(owner, _above(1), _words(item), item)
            return item

        async def joined(owner: Any) -> Any:
            waits = [_PATIENCE_SECONDS * 2**number for number in range(_TIMES)]
            later = [
                running_loop().call_later(
                    sum(waits[: number + 1]), taken._tell, "queue", owner, _TIMES - 1 - number
                )
                for number in range(_TIMES)
            ]
            try:
                return await join(owner)
            finally:
                for each in later:
                    each.cancel()

        kind.get, kind.get_nowait, kind.join = got, got_at_once, joined
        kind.put_nowait = self._putting(kind.put_nowait)
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

    def _getting(self, get: Any, empty: Any) -> Any:
        def got(owner: Any, block: object = 1, timeout: Any = None) -> Any:
            callers = self._ask(owner, _above(1))
            is_patient = bool(block) and timeout is None and bool(self._lent.get(number_of(owner)))
            try:
                item = get(owner, block, _PATIENCE_SECONDS if is_patient else timeout)
            except empty:
                self._tell("pool", owner)
                if not is_patient:
                    raise
                item = get(owner)
            finally:
                self._asking -= callers
            self._take(owner, _above(1), _words(item), item)
            return item

        return got

    def _putting(self, put: Any) -> Any:
        def given(owner: Any, item: Any, *words: Any, **named: Any) -> Any:
            lent = self._lent.get(number_of(owner), {}).pop(number_of(item), None)
            if lent is not None:
                for level in _common(lent, _users(_above(1))):
                    self._know(level, lent)
            return put(owner, item, *words, **named)

        return given

    def _joining(self, join: Any) -> Any:
        def joined(owner: Any) -> Any:
            for number in range(_TIMES):
                with owner.all_tasks_done:
                    if owner.unfinished_tasks:
                        owner.all_tasks_done.wait(_PATIENCE_SECONDS * 2**number)
                    is_stuck = bool(owner.unfinished_tasks)
                if is_stuck:
                    self._tell("queue", owner, _TIMES - 1 - number)
            return join(owner)

        return joined

    def _giving(self, give: Any) -> Any:
        def given(owner: Any, *words: Any, **named: Any) -> Any:
            out = self._out.get(number_of(owner), [])
            frames = _users(_above(1))
            for _ in range((*words, *named.values(), 1)[0]):
                own = [(level, each) for each in out for level in _common(each, frames)]
                best = min(own, key=lambda one: (one[0], -out.index(one[1]))) if own else None
                if best is not None:
                    self._know(*best)
                while out:
                    try:
                        out.remove(out[0] if best is None else best[1])
                        break
                    except (ValueError, IndexError):
                        best = None  # another thread was quicker
            return give(owner, *words, **named)

        return given

    def _ask(self, owner: Any, frame: FrameType) -> set[int]:
        """Keep with which lines each caller comes to ask for more; return their frames, which now wait."""
        callers = {number_of(each) for each in _users(frame)}
        for each in callers:
            for last in self._last.get(each, ()):
                if last.owner is owner:
                    level = [number_of(one) for one in last.frames].index(each)
                    last.went.setdefault(level, list(self._lines.get(each, ())))
        self._asking |= callers
        return callers

    def _take(self, owner: Any, frame: FrameType, words: str, item: Any = None) -> None:
        self._owners[number_of(owner)] = owner
        out, lent = (
            self._out.setdefault(number_of(owner), []),
            self._lent.setdefault(number_of(owner), {}),
        )
        frames = _users(frame)[:_LEVELS]
        taken: list[_Place] = []
        if frames and len(out) < _MOST:
            taken.append(_Place(owner, frames, words))
            out.append(taken[0])
        if frames and item is not None and len(lent) < _MOST:
            lent[number_of(item)] = _Place(owner, frames, words, item)
            taken.append(lent[number_of(item)])
        if taken:
            for each in frames:
                self._last[number_of(each)] = taken
                is_new = number_of(each) not in self._lines
                self._lines.setdefault(number_of(each), []).clear()
                if is_new:
                    each.f_trace = self.following(each, each.f_trace)

    def _know(self, level: int, given: _Place) -> None:
        """Count that what was taken in one place was given back, and by a caller how far out."""
        key = given.key
        known, times, where = self._given.get(key, (level, 0, []))
        if level in given.went:
            self._held.add(key)
        if level <= known:
            where = place(given.frames[level])
        self._given[key] = (min(level, known), times + 1, where)
        giver = key, given.frames[level].f_code
        self._own[giver] = self._own.get(giver, 0) + 1

    def _tell(self, kind: str, owner: Any, left: int = 0) -> None:
        """Write down what was taken by calls that have ended, or that have taken more since.

        It may only become known later who gives it back: ``left`` more looks follow.
        """
        is_pool = kind == "pool"
        lent = list(self._lent.get(number_of(owner), {}).values()) if is_pool else []
        out = lent if is_pool else list(self._out.get(number_of(owner), ()))
        running: set[int] = _running() if out else set()
        for number, each in enumerate(out):
            key = each.key
            level, times, where = self._given.get(key, (0, 0, []))
            frame = each.frames[level] if level < len(each.frames) else None
            if frame is None or each.is_told or (left and not times):
                continue
            if is_pool and times < sum(other.key == key for other in out):
                continue  # what is mostly kept may be meant to be
            ended = number_of(frame) not in running
            is_again = any(frame in other.frames[level : level + 1] for other in out[number + 1 :])
            has_more = is_again or level in each.went or number_of(frame) in self._asking
            if not ended and (key in self._held or not has_more):
                continue
            each.is_told = True
            self._told.tell(
                "kept",
                what=kind,
                taken=each.at[0],
                by=each.at[level],
                left=place(frame) if ended else [],
                lines=each.went.get(level, []),
                item=each.item,
                gives=times,
                own=self._own.get((key, frame.f_code), 0),
                # Data may be a job that is tried again, and is done where it isn't put back.
                gave=[] if isinstance(each.lent, _DATA) else where,
                process=os.getpid(),
            )


def _words(item: Any) -> str:
    """Return how a text or a number is written; empty: it is something else."""
    is_plain = type(item) in (str, int, float)
    return masked(repr(item))[:_LONGEST] if is_plain else ""


def _users(frame: FrameType | None) -> list[FrameType]:
    """Return the frames of the user's own code, the innermost first."""
    return [each for each in stack_of(frame) if is_own(each.f_code.co_filename)]


def _common(taken: _Place, frames: list[FrameType]) -> list[int]:
    """Return how far out the innermost caller is that a place has in common with a stack, if one is."""
    return [level for level, each in enumerate(taken.frames) if each in frames][:1]


def _running() -> set[int]:
    """Return the frames under way."""
    found = {number_of(each) for top in innermost_frames().values() for each in stack_of(top)}
    for task in _tasks():
        waiting: Any = task.get_coro()
        while waiting is not None:
            found.add(number_of(getattr(waiting, "cr_frame", None)))
            waiting = getattr(waiting, "cr_await", None)
    return found


def _tasks() -> Any:
    """Return the tasks of the loop that runs in this thread."""
    tasks = sys.modules.get("asyncio.tasks")
    try:
        return () if tasks is None else vars(tasks)["all_tasks"]()
    except RuntimeError:  # no loop runs
        return ()
