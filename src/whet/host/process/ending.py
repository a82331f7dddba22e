"""How whet itself ends on a signal: it removes its resources first, undisturbed."""

import os
import signal
import threading
import time
from collections.abc import Callable, Container, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from whet.host.kernel.daemon_thread import DaemonThread

_ENDS = (signal.SIGTERM, signal.SIGHUP)
_SHELL_ADDS = 128
_NUDGE_SECONDS = (0.0, 0.01, 0.05, 0.2, 1.0)


class EndSignalError(SystemExit):
    """SIGTERM or SIGHUP ended whet; the code is the one that a shell shows."""


@dataclass(slots=True)
class _Ending:
    """What holds for the process: signals are its own, not a thread's or an object's."""

    cleaning: int = 0
    told: int = 0
    is_holding: bool = False
    held: int = 0
    tell: Callable[[], None] | None = None
    times_heard: int = 0


_ending = _Ending()


@contextmanager
def orderly_end() -> Generator[None, None, None]:
    """Turn SIGTERM and SIGHUP into `EndSignalError` with a shell's exit code, 143 or 129.

    Ctrl-C stays a `KeyboardInterrupt`, which ends a search with the best so far. Once whet is
    told to end, and while it cleans up, nothing disturbs it any more. A signal that was ignored
    when whet started (`nohup`) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {
        number: signal.signal(number, _on_signal)
        for number in (signal.SIGINT, *_ENDS)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    _ending.told = 0
    try:
        with _heard_while_waiting(previous):
            yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def cleaning_up() -> Generator[None, None, None]:
    """Let no signal disturb what is done in here; SIGTERM and SIGHUP count afterwards."""
    told_before = _ending.told
    _ending.cleaning += 1
    try:
        yield
    finally:
        _ending.cleaning -= 1
    if _ending.told != told_before and not _ending.cleaning:
        _raise(_ending.told)


@contextmanager
def holding_signals(
    tell: Callable[[], None] | None = None,
) -> Generator[Callable[[], None], None, None]:
    """Hold back what tells whet to end, in the main thread; inside of another one until that ends.

    Args:
        tell: is called from the signal's handler, so that what is done in here comes to its end.

    Yields:
        lets it continue, and raises if whet was told to end meanwhile; the end of the context does too.
    """
    around = _ending.is_holding, _ending.tell

    def let_go() -> None:
        _ending.is_holding, _ending.tell = around
        if _ending.is_holding:
            return
        number, _ending.held = _ending.held, 0
        if number:
            _raise(number)

    _ending.is_holding, _ending.tell = True, tell or _ending.tell
    try:
        yield let_go
    finally:
        let_go()


def be_told(number: int) -> None:
    """End as if whet had just got a signal; in the main thread."""
    _on_signal(number, None)


def interruption_behind(error: BaseException) -> "KeyboardInterrupt | EndSignalError | None":
    """Return the interruption that Python has made this error of; None: it is an error of its own.

    Up to Python 3.11 whatever interrupts the making of a class there becomes a `RuntimeError`.
    """
    behind = [error]  # `raise error from error` makes a circle
    while (cause := behind[-1].__cause__) is not None and cause not in behind:
        if isinstance(cause, KeyboardInterrupt | EndSignalError):
            return cause
        behind.append(cause)
    return None


def is_cleaning_up() -> bool:
    """Whether whet removes what it made; the tools it calls for that are to be left alone too."""
    return _ending.cleaning > 0


@contextmanager
def _heard_while_waiting(numbers: Container[int]) -> Generator[None, None, None]:
    """See that a signal ends what the main thread waits in.

    CPython notes a signal and lets the main thread react when it runs Python again. Where that
    thread is just about to wait for a lock, or the system has chosen another thread for the
    signal, it waits on and Ctrl-C does nothing. So a thread hears of each signal too and
    interrupts the main one by a signal that means nothing.
    """
    listening, telling = os.pipe()
    os.set_blocking(telling, False)
    hearing = DaemonThread(target=_nudge, args=(listening, numbers), name="whet-signals")
    try:
        hearing.start()
    except RuntimeError:  # no more threads are allowed: then it is as CPython has it
        os.close(listening)
        os.close(telling)
        yield
        return
    reaction = signal.signal(signal.SIGURG, lambda _number, _frame: None)
    before = signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        signal.signal(signal.SIGURG, reaction)
        os.close(telling)


def _nudge(told: int, numbers: Container[int]) -> None:
    """Interrupt the main thread after each of those signals until it has reacted."""
    main = threading.main_thread().ident
    assert main is not None, "the main thread runs"
    times_heard = _ending.times_heard
    while number := os.read(told, 1):
        if number[0] not in numbers:
            continue
        for seconds in _NUDGE_SECONDS:
            time.sleep(seconds)
            if _ending.times_heard != times_heard:
                break
            # The nudge may itself come a moment before the wait: hence more than one.
            signal.pthread_kill(main, signal.SIGURG)
        times_heard = _ending.times_heard
    os.close(told)


def _on_signal(number: int, _frame: FrameType | None) -> None:
    _ending.times_heard += 1
    if _ending.told:
        return
    if number in _ENDS:
        _ending.told = number
    if _ending.is_holding:
        _ending.held = number
        if _ending.tell is not None:
            _ending.tell()
    elif not _ending.cleaning:
        _raise(number)


def _raise(number: int) -> None:
    if number in _ENDS:
        raise EndSignalError(_SHELL_ADDS + number)
    raise KeyboardInterrupt
