"""What any executor promises to the rest of whet, and one that needs no processes."""

import os
import select
import signal
import tempfile
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from whet.core.errors import CommandNotFound
from whet.core.executor import Executor
from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.trial import Trial

_PATIENCE_SECONDS = 30.0
_ENDLESS = 'exec 9>"$FIFO"; echo up >&9; (sleep 1000; true) & sleep 1000'
"""A shell and two below it that hold the FIFO open until they are dead."""


def check_executor(make: Callable[[], Executor]) -> None:
    """Check the promises that any executor makes to the rest of whet.

    Args:
        make: returns a fresh executor; its ``close`` is called after each check if it has one.

    Raises:
        AssertionError: if a promise is broken.
    """
    for check in (
        _gives_what_was_written,
        _gives_exit_codes_and_signals,
        _gives_an_error_for_what_cannot_start,
        _runs_identical_trials,
        _kills_the_tree_at_a_timeout,
        _kills_the_tree_at_a_cancel,
        _cancels_what_waits,
    ):
        executor = make()
        try:
            check(executor)
        finally:
            close: Callable[[], None] = getattr(executor, "close", lambda: None)
            close()


class ScriptedExecutor:
    """An executor whose outcomes are a function of the trial.

    Attributes:
        trials: what was submitted, in order.
    """

    def __init__(self, answer: Callable[[Trial], Outcome]) -> None:
        self.trials: list[Trial] = []
        self._answer = answer

    @property
    def calls(self) -> int:
        """How many trials were submitted."""
        return len(self.trials)

    def submit(self, trial: Trial, /) -> Future[Outcome]:
        """Answer at once; an error that the function raises is the future's."""
        self.trials.append(trial)
        future: Future[Outcome] = Future()
        try:
            future.set_result(self._answer(trial))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever asks for the result
            future.set_exception(error)
        return future


def _trial(*command: str, wall_seconds: float | None = None, fifo: Path | None = None) -> Trial:
    return Trial(
        command=command,
        cwd=tempfile.gettempdir(),
        environment={} if fifo is None else {"FIFO": str(fifo)},
        limits=Limits(wall_seconds=wall_seconds),
    )


def _shell(text: str) -> Trial:
    return _trial("sh", "-c", text)


def _gives_what_was_written(executor: Executor) -> None:
    outcome = executor.submit(_trial("printf", "hello")).result(_PATIENCE_SECONDS)
    assert outcome.stdout.head(100) == b"hello"
    assert outcome.exit_code == 0

    text = r"printf '\377\000out'; printf '\376err' >&2; head -c 300000 /dev/zero"
    outcome = executor.submit(_shell(text)).result(_PATIENCE_SECONDS)
    assert outcome.stdout.head(5) == b"\xff\0out"
    assert outcome.stdout.size_bytes == len(b"\xff\0out") + 300_000
    assert outcome.stderr.tail(100) == b"\xfeerr"


def _gives_exit_codes_and_signals(executor: Executor) -> None:
    assert executor.submit(_shell("exit 3")).result(_PATIENCE_SECONDS).exit_code == 3  # noqa: PLR2004 - the one in the text
    outcome = executor.submit(_shell("kill -SEGV $$")).result(_PATIENCE_SECONDS)
    assert (outcome.exit_code, outcome.signal) == (None, signal.SIGSEGV)


def _gives_an_error_for_what_cannot_start(executor: Executor) -> None:
    error = executor.submit(_trial("/no/such/program")).exception(_PATIENCE_SECONDS)
    assert isinstance(error, CommandNotFound), "what cannot start is an error, not an outcome"


def _runs_identical_trials(executor: Executor) -> None:
    futures = [executor.submit(_shell("echo $((6 * 7))")) for _ in range(2)]
    for future in futures:
        assert future.result(_PATIENCE_SECONDS).stdout.head(100) == b"42\n"


def _kills_the_tree_at_a_timeout(executor: Executor) -> None:
    with _watched_fifo() as (fifo, wait_until_nobody_holds_it):
        trial = _trial("sh", "-c", _ENDLESS, wall_seconds=0.2, fifo=fifo)
        outcome = executor.submit(trial).result(_PATIENCE_SECONDS)
        assert outcome.timed_out
        wait_until_nobody_holds_it()


def _kills_the_tree_at_a_cancel(executor: Executor) -> None:
    with _watched_fifo() as (fifo, wait_until_nobody_holds_it):
        future = executor.submit(_trial("sh", "-c", _ENDLESS, fifo=fifo))
        wait_until_nobody_holds_it.until_it_speaks()
        assert future.cancel(), "a running trial can be cancelled"
        assert future.cancelled()
        wait_until_nobody_holds_it()
    # The executor continues working after that.
    _runs_identical_trials(executor)


def _cancels_what_waits(executor: Executor) -> None:
    futures = [executor.submit(_shell(f"sleep 1000; echo {number}")) for number in range(3)]
    for future in reversed(futures):
        assert future.cancel()
        assert future.cancelled()


class _Listener:
    """Learns from a FIFO whether anybody still holds it open."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def until_it_speaks(self) -> None:
        """Wait until somebody has written to it."""
        assert self._wait(select.POLLIN), "the program did not start"

    def __call__(self) -> None:
        """Wait until every process that had it open has ended."""
        while self._wait(select.POLLIN | select.POLLHUP):
            if not os.read(self._descriptor, 4096):
                return
        raise AssertionError("a process of the trial is still alive")

    def _wait(self, events: int) -> bool:
        poll = select.poll()
        poll.register(self._descriptor, events)
        return bool(poll.poll(_PATIENCE_SECONDS * 1000))


@contextmanager
def _watched_fifo() -> Generator[tuple[Path, _Listener]]:
    with tempfile.TemporaryDirectory() as folder:
        fifo = Path(folder) / "fifo"
        os.mkfifo(fifo)
        descriptor = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        try:
            yield fifo, _Listener(descriptor)
        finally:
            os.close(descriptor)
