"""What surrounds a part of a program: a ``with`` statement, or a decorator of a function.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import time

from .decorated import decorated
from .places import here_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self, TypeVar

    AnyT = TypeVar("AnyT")


class Around:
    """Begins something and ends it, also entered again inside, or by several threads and tasks."""

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: list[Any] | None = None

    def __enter__(self) -> Self:
        opened = self._begin()
        if opened is not None:
            if self._runs is None:  # nearly always: each statement makes one of its own
                self._runs = []
            self._runs.append(opened)
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        runs = self._runs
        if not runs:
            return
        stopped = time.monotonic_ns()
        if len(runs) == 1:
            self._end(runs.pop(), stopped)
        else:
            here = here_now()
            own = next((each for each in reversed(runs) if each.here == here), runs[-1])
            runs.remove(own)
            self._end(own, stopped)

    def __call__(self, function: AnyT) -> AnyT:
        """Return a function that does the same inside of this.

        Raises:
            TypeError: if it is a class, or nothing that can be called.
        """
        made: AnyT = decorated(function, self._again)
        return made

    def _again(self) -> Around:
        """Return another one of the same kind."""
        raise NotImplementedError

    def _begin(self) -> Any:
        """Begin; return what `_end` needs, with its place as ``here``; None: there is nothing to end."""
        raise NotImplementedError

    def _end(self, opened: Any, stopped: int) -> None:
        """End what `_begin` has begun, at a moment of `time.monotonic_ns`."""
        raise NotImplementedError


def plain_name(function: str, name: object) -> str:
    """Return a name that is not simply a text, as one.

    Raises:
        TypeError: if it is something else.
        ValueError: if it is empty.
    """
    if not isinstance(name, str):
        words = (function, name, type(name).__name__)
        raise TypeError("{}({!r}): the name is of type {}; give a text".format(*words))
    if not name:
        raise ValueError("{}(''): give a name, such as 'load'".format(function))
    return str.__str__(name)  # of a class of the program's own
