"""`whet.section`.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

from .around import Around, plain_name
from .recorder import FOLDER, process_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from .recorder import Span


def section(name: str) -> Section | _Idle:
    """Measure a part of the program: its time, and what memory it needs and keeps.

    For a ``with`` statement, or as a decorator of a function, a coroutine or a generator. whet
    keeps each run of the part with its trial, and what they come to as numbers: `NAME.seconds`,
    `NAME.cpu_seconds`, `NAME.peak_memory` and `NAME.kept_memory` (bytes), and `NAME.count`.

    Without whet it does nothing, and takes less than a microsecond.

    Args:
        name: what the section is called, such as ``load``.

    Raises:
        TypeError: if the name is not a text, or what it decorates is no function.
        ValueError: if the name is empty.
    """
    if name.__class__ is not str or not name:
        name = plain_name("section", name)
    return Section(name) if FOLDER else _IDLE


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


class Section(Around):
    """A part of the program that is measured each time it runs."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._runs = None  # as `Around` does, without the call
        self._name = name

    def _again(self) -> Section:
        return Section(self._name)

    def _begin(self) -> Span:
        return process_now().begin(self._name)

    def _end(self, opened: Span, stopped: int) -> None:
        opened.process.end(opened, stopped)
