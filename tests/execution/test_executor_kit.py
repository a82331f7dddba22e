from collections.abc import Callable

import pytest
from crossed import crossed
from laboratory import Laboratory

from whet.core.executor import Executor
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.execution.caching import CachingExecutor
from whet.execution.cold import ColdExecutor
from whet.execution.recording import RecordingExecutor
from whet.testing.executor import check_executor


class _Closing:
    """A wrapped executor that closes what is at its heart."""

    def __init__(self, cold: ColdExecutor, wrap: Callable[[Executor], Executor]) -> None:
        self._cold = cold
        self.submit = wrap(cold).submit
        self.close = cold.close


def _record(inner: Executor) -> Executor:
    def finish(_number: int, _trial: Trial, _outcome: Outcome) -> None:
        return None

    return RecordingExecutor(inner, lambda _trial: 1, finish)


def _cache(inner: Executor) -> Executor:
    return CachingExecutor(inner, lambda _trial: None)


def _record_what_is_cached(inner: Executor) -> Executor:
    return _record(_cache(inner))


def _cache_what_is_recorded(inner: Executor) -> Executor:
    return _cache(_record(inner))


def _as_it_is(inner: Executor) -> Executor:
    return inner


@pytest.mark.slow
@crossed(
    jobs=[2, 1],
    wrap={
        "cold": _as_it_is,
        "recording": _record,
        "caching": _cache,
        "recording-caching": _record_what_is_cached,
        "caching-recording": _cache_what_is_recorded,
    },
)
def test_every_executor_keeps_the_promises(
    laboratory: Laboratory, wrap: Callable[[Executor], Executor], jobs: int
) -> None:
    laboratory.jobs = jobs

    check_executor(lambda: _Closing(laboratory.make(), wrap))
