"""How whet itself ends when it is told to: what it made is removed first, without a disturbance."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_ENDS = (signal.SIGTERM, signal.SIGHUP)
_SHELL_ADDS = 128


class ToldToEndError(SystemExit):
    """SIGTERM or SIGHUP told whet to end; the code is a shell's."""


@dataclass(slots=True)
class _Ending:
    """What holds for the process: signals are its own, not a thread's or an object's."""

    cleaning: int = 0
    told: int = 0
    is_holding: bool = False
    held: int = 0


_ending = _Ending()


@contextmanager
def orderly_end() -> Generator[None, None, None]:
    """Turn SIGTERM and SIGHUP into `ToldToEndError` with a shell's exit code, 143 or 129.

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
def holding_signals() -> Generator[Callable[[], None], None, None]:
    """Hold back what tells whet to end, in the main thread.

    Yields:
        lets it go on, and raises if whet was told to end meanwhile; the end of the context does too.
    """

    def let_go() -> None:
        _ending.is_holding = False
        number, _ending.held = _ending.held, 0
        if number:
            _raise(number)

    _ending.is_holding = True
    try:
        yield let_go
    finally:
        let_go()


def is_cleaning_up() -> bool:
    """Whether whet removes what it made; the tools it calls for that are to be left alone too."""
    return _ending.cleaning > 0


def _on_signal(number: int, _frame: FrameType | None) -> None:
    if _ending.told:
        return
    if number in _ENDS:
        _ending.told = number
    if _ending.is_holding:
        _ending.held = number
    elif not _ending.cleaning:
        _raise(number)


def _raise(number: int) -> None:
    if number in _ENDS:
        raise ToldToEndError(_SHELL_ADDS + number)
    raise KeyboardInterrupt
