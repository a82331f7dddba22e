"""`whet.annotate`: ranges and marks for profilers, and for whet's own timeline.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

from .around import Around, plain_name
from .places import here_now
from .recorder import FOLDER, process_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .recorder import Span, Words

    Close = Callable[[], object]

_NAMES = ("color", "domain", "category", "payload")
_TORCH, _JAX = "torch.autograd.profiler", "jax.profiler"
_modules: dict[str, Any] = sys.modules
_ANY_ERROR = (Exception,)


def annotate(
    message: str,
    *,
    color: str | int | None = None,
    domain: str | None = None,
    category: str | int | None = None,
    payload: float | None = None,
) -> Annotation:
    """Name a part of the program, or a moment, for profilers and for whet's timeline.

    For a ``with`` statement, or as a decorator of a function, a coroutine or a generator;
    `annotate(…).mark()` names a moment. It goes

    - to NVTX, which Nsight Systems shows, if the program has imported the ``nvtx`` package;
    - to `torch.profiler.record_function` and `jax.profiler.TraceAnnotation` while PyTorch's or
      JAX's profiler records (a moment: as a range without a length);
    - to the timeline of the trial if whet runs the program.

    Where nobody listens it does nothing, and takes about a microsecond.

    Args:
        message: what the part is called, such as ``forward``.
        color: a color's name, or its number ``0xRRGGBB``; for NVTX and whet.
        domain: the library or subsystem that it belongs to; for NVTX and whet.
        category: what kind of part it is, inside of its domain; for NVTX and whet.
        payload: a number that belongs to it, such as a size; for NVTX and whet.

    Raises:
        TypeError: if the message is not a text, or what it decorates is no function.
        ValueError: if the message is empty.
    """
    if message.__class__ is not str or not message:
        message = plain_name("annotate", message)
    return Annotation(message, (color, domain, category, payload))


class Annotation(Around):
    """A range of time, or a moment, with a name."""

    __slots__ = ("_message", "_words")

    def __init__(self, message: str, words: Words) -> None:
        self._runs = None  # as `Around` does, without the call
        self._message = message
        self._words = words

    def mark(self) -> None:
        """Name this moment."""
        for close in _opened(self._message, self._words, is_mark=True):
            _quietly(close)
        if FOLDER:
            process_now().mark(self._message, self._words)

    def _again(self) -> Annotation:
        return Annotation(self._message, self._words)

    def _begin(self) -> _Opened | None:
        closes = _NOTHING
        if "nvtx" in _modules or _TORCH in _modules or _JAX in _modules:
            closes = _opened(self._message, self._words)
        if FOLDER:
            return _Opened(
                process_now().begin_range(self._message, "annotate", self._words), closes
            )
        return _Opened(None, closes) if closes else None

    def _end(self, opened: _Opened, stopped: int) -> None:
        span = opened.span
        if span is not None:
            span.process.end_range(span, stopped)
        for close in reversed(opened.closes):
            _quietly(close)


class _Opened:
    """A range that has begun: in whet's timeline, and in profilers."""

    __slots__ = ("closes", "here", "span")

    def __init__(self, span: Span | None, closes: list[Close]) -> None:
        self.span = span
        self.closes = closes
        self.here = here_now() if span is None else span.here


_NOTHING: list[Any] = []


def _opened(message: str, words: Words, *, is_mark: bool = False) -> list[Close]:
    """Begin a range in each profiler that listens; return what ends it there."""
    nvtx, torch, jax = map(_modules.get, ("nvtx", _TORCH, _JAX))
    closes: list[Close] = []
    try:
        if nvtx is not None and _is_heard(nvtx, words[1]):
            closes += _opened_in_nvtx(nvtx, message, words, is_mark=is_mark)
        if torch is not None and getattr(torch, "_is_profiler_enabled", True):
            closes.append(_entered(vars(torch)["record_function"](message)))
        if jax is not None:
            closes += _opened_in_jax(jax, message)
    except _ANY_ERROR:  # a profiler that has changed: the program is what matters
        pass
    return closes


def _opened_in_jax(jax: Any, message: str) -> list[Close]:
    return [_entered(jax.TraceAnnotation(message))] if jax.TraceAnnotation.is_enabled() else []


def _is_heard(nvtx: Any, domain: Any) -> bool:
    """Whether a tool listens to NVTX; releases that don't say it are told everything."""
    find = getattr(nvtx, "get_domain", None)
    return find is None or type(find(domain)).__name__ != "DummyDomain"


def _opened_in_nvtx(nvtx: Any, message: str, words: Words, *, is_mark: bool) -> list[Close]:
    pairs = ((name, words[index]) for index, name in enumerate(_NAMES))
    given = {name: value for name, value in pairs if value is not None}
    if is_mark:
        nvtx.mark(message, **given)
        return []
    if here_now()[1] is not None:
        # Ranges of a thread are a stack; those of tasks overlap.
        number = nvtx.start_range(message, **given)
        return [lambda: nvtx.end_range(number)]
    nvtx.push_range(message, **given)
    domain = words[1]
    return [lambda: nvtx.pop_range(domain) if domain is not None else nvtx.pop_range()]


def _entered(manager: Any) -> Close:
    manager.__enter__()
    return lambda: manager.__exit__(None, None, None)


def _quietly(close: Close) -> None:
    try:
        close()
    except _ANY_ERROR:  # a profiler that has ended meanwhile
        pass
