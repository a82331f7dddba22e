"""Calls a function again and again where the program calls it, in copies of the process.

One copy calls nothing, one calls and measures, one calls and finds out who keeps what was added. A
process that can't be copied repeats the calls itself. The program ends there.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from functools import partial

from .calling import Call, UnrepeatableError
from .copies import why_no_copy
from .growth import Growth
from .rounds import leave
from .usage import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from whet.agent.site.whet_probe.hits import Hits
    from whet.agent.site.whet_probe.report import Report
else:
    from whet_probe.hits import Hits

_WARM_UP = 2
_EACH_UP_TO, _STEP = 32, 1.05
_ENOUGH_CALLS, _MOST_CALLS, _ENOUGH_SECONDS = 64, 1000, 2.0
_CONTROLS = 24
_EARLY_CALLS, _LEAST_BYTES, _LEAST_SEEN = 4, 1024, 1 << 18
_NO, _YES = 0, 3
_CLOSER_CALLS = 24
_DOUBLED = (0, 1, 2, 4, 8)
_DOUBLED_SECONDS, _SETTLING_LOOKS = 0.3, 4
"""Each of these numbers of calls has a copy of its own. Calls that take longer aren't measured in this way."""

_clock, _sleep = time.perf_counter, time.sleep
_ANYTHING = (BaseException,)
_SIGKILL = 9
_DEVNULL = os.devnull


class Repeats(Hits):
    """Repeats a call."""

    def __init__(self, folder: str, wish: str, report: Report) -> None:
        super().__init__(folder, wish, report)
        told: dict[str, Any] = json.loads(wish)
        self._nth: int = told["nth"]
        self._seconds: float = told["seconds"]
        self._met = 0
        self._usage = Usage()

    def loads(self, _path: str, _module: str, _probes: list[Any], /) -> None:
        """Note nothing: whet asks whether the function was called."""

    def at(self, _numbers: list[int], frame: FrameType, /, **_known: object) -> None:
        """Repeat the call that begins here, if it is the one that is asked for."""
        self._alone(lambda: self._meet_call(frame))

    def _meet_call(self, frame: FrameType) -> None:
        self._met += 1
        if self._met != self._nth:
            if self._met == 1:
                self.report.tell({"met": 1})
            return
        try:
            call = Call(frame)
        except UnrepeatableError as error:
            self.report.tell({"unrepeatable": str(error)})
            leave(os.getpid())
            return
        why = why_no_copy()
        self.report.tell({"call": call.facts(), "nth": self._nth, "uncopied": why})
        if why:
            _muted(lambda: self._in_place(call))
        else:
            self._in_copies(call)
        leave(os.getpid())

    def _in_copies(self, call: Call) -> None:
        self._copy("control", self._control)
        if self._copy("series", lambda: self._series(call)):
            self._copy("closer", lambda: self._closer(call))
        for count in _DOUBLED:
            if not self._copy("doubled", partial(self._doubled, call, count)):
                break

    def _in_place(self, call: Call) -> None:
        self._control()
        if self._series(call):
            self._closer(call)

    def _copy(self, role: str, act: Callable[[], bool]) -> bool:
        """Do something in a copy of this process, wait for its end, and return what it says."""
        deadline = _clock() + self._seconds * 2
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            code = _NO
            try:
                _mute()
                code = _YES if act() else _NO
            except _ANYTHING as error:
                self.report.tell({"failed": repr(error)[:300], "role": role})
            finally:
                os._exit(code)
        while True:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                if status not in (_YES << 8, _NO):
                    self.report.tell({"died": status, "role": role})
                return status == _YES << 8
            if _clock() > deadline:
                os.kill(pid, _SIGKILL)
                os.waitpid(pid, 0)
                self.report.tell({"late": self._seconds * 2, "role": role})
                return False
            _sleep(0.005)

    def _control(self) -> bool:
        for number in range(_CONTROLS):
            self.report.tell({"control": number, "usage": self._usage.sample()})
        return True

    def _series(self, call: Call) -> bool:
        """Measure after calls; say whether it may be that something grows."""
        usages: list[dict[str, int]] = []
        gc.collect()
        gc.freeze()  # what was there before the calls isn't looked at for garbage each time

        def measure(number: int, began: float) -> None:
            usage = self._usage.sample()
            if number <= _EARLY_CALLS:
                usages[:] = [usage]
            elif len(usages) == 1:
                usages.append(usage)
            else:
                usages[1:] = [usage]
            self.report.tell({"repetition": number, "seconds": _clock() - began, "usage": usage})

        self._repeat(call, self._seconds, _MOST_CALLS, measure)
        gc.unfreeze()
        return len(usages) > 1 and _may_grow(*usages)

    def _doubled(self, call: Call, count: int) -> bool:
        """Measure what a number of calls adds to a process that has seen none; say whether they were quick."""
        before = self._usage.sample()
        for _ in range(_SETTLING_LOOKS):
            before = self._usage.sample()
        done = [0]
        began = _clock()

        def called() -> bool:
            done[0] += 1
            return done[0] < count and _clock() - began < _DOUBLED_SECONDS * done[0]

        error = call.repeat(called) if count else None
        if error is not None or done[0] < count:
            return False
        self.report.tell({"doubled": count, "before": before, "after": self._usage.sample()})
        return True

    def _closer(self, call: Call) -> bool:
        growth = Growth(self.is_own)
        growth.begin()
        marks: list[int] = []

        def look(number: int, _began: float) -> None:
            if number == _WARM_UP + 2:
                growth.note()
                marks.append(number)

        done = self._repeat(call, self._seconds, _CLOSER_CALLS, look)
        if marks and done > marks[0]:
            self.report.tell({"growth": growth.facts(done - marks[0])})
        return True

    def _repeat(
        self, call: Call, seconds: float, most: int, look: Callable[[int, float], None]
    ) -> int:
        """Call until there are enough numbers or the time is up; return how often it was."""
        began = _clock()
        after = 1.0
        number = 0

        def is_over() -> bool:
            spent = _clock() - began
            return number >= most or spent > seconds or (
                number >= _ENOUGH_CALLS and spent > _ENOUGH_SECONDS
            )  # fmt: skip

        def called() -> bool:
            nonlocal number, after
            number += 1
            if number >= after:
                look(number, began)
                after = number + 1 if number < _EACH_UP_TO else number * _STEP
            return not is_over()

        error = call.repeat(called)
        if error is not None:
            self.report.tell({"raised": error, "after": number})
        return number


def _may_grow(early: dict[str, int], late: dict[str, int]) -> bool:
    """Whether there is reason to look for who holds something; whet decides what the numbers show."""
    counts = ("descriptors", "threads", "children")
    if any(late.get(name, 0) > early.get(name, 0) for name in counts):
        return True
    name = "memory" if "memory" in late else "resident"
    return (
        late[name] - early[name] > _LEAST_BYTES
        or late["resident"] - early["resident"] > _LEAST_SEEN
    )


def _mute() -> None:
    """Let what the repeated calls print go nowhere: it would stand there many times."""
    nowhere = os.open(_DEVNULL, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _muted(act: Callable[[], None]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    _mute()
    try:
        act()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for place, each in enumerate(kept):
            os.dup2(each, place + 1)
            os.close(each)
