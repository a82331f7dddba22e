"""An error as data: its chain, its group, its frames and what they held."""

from __future__ import annotations

import os
import sys
import time
from _json import encode_basestring_ascii as _quoted
from itertools import islice

from .arrays import among, is_exactly
from .scenery import classes_of, modules_loaded, search_path
from .values import Reader, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType, FrameType, TracebackType
    from typing import Any

    Node = Any

if TYPE_CHECKING or __name__.startswith("whet."):
    from whet.agent.site.whet_installed import is_library
else:
    from whet_installed import is_library

_MOST_FRAMES, _FIRST_FRAMES = 100, 20
_MOST_ERRORS = 12
_SECONDS = 0.12
"""The CPU time for reading values; frames without values take next to nothing."""

RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_HIDDEN = ("__builtins__",)


def capture(error: BaseException, where: str, thread: str) -> Sequence[bytes]:
    """Return an error with its frames as one line of JSON.

    Args:
        error: what was raised.
        where: what has caught it: ``main``, ``thread``, ``pytest`` and so on.
        thread: name of the thread, the test or the task.
    """
    began = time.perf_counter()
    capturing = _Capturing(_SECONDS)
    raised = capturing.error(error)
    capturing.fill()
    frames = [frame for _, frame in capturing.open]
    rank = next((os.environ[name] for name in RANKS if name in os.environ), "")
    told = {
        "pid": os.getpid(),
        "rank": int(rank) if rank.isdigit() else None,
        "where": where,
        "thread": thread,
        "python": sys.version.split()[0],
        "error": raised,
        "classes": classes_of(frames, error),
        "modules": modules_loaded(),
        "search": search_path(),
        "seconds": round(time.perf_counter() - began, 4),
    }
    return [as_json(told).encode("ascii") + b"\n"]


class _Capturing:
    """One error on its way."""

    def __init__(self, seconds: float) -> None:
        self._reader = Reader(seconds)
        self._errors = 0
        self.open: list[tuple[dict[str, Any], FrameType]] = []
        self._seen: set[int] = set()

    def error(self, error: BaseException, relation: str = "") -> dict[str, Any]:
        """Return an error, with what it was raised from."""
        self._errors += 1
        self._seen.add(id(error))
        told: dict[str, Any] = {
            "type": type_name(type(error)),
            "arguments": [],
            "relation": relation,
        }
        is_endless = issubclass(type(error), RecursionError)
        told["frames"], told["skipped"] = self._frames(
            _own(error, "__traceback__"), numbers={} if is_endless else None
        )
        told["arguments"] = self._reader.values(_own(error, "args"))
        earlier = _own(error, "__cause__")
        how = "cause"
        if earlier is None and not _own(error, "__suppress_context__"):
            earlier, how = _own(error, "__context__"), "context"
        told["earlier"] = self._other(earlier, how)
        group = getattr(sys.modules["builtins"], "BaseExceptionGroup", None)
        if group is not None and among(group, type(error).__mro__):
            members = group.__dict__["exceptions"].__get__(error)
            told["members"] = [found for each in members if (found := self._other(each, "member"))]
        return told

    def _other(self, error: BaseException | None, relation: str) -> dict[str, Any] | None:
        if error is None or id(error) in self._seen or self._errors >= _MOST_ERRORS:
            return None
        return self.error(error, relation)

    def _frames(
        self, trace: TracebackType | None, numbers: dict[int, int] | None
    ) -> tuple[list[dict[str, Any]], int]:
        """Return the frames, the first and the last of very many, and how many are left out.

        With ``numbers``, each frame also tells which of its parameters are the same objects as in others.
        """
        traces: list[TracebackType] = []
        while trace is not None:
            traces.append(trace)
            trace = trace.tb_next
        skipped = max(len(traces) - _MOST_FRAMES, 0)
        if skipped:
            del traces[_FIRST_FRAMES : _FIRST_FRAMES + skipped]
        frames: list[dict[str, Any]] = []
        for trace in traces:
            frame = trace.tb_frame
            code = frame.f_code
            told = {
                "path": code.co_filename,
                "line": trace.tb_lineno,
                "first_line": code.co_firstlineno,
                "function": getattr(code, "co_qualname", code.co_name),
                "name": code.co_name,
                "module": _module_of(frame),
                "at": _position(code, trace.tb_lasti),
                "variables": None,
            }
            if numbers is not None:
                told["parameters"] = _parameters(frame, numbers)
            frames.append(told)
            self.open.append((told, frame))
        return frames, skipped

    def fill(self) -> None:
        """Look at the variables: the user's innermost frames first, while there is time."""
        innermost_first = self.open[::-1]
        ordered = sorted(innermost_first, key=lambda each: is_library(each[0]["path"]))
        for told, frame in ordered[:_MOST_FRAMES]:
            if self._reader.is_time_up():
                break
            told["variables"] = self._variables(frame, is_shallow=is_library(told["path"]))

    def _variables(self, frame: FrameType, *, is_shallow: bool) -> list[list[Node]]:
        values = frame.f_locals
        names = list(values)
        if frame.f_code.co_name == "<module>":
            names = [name for name in names if not name.startswith("__") and _is_told(values[name])]

        def read(name: str, value: object) -> Node:
            return self._reader.named(name, value, is_shallow=is_shallow)

        found = [[name, read(name, values[name])] for name in names if name not in _HIDDEN]
        if is_shallow:
            return found
        used = [name for name in frame.f_code.co_names if name not in values]
        space = frame.f_globals
        told = [name for name in used if name in space and _is_told(space[name])]
        return found + [[name, read(name, space[name]), "global"] for name in told]


def _own(error: BaseException, name: str) -> Any:
    return BaseException.__dict__[name].__get__(error)


def _parameters(frame: FrameType, numbers: dict[int, int]) -> list[list[Any]]:
    """Return the parameters of a call, each with a number that the same object has in each call."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [
        [name, numbers.setdefault(id(values[name]), len(numbers))]
        for name in names
        if name in values
    ]


def _module_of(frame: FrameType) -> str:
    name = frame.f_globals.get("__name__")
    return name if type(name) is str else ""


def _position(code: CodeType, last_instruction: int) -> list[int] | None:
    """Return first and last line and column (in bytes) of what was being evaluated; PEP 657."""
    positions: Callable[[], Iterator[Any]] | None = getattr(code, "co_positions", None)
    if positions is None or last_instruction < 0:
        return None
    at: Any = next(islice(positions(), last_instruction // 2, None), None)
    return None if at is None or None in at else list(at)


def _is_told(value: object) -> bool:
    """Whether a global tells something: modules, functions and classes are there in any run."""
    kind = type(value)
    is_class = among(type, type.__dict__["__mro__"].__get__(kind))
    return not is_class and type.__dict__["__name__"].__get__(kind) not in _COMMON


_COMMON = {
    "module",
    "function",
    "builtin_function_or_method",
    "_Feature",
    "_GenericAlias",
    "_SpecialForm",
    "method-wrapper",
    "wrapper_descriptor",
}


def as_json(value: Any) -> str:
    """Return data as JSON.

    Not by `json`: it brings in modules that evaluate text, after which Python no longer knows that
    an interrupt from the keyboard has ended the program, and exits with another code.
    """
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if is_exactly(value, dict):
        pairs = [_quoted(name) + ":" + as_json(each) for name, each in value.items()]
        return "{" + ",".join(pairs) + "}"
    if type(value) in {list, tuple}:
        return "[" + ",".join(map(as_json, value)) + "]"
    return _quoted(value) if type(value) is str else repr(value)
