"""What is done where the program comes to what is asked for.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
from fnmatch import fnmatchcase

from .actions import Actions
from .beside import ANY_ERROR
from .expressions import Expression
from .report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any
if TYPE_CHECKING or __name__.startswith("whet."):
    from whet.agent.site.whet_installed import is_library
else:
    from whet_installed import is_library

_frame_above: Callable[[int], FrameType] = vars(sys)["_getframe"]
_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MOST_WITHIN = 64
_FROZEN = "<frozen "
_FROZEN_LENGTH = len(_FROZEN)
LAMBDA = "<lambda>"
"""The name of functions that only their lines distinguish."""


class Probe:
    """One place that is asked for, and what is to be done there.

    Attributes:
        number: its place in the list.
        title: as the user knows it.
        kind: ``line``, ``loop``, ``call``, ``return``, ``raise`` or ``trace``.
        path: the file; empty: any.
        module: the module, in case another file is loaded for it.
        line: first line of the statement (of a loop, of its first one), or of a lambda.
        loop: the line of the loop.
        last: its last line, of a compound one that of its head.
        name: qualified name of the function or the error, as a pattern.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.number: int = told["number"]
        self.title: str = told["title"]
        self.kind: str = told["kind"]
        self.path: str = told["path"]
        self.module: str = told["module"]
        self.line: int = told["line"]
        self.last: int = told["last"]
        self.loop: int = told.get("loop", 0)
        self.name: str = told["name"]
        self.condition = Expression(told["condition"]) if told["condition"] else None
        self.after: int = told["after"]
        self.every: int = told["every"]
        self.actions: list[list[str]] = told["actions"]
        self.passed = 0

    def is_asked(self, name: str) -> bool:
        """Whether a function is meant, by its qualified name."""
        return fnmatchcase(name, self.name)

    def is_error(self, error: BaseException) -> bool:
        """Whether an error is meant: its class, or one that it is derived from, has the name."""
        return any(
            fnmatchcase(each.__name__, self.name)
            or fnmatchcase(each.__module__ + "." + each.__qualname__, self.name)
            for each in type(error).__mro__
            if each is not object
        )


class Hits:
    """Acts when a probe is met; knows which there are.

    Attributes:
        probes: what is asked for.
        report: where it is told.
    """

    def __init__(self, folder: str, wish: str, report: Report | None = None) -> None:
        told: dict[str, Any] = json.loads(wish)
        self.report = report or Report(folder, len(told["probes"]))
        ranks: list[int] = told["ranks"]
        is_meant = not ranks or self.report.rank in ranks
        self.probes = [Probe(each) for each in told["probes"]] if is_meant else []
        self._names: dict[str, str] = {}
        self._busy: set[int] = set()
        self._actions = Actions(self.report)
        self._most_calls: int = told["most_calls"]
        self._calls: dict[int, int] = {}
        self._made = 0
        self._has_failed = False
        self._errors = [each for each in self.probes if each.kind == "raise"]

    # ---- which ----

    def path_of(self, name: str) -> str:
        """Return the whole path of a file as code names it."""
        if name[:_FROZEN_LENGTH] == _FROZEN:  # a part of the interpreter, which may have a file too
            module = sys.modules.get(name[_FROZEN_LENGTH:-1])
            name = vars(module).get("__file__") or name if module is not None else name
        if name not in self._names:
            self._names[name] = name if name[:1] == "<" else os.path.realpath(name)
        return self._names[name]

    def of_file(self, path: str, module: str) -> list[Probe]:
        """Return the probes in a file that is loaded as a module."""
        return [
            each
            for each in self.probes
            if each.kind != "raise"
            and (each.path == path or (each.module == module and bool(module)))
        ]

    def is_held(self, probe: Probe, early: frozenset[str]) -> bool:
        """Whether one of some modules that Python has by now is the one of a probe."""
        name = os.path.basename(probe.path)
        for module in early & sys.modules.keys() - {"__main__"} if name else ():
            file = str(getattr(sys.modules[module], "__file__", None) or "")
            is_file = os.path.basename(file) == name and self.path_of(file) == probe.path
            if is_file or module == probe.module:
                return True
        return False

    def number(self, probe: Probe, _name: str, /) -> int:
        """Return what a function that is met is told by."""
        return probe.number

    def is_own(self, name: str) -> bool:
        """Whether a file is the user's own, and neither Python's nor installed."""
        path = self.path_of(name)
        return (
            path[:1] != "<"
            and not path.startswith(_SITE)
            and not is_library(path)
            and not is_library(name)  # Debian's links lead out of there
        )

    def loads(self, path: str, module: str, probes: list[Probe], /) -> None:
        """Note that a file with probes has been loaded."""
        numbers = [each.number for each in probes]
        self.report.tell({"loaded": path, "module": module, "probes": numbers})

    # ---- what happens ----

    def at(self, numbers: list[int], frame: FrameType, /, **known: object) -> None:
        """Act where a line or a function is reached; the program doesn't notice."""

        def act() -> None:
            for each in self.probes:
                if each.number in numbers:
                    self._meet(each, frame, known)

        self._alone(act)

    def _alone(self, act: Callable[[], None]) -> None:
        """Do something of whet's own: probes that this leads to aren't met."""
        thread = _thread.get_ident()
        if thread in self._busy:
            return
        self._busy.add(thread)
        try:
            act()
        except ANY_ERROR as error:  # whet's own; the program is what matters
            if not self._has_failed:
                self._has_failed = True
                self.report.say("whet itself failed here: {!r}".format(error))
        finally:
            self._busy.discard(thread)

    def raised(self, frame: FrameType, error: BaseException) -> None:
        """Act on an error that has come into the user's own code."""
        numbers = [each.number for each in self._errors if each.is_error(error)]
        if numbers:
            self.at(numbers, frame, __exception__=error)

    def _meet(self, probe: Probe, frame: FrameType, known: dict[str, object]) -> None:
        self.report.count(probe.number)
        if probe.condition is not None and not probe.condition.holds(frame, known, self.report):
            return
        probe.passed += 1
        if probe.passed <= probe.after or (probe.passed - probe.after - 1) % probe.every:
            return
        self._actions.perform(probe, frame, known)

    # ---- calls as a tree ----

    def enters(self, numbers: list[int], frame: FrameType) -> None:
        """Note that a function is called, by which one, and with what."""

        def act() -> None:
            for each in numbers:
                self.report.count(each)
            if self._made < self._most_calls:
                self._made += 1
                self._calls[id(frame)] = self._made
                self.report.tell_call(self._made, self._caller(frame), frame)

        self._alone(act)

    def leaves(self, frame: FrameType, value: object, error: BaseException | None) -> None:
        """Note that a call has ended: with what, or how."""
        made = self._calls.pop(id(frame), 0)
        if made:
            self._alone(lambda: self.report.tell_end(made, value, error))

    def _caller(self, frame: FrameType) -> int:
        """Return the number of the innermost call around a frame; 0: there is none."""
        above = frame.f_back
        for _ in range(_MOST_WITHIN):
            if above is None:
                return 0
            if id(above) in self._calls:
                return self._calls[id(above)]
            above = above.f_back
        return 0


def name_of(code: CodeType) -> str:
    """Return the qualified name of a function, as it is written: without ``<locals>``."""
    return str(getattr(code, "co_qualname", code.co_name)).replace(".<locals>", "")
