"""Clocks that go a thousand times slower, or a memory that seems a thousandth of what it is.

A program that passes with them fails by what it measures of itself: a number that only holds a time
still holds it. Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import re
import sys
from _frozen_importlib import ModuleSpec

from .keepers import Growing
from .report_file import is_own, user_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, ModuleType
    from typing import Any

    from .report_file import ReportLines

    Guards = dict[str, Callable[[dict[str, Any]], None]]

_TIMES = 1000
_CLOCKS = ("perf_counter", "monotonic", "time", "process_time", "thread_time")
_OF_USE, _SIZES = ("ru_utime", "ru_stime"), ("ru_maxrss", "ru_ixrss", "ru_idrss", "ru_isrss")
_OF_KERNEL = re.compile(r"/proc/(?:self|\d+)/(?:statm|status|smaps_rollup)")
_NUMBER = re.compile(r"(?<=[\s:])\d+(?= kB)|\b\d+\b(?=[ \d]*\n?\Z)")
_MEASURING = ("timeit.py",)
_RUNNERS = ("/_pytest/", "/pluggy/", "/unittest/", "/whet_closer/", "/xdist/")
_FIRST_SECONDS, _TIMES_LATER, _MOST_LOOKS = 0.05, 1.6, 16
_LEAST_KEYS, _MOST_KEYS, _TIMES_FEWER = 64, 20_000, 8
_ANYTHING = (Exception,)
_above = vars(sys)["_getframe"]
_type_of: Callable[[Any], type[Any]] = type


class Readings:
    """Gives the program other readings of its time or its memory, and tells what it holds then.

    Attributes:
        guards: what is called with the namespaces of modules when they have been run.
    """

    def __init__(self, told: ReportLines, asked: str) -> None:
        """Change nothing yet; what is asked for is ``time`` or ``memory``."""
        self._told, self._is_time = told, asked == "time"
        self._hashes, self._growing = Hashes(told), Growing(told)
        self._told_places: set[tuple[Any, ...]] = set()
        self._modules: dict[str, ModuleType] = {}
        self._users: dict[str, bool] = {}
        self.guards: Guards = {}

    def begin(self) -> None:
        """Change what the program reads."""
        resource = self._kept("resource")
        names = _OF_USE if self._is_time else _SIZES
        use = resource.getrusage

        def getrusage(who: int) -> Any:
            return _with_less(use(who), names)

        self._replace(resource, "getrusage", getrusage)
        if self._is_time:
            clocks = self._kept("time")
            for name in _CLOCKS:
                for each in (name, name + "_ns"):
                    if hasattr(clocks, each):
                        self._replace(clocks, each, self._slow(getattr(clocks, each)))
            self.guards = {"datetime": self._slow_dates}
            self._hashes.begin()
        else:
            collector = self._kept("gc")
            found = collector.get_objects
            blocks = sys.getallocatedblocks

            def get_objects(*given: Any, **named: Any) -> list[Any]:
                objects: list[Any] = found(*given, **named)
                return objects[: len(objects) // _TIMES]

            self._replace(collector, "get_objects", get_objects)
            self._replace(sys, "getallocatedblocks", lambda: blocks() // _TIMES)
            self.guards = {"tracemalloc": self._small_traces}
            self._small_files()
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Return what gives the program the modules that were changed, also when it imports them later."""
        own: Any = self
        return ModuleSpec(name, own) if name in self._modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module that was changed."""
        return self._modules[spec.name]

    def exec_module(self, _module: ModuleType) -> None:
        """Run nothing: it has been run."""

    def _kept(self, name: str) -> Any:
        self._modules[name] = __import__(name)
        return self._modules[name]

    def _replace(self, module: Any, name: str, reading: Callable[..., Any]) -> None:
        """Have the program read something else; who has to wait or to clean up reads what is true."""
        true = getattr(module, name)

        def read(*given: Any, **named: Any) -> Any:
            frame = _above(1)
            if not self._is_measuring(frame.f_code.co_filename):
                return true(*given, **named)
            self._note(frame)
            return reading(*given, **named)

        read.__name__ = read.__qualname__ = name
        setattr(module, name, read)

    def _is_measuring(self, path: str) -> bool:
        known = self._users.get(path)
        if known is None:
            is_python = path.startswith(("<frozen", _STANDARD)) and "-packages/" not in path
            is_other = is_python or any(part in path for part in _RUNNERS)
            known = self._users[path] = not is_other or path.endswith(_MEASURING)
        return known

    def _note(self, frame: FrameType) -> None:
        at = user_place(frame)
        if not at:
            return
        if tuple(at) not in self._told_places:
            self._told_places.add(tuple(at))
            self._told.tell("reading", place=at)
        if not self._is_time:
            own: FrameType | None = frame
            while own is not None and not is_own(own.f_code.co_filename):
                own = own.f_back
            if own is not None:
                self._growing.look(own)

    def _slow(self, clock: Callable[[], Any]) -> Callable[[], Any]:
        begun = clock()
        is_whole = type(begun) is int
        return lambda: (
            begun + ((clock() - begun) // _TIMES if is_whole else (clock() - begun) / _TIMES)
        )

    def _slow_dates(self, module: dict[str, Any]) -> None:
        true: Any = module["datetime"]
        begun = true.now(module["timezone"].utc)

        def slow(frame: FrameType) -> Any:
            self._note(frame)
            passed = true.now(begun.tzinfo) - begun
            return begun + passed / _TIMES

        def now(_kind: Any, tz: Any = None) -> Any:
            at = slow(_above(1)).astimezone(tz)
            return at.replace(tzinfo=None) if tz is None else at

        def utcnow(_kind: Any) -> Any:
            return slow(_above(1)).replace(tzinfo=None)

        def is_one(_kind: Any, value: object) -> bool:
            return isinstance(value, true)

        kind = type("Kind", (type,), {"__instancecheck__": is_one})
        names = {"now": classmethod(now), "utcnow": classmethod(utcnow), "__module__": "datetime"}
        module["datetime"] = kind("datetime", (true,), names)

    def _small_traces(self, module: dict[str, Any]) -> None:
        class Own:
            """What has the functions of a namespace as attributes."""

        own: Any = Own()
        own.__dict__ = module
        sizes, taken = module["get_traced_memory"], module["take_snapshot"]

        def get_traced_memory() -> tuple[int, int]:
            now, peak = sizes()
            return now // _TIMES, peak // _TIMES

        self._replace(own, "get_traced_memory", get_traced_memory)

        def take_snapshot() -> Any:
            snapshot: Any = taken()
            names: dict[str, Any] = snapshot.traces.__dict__
            traces: Any = names["_traces"]
            names["_traces"] = [*map(_smaller, traces)]
            return snapshot

        self._replace(own, "take_snapshot", take_snapshot)

    def _small_files(self) -> None:
        files = sys.modules["io"]
        true = files.__dict__["open"]

        def opened(file: Any, mode: str = "r", *given: Any, **named: Any) -> Any:
            stream = true(file, mode, *given, **named)
            if type(file) is int or not _OF_KERNEL.fullmatch(os.fsdecode(file)):
                return stream
            frame = _above(1)
            while frame.f_code.co_filename.startswith(_STANDARD) and frame.f_back is not None:
                frame = frame.f_back  # such as `Path.read_text`
            if not self._is_measuring(frame.f_code.co_filename):
                return stream
            with stream:
                content = stream.read()
            self._note(frame)
            words = content.decode() if type(content) is bytes else content
            less = _NUMBER.sub(lambda match: str(int(match[0]) // _TIMES), words)
            is_text = type(content) is str
            made: Any = (
                files.__dict__["StringIO"](less)
                if is_text
                else files.__dict__["BytesIO"](less.encode())
            )
            return made

        for each in (files, sys.modules["builtins"]):
            each.__dict__["open"] = opened


def _smaller(trace: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a trace of tracemalloc, with a thousandth of its size."""
    domain, size, *rest = trace
    return domain, size // _TIMES, *rest


def _with_less(use: Any, names: tuple[str, ...]) -> Any:
    """Return what a process has used, some of it a thousandth."""
    values: list[Any] = []
    for name in re.findall(r"ru_\w+", repr(use)):
        value: Any = getattr(use, name)
        less = value // _TIMES if type(value) is int else value / _TIMES
        values.append(less if name in names else value)
    return type(use)(values)


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
            seconds *= _TIMES_LATER
            try:
                self._look()
            except _ANYTHING:
                continue  # the program changes what is looked at

    def _look(self) -> None:
        for each in self._objects():
            kind: type[Any] = _type_of(each)
            if kind is not set and kind is not frozenset and not issubclass(kind, dict):
                continue
            size = len(each)
            if size < _LEAST_KEYS:
                continue
            key = next(iter(each))
            own: type[Any] = _type_of(key)
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


_STANDARD = os.path.dirname(os.__file__) + os.sep
