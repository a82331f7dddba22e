"""Keys of the user's own classes that have few hash values: each look-up compares many of them.

A thread of its own looks from time to time. Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

from ..report_file import is_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..report_file import ReportLines

_FIRST_SECONDS, _TIMES, _MOST_LOOKS = 0.05, 1.6, 16
_LEAST_KEYS, _MOST_KEYS, _TIMES_FEWER = 64, 20_000, 8
_ANYTHING = (Exception,)


class Hashes:
    """Tells the largest collection of keys that share few hash values, as often as it has grown."""

    def __init__(self, told: ReportLines) -> None:
        self._told = told
        self._most: dict[type[Any], int] = {}
        self._objects: Callable[[], list[Any]] = vars(__import__("gc"))["get_objects"]
        self._sleep: Callable[[float], None] = vars(__import__("time"))["sleep"]

    def begin(self) -> None:
        """Look from now on, beside the program."""
        vars(__import__("_thread"))["start_new_thread"](self._run, ())

    def _run(self) -> None:
        seconds = _FIRST_SECONDS
        for _ in range(_MOST_LOOKS):
            self._sleep(seconds)
            seconds *= _TIMES
            try:
                self._look()
            except _ANYTHING:
                continue  # the program changes what is looked at

    def _look(self) -> None:
        for each in self._objects():
            kind: Any = type(each)
            if kind is not set and kind is not frozenset and not issubclass(kind, dict):
                continue
            size = len(each)
            if size < _LEAST_KEYS:
                continue
            key = next(iter(each))
            own: type[Any] = type(key)
            code: Any = getattr(getattr(own, "__hash__", None), "__code__", None)
            if code is None or not is_own(code.co_filename) or size <= self._most.get(own, 0) * 2:
                continue
            keys: list[Any] = [one for one in list(each) if type(one) is own][:_MOST_KEYS]
            values = {hash(one) for one in keys}
            if len(values) * _TIMES_FEWER > len(keys):
                continue
            self._most[own] = size
            equal: Any = getattr(own.__eq__, "__code__", code)
            self._told.tell(
                "hashes",
                type=own.__qualname__,
                place=[code.co_filename, code.co_firstlineno, code.co_name],
                equal=[equal.co_filename, equal.co_firstlineno, equal.co_name],
                collection=kind.__name__,
                keys=len(keys),
                values=len(values),
            )


