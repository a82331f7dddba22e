"""What a probe does when it is met: tells, waits, opens a debugger, ends the program.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys

from .beside import ANY_ERROR
from .expressions import Expression, FailedError
from .report import arguments_of
from .stop import break_in, hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .hits import Probe
    from .report import Report

_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MOST_FRAMES = 30
_DIED = 1
_MIB = 1 << 20


class Actions:
    """Performs the actions of probes."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._expressions: dict[str, Expression] = {}

    def perform(self, probe: Probe, frame: FrameType, known: dict[str, object]) -> None:
        """Do what is asked for where a probe was met."""
        # Where the error comes through, the frame may be further on already.
        line = _line_of(known.get("__exception__"), frame)
        told: dict[str, Any] = {
            "probe": probe.number,
            "line": line,
            "function": str(getattr(frame.f_code, "co_qualname", frame.f_code.co_name)),
        }
        words: list[str] = []
        below: list[str] = []
        names = [each[0] for each in probe.actions]
        for name, *given in probe.actions:
            if name == "print":
                words += self._values(given, frame, known, told)
            elif name == "mem":
                told["memory"] = memory()
                words += [_memory_words(told["memory"])]
            elif name in {"stack", "die"} and "stack" not in told:
                told["stack"] = stack(frame, line)
                below += ["    {}:{} in {}".format(*each) for each in told["stack"]]
        if names == ["count"]:
            return  # the numbers are told at the end
        head = _head(probe, frame, known, self._report)
        if "die" in names:
            words.append("reached: the program ends here; innermost first:")
        self._report.tell(told)
        if words or below or not {"break", "sleep"} & set(names):
            self._report.say("\n".join(["  ".join([head, *words]), *below]))
        self._stop(probe, frame, head)

    def _stop(self, probe: Probe, frame: FrameType, head: str) -> None:
        for name, *given in probe.actions:
            if name == "die":
                _die()
            elif name == "sleep":
                hold(float(given[0]), head, self._report)
            elif name == "break":
                break_in(frame, head, self._report)

    def _values(
        self, texts: list[str], frame: FrameType, known: dict[str, object], told: dict[str, Any]
    ) -> list[str]:
        found: list[tuple[str, object]] = []
        for text in texts:
            if text not in self._expressions:
                self._expressions[text] = Expression(text)
            found.append((text, self._expressions[text].value(frame, known)))
        if not texts and not known:
            found = arguments_of(frame)
        words: list[str] = []
        values = told.setdefault("values", [])
        for name, value in found:
            if type(value) is FailedError:  # `isinstance` would ask the value
                node: Any = {"k": "plain", "type": "error", "text": value.words}
            else:
                node = self._report.value(name, value)
            values.append([name, node])
            words.append("{} = {}".format(" ".join(name.split()), self._report.shown(node)))
        return words


def _head(probe: Probe, frame: FrameType, known: dict[str, object], report: Report) -> str:
    """Return what a line begins with: where, in what, and what is on its way there."""
    place = "{}:{}".format(os.path.basename(frame.f_code.co_filename), frame.f_lineno)
    name = str(getattr(frame.f_code, "co_qualname", frame.f_code.co_name))
    if probe.kind == "return":
        return "{} {} returns {}".format(
            place, name, report.shown(report.value("", known["__return__"]))
        )
    if probe.kind == "raise":
        error = known["__exception__"]
        place = "{}:{}".format(os.path.basename(frame.f_code.co_filename), _line_of(error, frame))
        return "{} in {} raises {}".format(place, name, _error_words(error, report))
    if probe.kind == "line":
        place = probe.title
    return place if name == "<module>" else "{} {}".format(place, name)


def _error_words(error: Any, report: Report) -> str:
    """Return an error as the last line of a traceback has it, as far as it can be had without it."""
    arguments = BaseException.__dict__["args"].__get__(error)
    if len(arguments) == 1 and type(arguments[0]) is str:
        return "{}: {}".format(type(error).__name__, report.shown(report.value("", arguments[0])))
    return report.shown(report.value("", error))


def _line_of(error: Any, frame: FrameType) -> int:
    trace = getattr(error, "__traceback__", None)
    return frame.f_lineno if trace is None else int(trace.tb_lineno)


def stack(frame: FrameType | None, line: int) -> list[list[object]]:
    """Return file, line and function of a frame and those around it, without whet's own.

    Args:
        frame: the innermost one.
        line: the line on which it is.
    """
    found: list[list[object]] = []
    while frame is not None and len(found) < _MOST_FRAMES:
        code = frame.f_code
        if not code.co_filename.startswith((_SITE, "<frozen importlib")):
            name = str(getattr(code, "co_qualname", code.co_name))
            found.append([code.co_filename, line, name])
        frame = frame.f_back
        line = 0 if frame is None else frame.f_lineno
    return found


def memory() -> dict[str, int]:
    """Return what the process holds now and has held at most, and what PyTorch holds, in bytes."""
    found: dict[str, int] = {}
    with open("/proc/self/status", "rb") as file:
        for line in file:
            name, _, rest = line.partition(b":")
            if name in {b"VmRSS", b"VmHWM"}:
                key = "resident_bytes" if name == b"VmRSS" else "peak_resident_bytes"
                found[key] = int(rest.split()[0]) * 1024
    found = {
        key: found[key] for key in sorted(found, reverse=True)
    }  # what it holds now comes first
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        found["cuda_allocated_bytes"] = cuda.memory_allocated()
        found["cuda_reserved_bytes"] = cuda.memory_reserved()
    tracer = sys.modules.get("_tracemalloc")
    if tracer is not None and vars(tracer)["is_tracing"]():
        found["traced_bytes"] = vars(tracer)["get_traced_memory"]()[0]
    return found


def _memory_words(found: dict[str, int]) -> str:
    names = {
        "resident_bytes": "resident",
        "peak_resident_bytes": "peak",
        "cuda_allocated_bytes": "CUDA",
        "cuda_reserved_bytes": "CUDA reserved",
        "traced_bytes": "tracemalloc",
    }
    return "  ".join(
        "{} {:.1f} MiB".format(names[key], value / _MIB) for key, value in found.items()
    )


def _die() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except ANY_ERROR:  # closed, or full: it ends all the same
            pass
    os._exit(_DIED)
