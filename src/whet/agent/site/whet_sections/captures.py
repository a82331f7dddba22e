"""`whet.capture`: what surrounds the part of a program that is to be profiled.

How a profiler that whet runs finds it out:

- Nsight Systems with ``--capture-range=cudaProfilerApi``: by the call of `cudaProfilerStart`.
- In the trial's timeline each capture is a span with the source ``capture``; samples of a profiler
  that can't be told to wait are cut to its time and process.
- Whatever whet has in the process hears the audit events ``whet.capture`` with ``begin`` and
  ``end`` (`sys.addaudithook`), the first before anything else is begun.
- With ``jax`` in ``WHET_CAPTURE``, JAX's profiler records each capture, and leaves the folder
  ``PID-NUMBER.jax`` in the agent's folder.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock

from .around import Around
from .memory import UNKNOWN
from .recorder import FOLDER, process_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Self

    from .recorder import Span

    End = Callable[[], object]

_EVENT = "whet.capture"
_ENGINES = os.environ.get("WHET_CAPTURE", "").split(",")
_INJECTED = ("CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID")
_ANY_FAILURE = (Exception,)


def capture() -> Capture:
    """Surround the part of the program that is to be profiled.

    For a ``with`` statement, or as a decorator of a function, a coroutine or a generator. It
    starts the CUDA profiler of the process (for ``nsys profile --capture-range=cudaProfilerApi``)
    and the profilers that whet asks for, and stops them at the end, also after an error. A capture
    inside another one does nothing; without a GPU and without whet, none does.

    Raises:
        TypeError: if what it decorates is no function.
    """
    if not FOLDER and len(sys.modules) == _WITHOUT_CUDA[0]:
        return _NOTHING_LISTENS
    return Capture()


class _NothingListens:
    """Stands for a capture without whet, while no library of CUDA is loaded."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, function: object) -> object:
        return Capture()(function)  # when it is called, a library may have been loaded


class Capture(Around):
    """A part of the program that is to be profiled, each time that it runs."""

    __slots__ = ()

    def _again(self) -> Capture:
        return Capture()

    def _begin(self) -> _Recording:
        pid = os.getpid()
        recording = _RECORDINGS.get(pid) or _RECORDINGS.setdefault(pid, _Recording())
        recording.begin()
        return recording

    def _end(self, opened: _Recording, stopped: int) -> None:
        opened.end(stopped)


class _Recording:
    """What one process records: one thing, whichever of its threads asks for it."""

    here = None

    def __init__(self) -> None:
        self._lock = RLock()
        self._pid = os.getpid()
        self._depth = self._count = 0
        self._ends: list[End] = []
        self._span: Span | None = None

    def begin(self) -> None:
        with self._lock:
            self._depth += 1
            if self._depth > 1:
                return
            self._count += 1
            sys.audit(_EVENT, "begin")
            if FOLDER and "jax" in _ENGINES:
                self._start(_start_jax("{}-{}".format(self._pid, self._count)))
            if (
                len(sys.modules) != _WITHOUT_CUDA[0]
            ):  # else no library has come since there was none
                self._start(_start_cuda())
            if FOLDER:  # last: what this costs is not the program's
                self._span = process_now().begin_range("capture", "capture")

    def _start(self, profiler: Iterator[End]) -> None:
        try:
            self._ends += profiler
        except _ANY_FAILURE:  # a profiler that has changed: the program is what matters
            pass

    def end(self, stopped: int) -> None:
        if self._pid != os.getpid():
            return  # it was forked inside of it
        with self._lock:
            self._depth -= 1
            if self._depth:
                return
            ends, self._ends = self._ends, []
            span, self._span = self._span, None
            if span is not None:
                span.process.end_range(span, stopped)
            for end in reversed(ends):
                try:
                    end()
                except _ANY_FAILURE:
                    pass
            sys.audit(_EVENT, "end")


_WITHOUT_CUDA = [UNKNOWN]  # how many modules there were when no library of CUDA was found
_RECORDINGS: dict[int, _Recording] = {}
if TYPE_CHECKING:
    _NOTHING_LISTENS: Capture
else:
    _NOTHING_LISTENS = _NothingListens()


def _start_jax(name: str) -> Iterator[End]:
    profiler: Any = sys.modules.get("jax.profiler")
    if profiler is None or profiler.TraceAnnotation.is_enabled():
        return  # the program's own records
    profiler.start_trace(os.path.join(FOLDER, "{}.jax".format(name)))
    yield profiler.stop_trace


def _start_cuda() -> Iterator[End]:
    """Start the CUDA profiler through the library that the process has loaded."""
    is_injected = any(each in os.environ for each in _INJECTED)
    paths = _cuda_libraries(must_be_used=not is_injected)
    if not paths:
        return
    import ctypes

    for path, prefix in paths:
        library = ctypes.CDLL(path)
        start = getattr(library, prefix + "ProfilerStart", None)
        if start is None or start():
            continue  # such as: no GPU

        def stop(library: Any = library, prefix: str = prefix) -> None:
            if is_injected:  # a profiler would lose what the GPU has not yet done
                wait = "cudaDeviceSynchronize" if prefix == "cuda" else "cuCtxSynchronize"
                getattr(library, wait)()
            getattr(library, prefix + "ProfilerStop")()

        yield stop
        return


def _cuda_libraries(*, must_be_used: bool) -> list[tuple[str, str]]:
    """Return CUDA's libraries that are loaded, the runtime before the driver, with their prefix.

    Args:
        must_be_used: none if the process has not used a GPU yet: the call would wake it up.
    """
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
            paths = {line.split(None, 5)[5].strip() for line in file if line.count("/")}
    except (OSError, IndexError):
        return []
    names = (("libcudart.so", "cuda"), ("libcudart-", "cuda"), ("libcuda.so", "cu"))
    found = [
        (path, prefix)
        for begin, prefix in names
        for path in sorted(paths)
        if os.path.basename(path).startswith(begin)
    ]
    _WITHOUT_CUDA[0] = UNKNOWN if found else len(sys.modules)
    is_used = any(path.startswith("/dev/nvidia") for path in paths)
    return found if is_used or not must_be_used else []
