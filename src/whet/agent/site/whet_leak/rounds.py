"""Measures at the beginning of the rounds of the user's loops, which run as they do anyway.

Each loop of each file of the user's counts its rounds. The more rounds there were, the rarer whet
looks, so that a program hardly takes longer.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import sys
import time
from functools import partial

from .growth import Growth
from .usage import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

    from whet.agent.site.whet_probe.beside import ANY_ERROR
    from whet.agent.site.whet_probe.hits import Hits, Probe
    from whet.agent.site.whet_probe.instrument import first_line
    from whet.agent.site.whet_probe.report import Report
else:
    from whet_probe.beside import ANY_ERROR
    from whet_probe.hits import Hits, Probe
    from whet_probe.instrument import first_line

_LOOPS = ("For", "While", "AsyncFor")
_FUNCTIONS = ("FunctionDef", "AsyncFunctionDef", "ClassDef")
_EACH_UP_TO, _STEP = 32, 1.05
_FREE_LOOKS, _FREE_SECONDS, _SHARE = 16, 1.0, 0.1
"""So often whet looks at each loop anyway; then for this long, and for this part of the time."""

_LONG_SECONDS, _MOST_FREEZES = 0.02, 4
"""Objects that have been there for a while aren't looked at again where that takes long."""

_FEWEST, _PATIENCE = 12, 2
"""A loop is judged after at least twelve rounds. One with few rounds gets twice the time."""

_clock = time.perf_counter


class Loop:
    """A loop of the user's.

    Attributes:
        told: what whet is told of it: file, line, function.
        count: how often a round has begun.
        at: the round at which it is measured next.
        spent: the seconds that measuring it has taken.
        looks: how often it was measured.
    """

    def __init__(self, told: list[object]) -> None:
        self.told = told
        self.count = 0
        self.at = 1.0
        self.spent = 0.0
        self.looks = 0


class Rounds(Hits):
    """Measures rounds of loops."""

    def __init__(self, folder: str, wish: str, report: Report) -> None:
        super().__init__(folder, wish, report)
        told: dict[str, Any] = json.loads(wish)
        self._looks_at: list[Any] | None = told["loop"]
        self._seconds: float = told["seconds"]
        self._between: list[int] = told["between"]
        self._usage = Usage()
        self._loops: dict[int, Loop] = {}
        self._found: dict[str, list[Probe]] = {}
        self._begun = _clock()
        self._growth: Growth | None = None
        self._pid = os.getpid()
        self._freezes = 0

    def of_file(self, path: str, module: str) -> list[Probe]:
        """Return a probe for each loop of a file of the user's, whatever the module is called."""
        del module
        if path not in self._found:
            self._found[path] = []
            if self.is_own(path) and path[:1] == "/":
                self._found[path] = self._probes_in(path)
        return self._found[path]

    def loads(self, _path: str, _module: str, _probes: list[Probe], /) -> None:
        """Note nothing: rounds tell of their loops."""

    def _probes_in(self, path: str) -> list[Probe]:
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read(), path)
        except (OSError, SyntaxError, ValueError, RecursionError):
            return []
        found: list[Probe] = []
        for first, last, line, function in _loops_in(tree, ""):
            told: list[object] = [path, line, function]
            if self._looks_at is not None and self._looks_at[:2] != told[:2]:
                continue
            number = len(self._loops)
            self._loops[number] = Loop(told)
            found.append(
                Probe({"number": number, "title": "", "kind": "loop", "path": path, "module": "",
                       "line": first, "last": last, "loop": line, "name": "", "condition": "", "after": 0,
                       "every": 1, "actions": []})
            )  # fmt: skip
        return found

    def at(self, numbers: list[int], _frame: FrameType, /, **_known: object) -> None:
        """Count a round, and measure if it is time to."""
        self.counts(numbers)

    def counts(self, numbers: list[int]) -> None:
        """Count a round of loops, and measure those that it is time for."""
        for number in numbers:
            loop = self._loops[number]
            loop.count += 1
            if loop.count >= loop.at and self._is_time(loop):
                self._alone(partial(self._look, loop))

    def _is_time(self, loop: Loop) -> bool:
        if self._between:
            return True
        if loop.looks < _FREE_LOOKS:
            return True
        return loop.spent < _FREE_SECONDS + _SHARE * (_clock() - self._begun)

    def _look(self, loop: Loop) -> None:
        began = _clock()
        if self._between:
            self._look_closer(loop)
        else:
            told = {"loop": loop.told, "round": loop.count - 1, "seconds": began - self._begun,
                    "usage": self._usage.sample()}  # fmt: skip
            self.report.tell(told)
            loop.at = loop.count + 1 if loop.count < _EACH_UP_TO else loop.count * _STEP
        loop.looks += 1
        loop.spent += _clock() - began
        if _clock() - began > _LONG_SECONDS and self._freezes < _MOST_FREEZES and not self._between:
            self._freezes += 1
            gc.freeze()
        spent = _clock() - self._begun
        is_enough = loop.count > _EACH_UP_TO or spent > _PATIENCE * self._seconds
        if self._seconds and spent > self._seconds and is_enough and loop.count > _FEWEST:
            self.report.tell({"stops": loop.told, "round": loop.count - 1})
            leave(self._pid)

    def _look_closer(self, loop: Loop) -> None:
        first, middle, last = self._between
        if loop.count >= last and self._growth is not None:
            told = self._growth.facts(loop.count - middle)
            self.report.tell({"growth": told, "loop": loop.told})
            leave(self._pid)
        elif loop.count >= middle and self._growth is not None:
            self._growth.note()
            loop.at = last
        elif loop.count >= first:
            self._growth = Growth(self.is_own)
            self._growth.begin()
            loop.at = middle


def leave(pid: int) -> None:
    """End the program here: what whet wanted to know, it knows."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except ANY_ERROR:  # closed, or full: it ends all the same
            pass
    if os.getpid() == pid:
        os._exit(0)


def _loops_in(node: Any, within: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield of each loop the lines of the first statement of a round, its own line and function."""
    children: Iterator[Any] = ast.iter_child_nodes(node)
    for child in children:
        kind = type(child).__name__
        if kind in _LOOPS:
            first: Any = child.body[0]
            last = first.body[0].lineno - 1 if hasattr(first, "body") else first.end_lineno
            start = first_line(first)
            yield start, max(start, int(last or start)), child.lineno, within
        inner = within
        if kind in _FUNCTIONS:
            inner = within + "." + child.name if within else child.name
        yield from _loops_in(child, inner)
