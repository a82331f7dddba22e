"""What was raised in the user's own code, also where somebody has caught it."""

from __future__ import annotations

import sys

from .accesses import Accesses
from .report_file import is_own, number_of, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from .descriptors import Descriptors
    from .locks import Locks
    from .report_file import ReportLines
    from .taken import Taken

_CONTROL_FLOW = {"StopIteration", "StopAsyncIteration", "GeneratorExit", "CancelledError"}
_NO_DESCRIPTORS = (23, 24)  # ENFILE, EMFILE
_LONGEST = 300
_ANYTHING = (Exception,)


class Raised:
    """Traces the user's own functions: their errors, and with threads what they read and write."""

    def __init__(
        self, told: ReportLines, descriptors: Descriptors, locks: Locks, taken: Taken, asked: str
    ) -> None:
        self._told = told
        self._taken = taken
        self._descriptors = descriptors
        self._own: dict[str, bool] = {}
        self._seen: dict[tuple[Any, ...], int] = {}
        self._last: dict[int, tuple[int, int, Any]] = {}
        self._calls = 0
        self._call_of: dict[int, int] = {}
        self._accesses = Accesses(told, locks, asked)
        self._alone: Any = None
        if asked.startswith("numbers"):
            from .numbers import Numbers  # it needs `re`, which a program may not have by then
            from .sparse import FROM, SPARSE, From, Sparse

            numbers = Numbers(told)
            self._alone = numbers
            if asked == SPARSE:
                self._alone = Sparse(told, is_own)
            elif asked.startswith(FROM):
                self._alone = From(numbers, int(asked[len(FROM) :]), is_own)
        elif asked == "memory":
            from .keepers import Keepers

            self._alone = Keepers(told)
        threads: Any = __import__("_thread")
        self._ident: Callable[[], int] = threads.get_ident

    def begin(self) -> None:
        """Trace what this thread calls from now on."""
        sys.settrace(self._enter)

    def watch_threads(self, module: dict[str, Any]) -> None:
        """Trace what other threads call; with the second thread of the user's own, their accesses."""
        module["_trace_hook"] = self._enter
        thread = module["Thread"]
        start = thread.start

        def start_traced(own: Any) -> None:
            self._accesses.is_on = True
            start(own)

        thread.start = start_traced

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        is_again = frame.f_trace is not None  # a generator or a coroutine goes on
        if is_again and self._alone is None and not self._accesses.is_on:
            return None  # its own trace function continues
        path = frame.f_code.co_filename
        own = self._own.get(path)
        if own is None:
            own = self._own[path] = is_own(path)
        if not own:
            return None
        if self._alone is not None:
            return self._alone.enter(frame, self._note)
        self._calls += 1
        # A call that has ended leaves its number to another.
        self._call_of[number_of(frame)] = self._calls
        if self._accesses.is_on:
            return self._taken.following(frame, self._accesses.enter(frame, self._note))
        frame.f_trace_lines = False
        return self._taken.following(frame, self._note)

    def _note(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "exception":
            try:
                self._raise(frame, argument)
            except _ANYTHING:
                return None  # the program is what matters
        return self._note

    def _raise(self, frame: FrameType, argument: Any) -> None:
        kind, error, trace = argument
        if kind.__name__ in _CONTROL_FLOW or not isinstance(error, BaseException):
            return
        thread, code = self._ident(), frame.f_code
        number, known, last = self._last.get(thread, (-1, 0, None))
        if known == number_of(error) and _has_been_in(trace, last):  # it goes up
            call = self._call_of.get(number_of(frame), 0)
            self._told.tell("passed", number=number, place=place(frame), call=call)
            self._last[thread] = (number, known, code)
            return
        at = place(frame)
        where = (kind.__name__, at[0], at[1])
        if where in self._seen:
            self._last[thread] = (-1, number_of(error), code)
            return
        number = self._seen[where] = len(self._seen)
        self._last[thread] = (number, number_of(error), code)
        self._told.tell(
            "raised",
            number=number,
            type=kind.__name__,
            message=_message(error),
            place=at,
            call=self._call_of.get(number_of(frame), 0),
            inside=_inside(trace),
            thread=_thread_name(),
        )
        if isinstance(error, OSError) and error.errno in _NO_DESCRIPTORS:
            self._descriptors.tell()


def _has_been_in(trace: Any, code: Any) -> bool:
    """Whether an error was in a function before; one that took the place of a lost one was not.

    An error that is gone gives its number away, mostly to the next one. It isn't held: it would
    keep alive what its frames hold, and the program may count on their end.
    """
    while trace.tb_next is not None:
        trace = trace.tb_next
        if trace.tb_frame.f_code is code:
            return True
    return False


def _inside(trace: Any) -> str:
    """Return the function below the user's own in which it was raised; empty: in the user's."""
    last = None
    while trace.tb_next is not None:
        trace = trace.tb_next
        last = trace
    return "" if last is None else str(last.tb_frame.f_code.co_name)


def _message(error: BaseException) -> str:
    arguments = BaseException.__dict__["args"].__get__(error)
    words = [each for each in arguments if type(each) in {str, int, float}]
    if isinstance(error, OSError):
        name = OSError.__dict__["filename"].__get__(error)
        words = [*[each for each in words if type(each) is str], *([name] if name else [])]
    return ": ".join(map(str, words))[:_LONGEST]


def _thread_name() -> str:
    threading = sys.modules.get("threading")
    active = getattr(threading, "_active", {})
    own = active.get(vars(sys.modules["_thread"])["get_ident"]())
    name = getattr(own, "_name", "")
    return "" if name == "MainThread" else str(name)
