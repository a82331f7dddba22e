from collections.abc import Callable

import pytest
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(lambda inner: inner, id="cold"),
        pytest.param(_record, id="recording"),
        pytest.param(_cache, id="caching"),
        pytest.param(lambda inner: _record(_cache(inner)), id="recording-caching"),
        pytest.param(lambda inner: _cache(_record(inner)), id="caching-recording"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_executor_keeps_the_promises(
    laboratory: Laboratory, wrap: Callable[[Executor], Executor], jobs: int
) -> None:
    laboratory.jobs = jobs

    check_executor(lambda: _Closing(laboratory.make(), wrap))
