"""Counts how often functions are called, from which file, and who called each of them first.

They are met as `whet probe` meets a function: the interpreter tells of them from Python 3.12 on,
before that their modules are compiled with one call more at the beginning of each. Nothing else is
traced, and nothing else is slower.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys

BEFORE = frozenset(sys.modules)  # what is imported here, the program gets again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from whet.agent.site.whet_probe import look_out
    from whet.agent.site.whet_probe.hits import Hits, Probe
    from whet.agent.site.whet_probe.loading import Loading
    from whet.agent.site.whet_probe.report import Report
else:
    from whet_probe import look_out
    from whet_probe.hits import Hits
    from whet_probe.report import Report

_SITE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MOST_FRAMES = 30
_MOST_FUNCTIONS = 1 << 16
_frame_above: Callable[[int], FrameType] = vars(sys)["_getframe"]


def begin(folder: str, wish: str) -> Loading | None:
    """Count from here on; return what compiles modules, if anything is to.

    Args:
        folder: where what was counted is left for whet.
        wish: as of `whet_probe.begin`.
    """
    return look_out(_Counting(folder, wish, _Counts(folder, _MOST_FUNCTIONS)), BEFORE)


class _Counts(Report):
    """What one process has counted, in files that aren't those of probes.

    Attributes:
        called: the functions that this process has called.
    """

    def __init__(self, folder: str, count: int) -> None:
        super().__init__(folder, count)
        self.called: set[int] = set()

    def path(self, suffix: str) -> str:
        return super().path(suffix.replace("probe-", "where-").replace("probes", "where"))

    def _begin_file(self, pid: int) -> None:
        super()._begin_file(pid)
        self.called = set()


class _Counting(Hits):
    """Counts each function that is met on its own."""

    def __init__(self, folder: str, wish: str, counts: _Counts) -> None:
        super().__init__(folder, wish, counts)
        self._counts = counts
        self._functions: dict[str, int] = {}
        self._is_used_here = any(self.is_held(each, BEFORE) for each in self.probes)

    def number(self, _probe: Probe, name: str, /) -> int:
        """Return the number of a function, which it keeps however often its module is loaded."""
        return self._functions.setdefault(name, min(len(self._functions), _MOST_FUNCTIONS - 1))

    def loads(self, path: str, module: str, _probes: list[Probe], /) -> None:
        self.report.tell({"file": path, "module": module, "by": _stack(_frame_above(1))})

    def at(self, numbers: list[int], frame: FrameType, /, **_known: object) -> None:
        if self._is_used_here and _is_for_whet(frame.f_back):
            return
        counts = self._counts
        for number in numbers:  # one: there is one probe
            counts.count(number)
            if number not in counts.called:
                counts.called.add(number)
                self._tell_first(number, frame)

    def _tell_first(self, number: int, frame: FrameType) -> None:
        name = next(name for name, each in self._functions.items() if each == number)
        path, by = frame.f_code.co_filename, _stack(frame.f_back)
        self.report.tell({"function": name, "number": number, "file": path, "by": by})


def _is_for_whet(frame: FrameType | None) -> bool:
    """Whether it is whet that calls something of a module which it uses itself."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(_SITE):
            return True
        frame = frame.f_back
    return False


def _stack(frame: FrameType | None) -> list[list[object]]:
    """Return file, line and function of frames, innermost last, without those of the import system."""
    found: list[list[object]] = []
    while frame is not None and len(found) < _MOST_FRAMES:
        code = frame.f_code
        if not code.co_filename.startswith(("<frozen importlib", _SITE)):
            found.append(
                [code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)]
            )
        frame = frame.f_back
    return found[::-1]
