"""Results arrive in the order of submission, or in the opposite one; nothing else of them changes."""

import asyncio
import concurrent.futures
import multiprocessing.pool
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, _base
from typing import Any

import pytest

from whet.agent.site.whet_results import Results


@pytest.fixture(params=[False, True], ids=["in order", "reversed"])
def is_reversed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def signs(*, is_reversed: bool, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Hold the order in this process; return what is told of it."""
    told: list[str] = []
    guards = Results(
        lambda *signs: told.extend(signs), "inside:held", is_reversed=is_reversed
    ).guards()
    monkeypatch.setattr(_base, "as_completed", _base.as_completed)
    monkeypatch.setattr(asyncio.tasks, "as_completed", asyncio.tasks.as_completed)
    pool = multiprocessing.pool.Pool
    monkeypatch.setattr(pool, "imap_unordered", pool.imap_unordered)
    for name, guard in guards.items():
        guard(vars(sys.modules[name]))
    return told


def _in(order: list[Any], *, is_reversed: bool) -> list[Any]:
    return order[::-1] if is_reversed else order


def _fail(number: int) -> int:
    if number == 1:
        raise LookupError(number)
    return number


def test_futures_come_in_the_order_held_and_with_their_errors(
    signs: list[str], *, is_reversed: bool
) -> None:
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(_fail, number) for number in range(3)]
        assert list(_base.as_completed(futures)) == _in(futures, is_reversed=is_reversed)

    assert isinstance(futures[1].exception(), LookupError)
    assert signs[0] == "inside:held"
    assert signs[1].split("\x1f")[0].endswith(":" + __file__)


@pytest.mark.usefixtures("signs")
def test_a_future_given_twice_comes_once() -> None:
    future: Future[int] = Future()
    future.set_result(1)

    assert list(_base.as_completed([future, future])) == [future]


@pytest.mark.usefixtures("signs")
def test_the_time_for_futures_runs_out_as_it_does_otherwise() -> None:
    one: Future[int] = Future()

    with pytest.raises(concurrent.futures.TimeoutError, match=r"1 \(of 1\) futures unfinished"):
        next(_base.as_completed([one], timeout=0))


@pytest.mark.usefixtures("signs")
def test_a_pool_gives_its_results_and_errors_in_the_order_held(*, is_reversed: bool) -> None:
    with multiprocessing.pool.ThreadPool(3) as pool:
        arriving = pool.imap_unordered(_fail, range(3))
        told: list[object] = []
        for _ in range(3):
            try:
                told.append(next(arriving))
            except LookupError as error:
                told.append(type(error))
        with pytest.raises(StopIteration):
            next(arriving)

    assert told == _in([0, LookupError, 2], is_reversed=is_reversed)


@pytest.mark.usefixtures("signs")
def test_a_pool_that_works_without_end_still_gives_its_first_result() -> None:
    ended = threading.Event()

    def numbers() -> Iterator[int]:
        number = 0
        while not ended.is_set():
            yield number
            number += 1

    with multiprocessing.pool.ThreadPool(1) as pool:
        try:
            assert next(pool.imap_unordered(abs, numbers())) == 0
        finally:
            ended.set()


@pytest.mark.usefixtures("signs")
def test_tasks_come_in_the_order_held_awaited_or_in_a_loop(*, is_reversed: bool) -> None:
    async def work(number: int) -> int:
        await asyncio.sleep(0)
        return number

    async def awaited() -> list[int]:
        return [await each for each in asyncio.tasks.as_completed([work(n) for n in range(3)])]

    async def looped() -> list[int]:
        arriving: Any = asyncio.tasks.as_completed([work(n) for n in range(3)])
        return [each.result() async for each in arriving]

    assert asyncio.run(awaited()) == _in([0, 1, 2], is_reversed=is_reversed)
    assert asyncio.run(looped()) == _in([0, 1, 2], is_reversed=is_reversed)


@pytest.mark.usefixtures("signs")
def test_the_time_for_tasks_runs_out_as_it_does_otherwise() -> None:
    async def main() -> None:
        never = asyncio.get_running_loop().create_future()
        for each in asyncio.tasks.as_completed([never], timeout=0):
            await each

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(main())
