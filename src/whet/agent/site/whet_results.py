"""The results of pools and tasks arrive in one order: that of submission, or the opposite.

`concurrent.futures.as_completed`, `asyncio.as_completed` and `Pool.imap_unordered` hand results over as
they come, which differs from run to run.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys
from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from types import FrameType
    from typing import Any

    Guard = Callable[[dict[str, Any]], None]

_MOST_CALLERS = 8
_frame_above: Callable[[int], FrameType] = vars(sys)["_getframe"]


class Results:
    """Holds the order of results in this process."""

    def __init__(self, tell: Callable[..., None], sign: str, *, is_reversed: bool) -> None:
        self._tell = tell
        self._sign = sign
        self._is_reversed = is_reversed

    def guards(self) -> dict[str, Guard]:
        """Return what changes the modules that hand results over."""
        return {
            "concurrent.futures._base": self._futures,
            "multiprocessing.pool": self._pool,
            "asyncio.tasks": self._tasks,
        }

    def _ordered(self, given: Any, frame: FrameType) -> list[Any]:
        """Return what was submitted, in the order in which it is handed over; tell who asks."""
        callers: list[str] = []
        above: FrameType | None = frame
        while above is not None and len(callers) < _MOST_CALLERS:
            callers.append("{}:{}".format(above.f_lineno, above.f_code.co_filename))
            above = above.f_back
        self._tell(self._sign, "called:" + "\x1f".join(callers))
        items = list(dict.fromkeys(given))
        return items[::-1] if self._is_reversed else items

    def _futures(self, module: dict[str, Any]) -> None:
        wait = module["wait"]

        def each(futures: list[Any], timeout: float | None) -> Generator[Any, None, None]:
            end = None if timeout is None else monotonic() + timeout
            for at, future in enumerate(futures):
                left = None if end is None else max(end - monotonic(), 0.0)
                if not wait([future], left).done:
                    message = "{} (of {}) futures unfinished".format(
                        sum(not one.done() for one in futures[at:]), len(futures)
                    )
                    raise module["TimeoutError"](message)
                yield future

        def as_completed(fs: Any, timeout: float | None = None) -> Generator[Any, None, None]:
            return each(self._ordered(fs, _frame_above(1)), timeout)

        as_completed.__doc__ = module["as_completed"].__doc__
        module["as_completed"] = as_completed

    def _pool(self, module: dict[str, Any]) -> None:
        pool = module["Pool"]

        def imap_unordered(own: Any, func: Any, iterable: Any, chunksize: int = 1) -> Any:
            self._ordered((), _frame_above(1))
            results = own.imap(func, iterable, chunksize)
            # The last result of what never ends doesn't come.
            return (
                _Backwards(results)
                if self._is_reversed and hasattr(iterable, "__len__")
                else results
            )

        imap_unordered.__doc__ = pool.imap_unordered.__doc__
        pool.imap_unordered = imap_unordered

    def _tasks(self, module: dict[str, Any]) -> None:
        ensure, wait = module["ensure_future"], module["wait"]

        def as_completed(fs: Any, *, timeout: float | None = None, **more: Any) -> _InOrder:
            tasks = [ensure(each, **more) for each in self._ordered(fs, _frame_above(1))]
            return _InOrder(tasks, timeout, wait)

        as_completed.__doc__ = module["as_completed"].__doc__
        module["as_completed"] = as_completed


class _InOrder:
    """Tasks as `asyncio.as_completed` gives them: to wait for one by one, or with `async for`."""

    def __init__(self, tasks: list[Any], timeout: float | None, wait: Any) -> None:
        self._tasks = iter(tasks)
        self._wait = wait
        self._end = None if timeout is None else monotonic() + timeout

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self._result(next(self._tasks))

    def __aiter__(self) -> _InOrder:
        return self

    async def __anext__(self) -> Any:
        for task in self._tasks:
            return await self._done(task)
        raise StopAsyncIteration

    async def _result(self, task: Any) -> Any:
        return (await self._done(task)).result()

    async def _done(self, task: Any) -> Any:
        left = None if self._end is None else max(self._end - monotonic(), 0.0)
        done, _ = await self._wait([task], timeout=left)
        if not done:
            raise __import__("asyncio").TimeoutError
        return task


class _Backwards:
    """The results of a pool, the last one first; each may be an error."""

    def __init__(self, results: Any) -> None:
        self._results = results
        self._reversed: Iterator[Callable[[], Any]] | None = None

    def __iter__(self) -> _Backwards:
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self, timeout: float | None = None) -> Any:
        """Return the next result, or raise what its task did; within `timeout` seconds for each."""
        if self._reversed is None:
            self._reversed = reversed(list(self._outcomes(timeout)))
        return next(self._reversed)()

    def _outcomes(self, timeout: float | None) -> Iterator[Callable[[], Any]]:
        while True:
            try:
                value = self._results.next(timeout)
            except StopIteration:
                return
            except Exception as error:
                if type(error).__name__ == "TimeoutError" and timeout is not None:
                    raise
                yield _raiser(error)
            else:
                yield _giver(value)


def _giver(value: Any) -> Callable[[], Any]:
    return lambda: value


def _raiser(error: Exception) -> Callable[[], Any]:
    def give() -> Any:
        raise error

    return give
