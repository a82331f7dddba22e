"""`whet.section`.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import time

from .decorated import decorated
from .places import here_now
from .recorder import FOLDER, process_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self

    from .recorder import Span


def section(name: str) -> Section | _Idle:
    """Measure a part of the program: its time, and what memory it needs and keeps.

    For a ``with`` statement, or as a decorator of a function, a coroutine or a generator. whet
    keeps each run of the part with its trial, as `NAME.seconds`, `NAME.cpu_seconds`,
    `NAME.peak_memory` and `NAME.kept_memory` (bytes), and `NAME.count`.

    Without whet it does nothing.

    Args:
        name: what the section is called, such as ``load``.

    Raises:
        TypeError: if the name is not a text.
        ValueError: if it is empty.
    """
    if name.__class__ is not str or not name:
        name = plain_name("section", name)
    return Section(name) if FOLDER else _IDLE


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


class _Idle:
    """Stands for a section that nobody wants to know of."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        return function


_IDLE = _Idle()


class Section:
    """A part of the program that is measured each time it runs."""

    __slots__ = ("_name", "_spans")

    def __init__(self, name: str) -> None:
        self._name = name
        self._spans: list[Span] = []

    def __enter__(self) -> Self:
        self._spans.append(process_now().begin(self._name))
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        stopped = time.monotonic_ns()
        spans = self._spans
        if len(spans) > 1:  # entered again inside, or by another thread or task
            here = here_now()
            own = next((each for each in reversed(spans) if each.here == here), spans[-1])
            spans.remove(own)
        else:
            own = spans.pop()
        own.process.end(own, stopped)

    def __call__(self, function: Any) -> Any:
        """Return a function that does the same, measured."""
        name = self._name
        return decorated(function, lambda: Section(name))
