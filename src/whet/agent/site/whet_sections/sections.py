"""`whet.section`.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

from .around import Around, plain_name
from .recorder import FOLDER, process_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from .recorder import Span


def section(name: str, *, objects: bool = False) -> Section:
    """Measure a part of the program: its time, and what memory it needs and keeps.

    For a ``with`` statement, or as a decorator of a function, a coroutine or a generator. whet
    keeps each run of the part with its trial, and what they come to as numbers: `NAME.seconds`,
    `NAME.cpu_seconds`, `NAME.peak_memory` and `NAME.kept_memory` (bytes), and `NAME.count`.
    Where the program uses them, also of Python's own memory while `tracemalloc` traces it
    (`NAME.python_peak_memory`), and of GPUs as PyTorch counts them (`NAME.gpu_peak_memory`,
    `NAME.gpu_reserved_peak_memory`, `NAME.gpu_outside_kept_memory`) or JAX (`NAME.jax_gpu_peak_memory`).

    Without whet it does nothing, and takes less than a microsecond.

    Args:
        name: what the section is called, such as ``load``.
        objects: also count how many objects of Python are kept, by type (`NAME.kept_objects`); this
            collects garbage, and takes about a second for ten million objects.

    Raises:
        TypeError: if the name is not a text, or what it decorates is no function.
        ValueError: if the name is empty.
    """
    if name.__class__ is not str or not name:
        name = plain_name("section", name)
    return Section(name, objects=objects) if FOLDER else _IDLE


class _Idle:
    """Stands for a section that nobody wants to know of."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, function: object) -> object:
        return function


class Section(Around):
    """A part of the program that is measured each time it runs."""

    __slots__ = ("_name", "_objects")

    def __init__(self, name: str, *, objects: bool) -> None:
        self._runs = None  # as `Around` does, without the call
        self._name = name
        self._objects = objects

    def _again(self) -> Section:
        return Section(self._name, objects=self._objects)

    def _begin(self) -> Span:
        return process_now().begin(self._name, objects=self._objects)

    def _end(self, opened: Span, stopped: int) -> None:
        opened.process.end(opened, stopped)


if TYPE_CHECKING:
    _IDLE: Section
else:
    _IDLE = _Idle()
