"""What a test of pytest leaves behind: the places that hold something else after it than before it.

Before another test runs, some of them can be put back, to see whether that one passes then.
"""

from __future__ import annotations

import sys

from .left_places import (
    CLASS,
    DEFAULTS,
    GLOBAL,
    GONE,
    LOGGER,
    MISSING,
    Saved,
    is_users,
    places,
    put_back,
    read,
    shown_place,
    shown_text,
    text_of,
)
from .report_file import is_own, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from .left_places import Place
    from .report_file import ReportLines

_RUNNER = "_pytest.runner"
_MOST_TOLD, _MOST_EVENTS = 24, 200_000
_MOST_SECONDS = 5.0
"""Of looks at places between two lines: a place can hold much."""
_ANYTHING = (Exception,)


class LeftState:
    """Looks before and after tests, and puts back what they have left.

    What is asked for: the test that fails, the places to put back before it, and the tests to look
    at, each on a line; parts of a place stand between tabs.
    """

    def __init__(self, told: ReportLines, asked: str) -> None:
        self._told = told
        failing, count, *rest = asked.split("\n")
        self._failing = failing
        self._wanted = [tuple(each.split("\t")) for each in rest[: int(count)]]
        self._tests = set(rest[int(count) :])
        self._saved: dict[Place, Saved] = {}
        self._texts: dict[Place, str] = {}
        self._at: list[Any] = []
        self._events = 0
        times: Any = __import__("time")  # the program may replace what a module has
        self._clock: Callable[[], float] = times.thread_time
        self._spent = 0.0

    @property
    def guards(self) -> dict[str, Callable[[dict[str, Any]], None]]:
        """What is called with modules when they have been run."""
        return {_RUNNER: self._watch}

    def _watch(self, module: dict[str, Any]) -> None:
        run = module["runtestprotocol"]

        def runtestprotocol(item: Any, *words: Any, **named: Any) -> Any:
            name = str(getattr(item, "nodeid", ""))
            if name == self._failing:
                self._put_back()
            if name not in self._tests:
                return run(item, *words, **named)
            before = self._now()
            is_traced = self._trace()
            try:
                return run(item, *words, **named)
            finally:
                if is_traced:
                    sys.settrace(None)
                self._compare(name, before)

        module["runtestprotocol"] = runtestprotocol

    def _now(self) -> dict[Place, str]:
        texts: dict[Place, str] = {}
        for one in places():
            try:
                value = read(one)
                texts[one] = text_of(value)
                if one not in self._saved:
                    self._saved[one] = Saved(value)
            except _ANYTHING:
                continue
        return texts

    def _compare(self, test: str, before: dict[Place, str]) -> None:
        try:
            now = [*dict.fromkeys([*before, *places()])]
        except _ANYTHING:
            return
        count, modules = 0, {one[1] for one in before if one[0] == GLOBAL and is_users(one[1])}
        for one in now:
            was = before.get(one)
            is_new_code = one[0] in (GLOBAL, CLASS, DEFAULTS) and one[1] not in modules
            if was is None and (is_new_code or one[0] == LOGGER):
                continue  # it was imported, or made by who asked for it
            try:
                text = text_of(read(one))
            except _ANYTHING:
                continue
            was = GONE if was is None else was
            if text != was and count < _MOST_TOLD:
                count += 1
                self._told.tell(
                    "left", test=test, place=list(one), shown=shown_place(one),
                    before=shown_text(one, was), after=shown_text(one, text),
                )  # fmt: skip

    def _put_back(self) -> None:
        for one in self._wanted:
            try:
                put_back(one, self._saved.get(one) or Saved(MISSING))
            except _ANYTHING as error:
                self._told.tell("not put back", place=list(one), why=type(error).__name__)

    # ---- the line ----

    def _trace(self) -> bool:
        """Follow the lines of the user's code, to see after which of them a place holds something else."""
        if not self._wanted or sys.gettrace() is not None:
            return False
        self._texts = {one: text_of(read(one)) for one in self._wanted}
        sys.settrace(self._enter)
        return True

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        return self._step if is_own(frame.f_code.co_filename) else None

    def _step(self, frame: FrameType, event: str, _argument: Any) -> Any:
        self._events += 1
        if self._events > _MOST_EVENTS or self._spent > _MOST_SECONDS:
            return None
        started = self._clock()
        for one, was in self._texts.items():
            try:
                text = text_of(read(one))
            except _ANYTHING:
                continue
            if text != was:
                self._texts[one] = text
                self._told.tell("left at", place=list(one), at=self._at)
        self._spent += self._clock() - started
        if event == "line":
            self._at = place(frame)
        return self._step
