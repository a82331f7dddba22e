"""The last steps of a program up to an error: lines, calls, and what their variables held.

Before and after each line the variables that it names are looked at, so what a step has changed is
known, also where it changes an object in place. The oldest steps are let go of.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import re
import sys
from collections import deque

from .call import FEW_CALLS, MOST_LOCALS, Call
from .codes import GENERATORS, Code
from .groups import Groups
from .held import Table
from .inlined import Comprehension, lines_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    from whet.agent.site.whet_closer.keepers import SpareMemory
    from whet.agent.site.whet_closer.report_file import (
        as_json,
        innermost_frames,
        is_own,
        number_of,
        open_high,
        stack_of,
        user_place,
        variables_of,
    )

    from .branches import Branches
else:
    from whet_closer.keepers import SpareMemory
    from whet_closer.report_file import (
        as_json,
        innermost_frames,
        is_own,
        number_of,
        open_high,
        stack_of,
        user_place,
        variables_of,
    )

_MOST_STEPS = 40_000
_MOST_ROWS = 300_000
_MOST_EVENTS = 2000
_MOST_RUNS = 400
"""How often whet checks each line and each call: a long loop's later rounds resemble the first,
but for the end, at which all lines under way are looked at once more."""
_MOST_SECONDS = 2.0
"""For looking at values; from then on only calls, errors and lines that have hardly run are followed."""
_EVENT_SECONDS, _LINE_SECONDS = 1e-6, 5e-7
"""What an event or a line counts at which nothing is looked at: to ask for the time takes as long."""
_FEW_RUNS = 2  # after that: the runs to record of each line
_MOST_CALLS = 100_000  # before that: of a function
_NAMES = re.compile(r"(?<![\w.])[^\W\d]\w*")
_ANYTHING = (Exception,)
_OTHER, _PACKAGE, _USERS = range(3)
_above = vars(sys)["_getframe"]
_HEARD = {
    "open", "os.chdir", "os.putenv", "os.unsetenv", "os.rename", "os.remove", "os.rmdir",
    "os.truncate", "sqlite3.connect",
}  # fmt: skip
_LONGEST, _UNDER_WAY = 300, ".part"
_CODE = (".py", ".pyc", ".so", ".dist-info/RECORD")
_SIGNAL = 59  # a real-time signal that nothing sends on its own; see `whet.host.inspect.recorder`
_EVER = 1 << 60


class Steps:
    """Follows each line of the user's functions and of the packages asked for.

    A wish is the type of the error, and the file and the line of the user's where it goes through
    (no file: wherever it comes up first);
    then the folders of the packages, all with a ``|`` between them.
    No type: a run that passes is followed to its end.
    """

    def __init__(self, folder: str, wish: str) -> None:
        self._folder = folder
        self._type, self._path, line, *self._packages = wish.split("|")
        self._line = int(line)
        self._own: dict[str, int] = {}
        self._codes: dict[CodeType | Comprehension, Code] = {}
        self._sources: dict[str, list[str]] = {}
        self._passed: set[int] = set()  # the codes whose calls are not followed any more
        self._frames: list[list[Any]] = []
        self._suspended: dict[int, Call] = {}
        self._running: dict[int, Call] = {}
        self._steps: deque[list[Any]] = deque(maxlen=_MOST_STEPS)
        self._events: list[list[Any]] = []
        self._errors: list[list[Any]] = []
        self.is_over = self.is_brief = self._is_asked = False
        self.most_runs = _MOST_RUNS
        self._is_inside = False
        self._spent = 0.0
        threads: Any = __import__("_thread")
        self._ident: Callable[[], int] = threads.get_ident
        times: Any = __import__("time")
        self._clock: Callable[[], float] = times.thread_time
        self._makes_json: Any = vars(__import__("_json"))["make_encoder"]
        self.spare = SpareMemory() if self._type == "MemoryError" else None
        # A run with a changed text is to run that, and not what the file says.
        is_changed = bool(os.environ.get("WHET_EDIT"))
        self.branches: Branches | None = None
        if not is_changed:
            from .branches import Branches

            self.branches = Branches(self)
        self.table = Table(is_own)
        self.groups = Groups(self.table, self._clock)
        self.time = 0

    def begin(self) -> None:
        """Follow what this thread calls from now on."""
        sys.addaudithook(lambda name, given: self._hear(name, given) if name in _HEARD else None)
        __import__("atexit").register(self._end)
        try:
            # Not restarted: a wait for a lock has to end for Python to get there.
            __import__("_signal").signal(_SIGNAL, self._ask)
        except (ValueError, OSError):
            pass  # begun in another thread: what is cut off is lost
        sys.settrace(self._entering)
        if self.branches is not None:
            self.branches.begin()

    def _end(self) -> None:
        """Let go of what the program has, so that it goes as it would have gone."""
        if not self._type:
            self._write()
        self.is_over = True
        sys.settrace(None)
        self.table.let_go()

    def watch_threads(self, module: dict[str, Any]) -> None:
        """Follow what other threads call."""
        module["_trace_hook"] = self._entering

    # ---- what happens ----

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_over or self._is_inside:
            return
        words = [each for each in map(_word, arguments) if each]
        if event == "open" and (not words or words[0].endswith(_CODE)):
            return
        at = user_place(_above(1))
        if at and len(self._events) < _MOST_EVENTS:
            folder = os.getcwd() if event == "os.chdir" else ""
            self._events.append([self.time, event, words, at, folder])

    @property
    def _entering(self) -> Callable[..., Any]:
        return self._enter if self.spare is None else self._enter_with_spare

    def _enter_with_spare(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Follow a function as far as there is memory for that; the program's own lack is told later."""
        try:
            return self._enter(frame, event, argument)
        except _ANYTHING as error:
            if self.spare is not None and isinstance(error, MemoryError):
                self.spare.give_way()
            return None

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        if frame.f_trace is not None and self._goes_on(frame):
            return None  # its own trace function continues
        code = frame.f_code
        if number_of(code) in self._passed:
            back = frame.f_back  # an error that comes out of the call is met there, or further up
            if number_of(back) in self._running or number_of(back and back.f_code) in self._passed:
                return None
        if self.is_over or not self._is_followed(code.co_filename, frame):
            return None
        known = self._codes.get(code)
        if known is None:
            known = self._codes[code] = self._read(code, len(self._codes))
        is_looked_at = known.calls < (FEW_CALLS if self.is_brief else _MOST_RUNS)
        started = self._clock() if is_looked_at else 0.0
        try:
            state = (
                self._suspended.pop(number_of(frame), None) if code.co_flags & GENERATORS else None
            )
            if state is None or state.code is not known:
                state = self._begun(frame, known)
            self._running[number_of(frame)] = state
        except _ANYTHING:
            if self.spare is not None:
                raise
            return None  # the program is what matters
        finally:
            if is_looked_at:
                self.spend(self._clock() - started)
            else:
                self.pass_over()
        return state.follow if self.spare is None else state.follow_with_spare

    def _goes_on(self, frame: FrameType) -> bool:
        """Whether a frame is a generator of the user's that goes on, and is followed; without any look at it."""
        number = number_of(frame)
        state = self._suspended.get(number)
        if state is None or self.is_over or self._own[state.code.path] != _USERS:
            return False
        self._running[number] = self._suspended.pop(number)
        self.pass_over()
        return True

    def _is_followed(self, path: str, frame: FrameType) -> bool:
        """Whether a function is the user's, or one of the packages that is called from there.

        What a package runs while it is imported isn't: the import system is between.
        """
        found = self._own.get(path)
        if found is None:
            is_asked = any(path.startswith(each) for each in self._packages)
            found = self._own[path] = _USERS if is_own(path) else _PACKAGE if is_asked else _OTHER
        if found == _PACKAGE:
            return number_of(frame.f_back) in self._running
        return found == _USERS

    def _begun(self, frame: FrameType, code: Code) -> Call:
        caller, line = frame.f_back, 0
        parent: Call | None = None
        while caller is not None:
            parent = self._running.get(number_of(caller))
            if parent is not None:
                parent = parent.innermost(caller)
                line = caller.f_lineno or 0
                break
            caller = caller.f_back
        state = self._called(code, parent, line)
        if code.is_plain and code.calls > (FEW_CALLS if self.is_brief else _MOST_CALLS):
            self._passed.add(number_of(frame.f_code))
            code.is_passed = True
        if code.calls <= (FEW_CALLS if self.is_brief else _MOST_RUNS):
            given = state.looked_at(frame, sorted(variables_of(frame))[:MOST_LOCALS])
            self._frames[state.number][5] = given
        return state

    def _called(self, code: Code, parent: Call | None, line: int) -> Call:
        number = len(self._frames)
        above = -1 if parent is None else parent.number
        self._frames.append([code.number, above, line, self.time, self._ident(), []])
        code.calls += 1
        return Call(self, number, code)

    def entered(self, frame: FrameType, inside: Comprehension, parent: Call) -> Call:
        """Return what follows a comprehension that has no frame of its own; its first line is under way."""
        code = self._codes.get(inside)
        if code is None:
            code = parent.code.part(inside, len(self._codes))
            self._codes[inside] = code
        line = frame.f_lineno or 0
        state = self._called(code, parent, line)
        state.begin(frame, line, without=inside.variables)
        return state

    def step(self, frame: int, line: int) -> list[Any]:
        """Return a new step: frame, line, begin, end, what was read, and what has changed by its end."""
        if len(self.table.rows) > _MOST_ROWS:
            self.is_over = True
        self.time += 1
        found: list[Any] = [frame, line, self.time, 0, [], [], None]
        self._steps.append(found)
        return found

    def spend(self, seconds: float) -> None:
        """Count the time that looking took."""
        self._spent += seconds
        self.table.go_on()
        self.pass_over()

    def pass_over(self) -> None:
        """Count an event at which nothing was looked at."""
        self._spent += _EVENT_SECONDS
        if self._is_asked:
            self._write_cut(innermost_frames()[self._ident()])
        if self._spent > _MOST_SECONDS and not self.is_brief:
            self.is_brief, self.most_runs = True, _FEW_RUNS

    def now(self) -> float:
        """Return the processor time of this thread, in seconds."""
        return self._clock()

    def turn_to(self, frame: FrameType, times: int) -> bool:
        """Follow the lines of a call from here on, where they have hardly run.

        Args:
            frame: the call's.
            times: how often it or another one has come here.

        Returns:
            Whether the next time is worth a look, too.
        """
        if self.is_over or times > self.most_runs:
            return False
        started = self._clock()
        try:
            if number_of(frame) not in self._running and frame.f_code in self._codes:
                self._take_up(frame, is_end=False)
            state = self._running.get(number_of(frame))
            if state is not None:
                state.resume(frame)
        finally:
            self.spend(self._clock() - started)
        return True

    def left(self, frame: FrameType, state: Call, *, may_go_on: bool) -> None:
        """Keep what is known of a generator that may continue; forget a function that has ended."""
        number = number_of(frame)
        self._running.pop(number, None)
        if may_go_on:
            self._suspended[number] = state
        elif state.passed:
            self._spent += state.passed * _LINE_SECONDS

    # ---- errors ----

    def raised(self, frame: FrameType, state: Call, argument: Any) -> None:
        """Write down an error that goes through a function; it may be the one that is looked for."""
        kind, error, trace = argument
        if not isinstance(error, BaseException):
            return
        name = type.__dict__["__name__"].__get__(kind)
        is_wanted = name == self._type.rpartition(".")[2]
        below = self._below(frame, state, trace.tb_next, (name, number_of(error)))
        if is_wanted or (not self._type and len(self._errors) < _MOST_RUNS):
            state.catch_up(frame)
        words = self.table.row_of("error", BaseException.__dict__["args"].__get__(error))
        is_there = not self._path
        for own, each, line in (*reversed(below), (state, frame, frame.f_lineno or 0)):
            self.time += 1
            self._errors.append([self.time, own.number, line, name, number_of(error), words])
            is_there |= line == self._line and each.f_code.co_filename == self._path
        if len(self._errors) > _MOST_EVENTS:
            del self._errors[: _MOST_EVENTS // 2]
        if is_wanted and is_there:
            state.look_at_groups(frame)
            for caller in stack_of(frame.f_back):
                above = self._running.get(number_of(caller))
                if above is not None:
                    above.catch_up(caller)
                    above.look_at_groups(caller)
            self._write()

    def _below(
        self, frame: FrameType, state: Call, trace: Any, error: tuple[str, int]
    ) -> list[tuple[Call, FrameType, int]]:
        """Return the calls that an error has come out of, and that were not followed; the outermost first."""
        found: list[tuple[Call, FrameType, int]] = []
        line = frame.f_lineno or 0
        while trace is not None and number_of(trace.tb_frame.f_code) in self._passed:
            inner: FrameType = trace.tb_frame
            code = self._codes[inner.f_code]
            known = (code.number, trace.tb_lineno, *error)
            if any(
                (self._frames[number][0], at, name, own) == known
                for _, number, at, name, own, _ in self._errors[-MOST_LOCALS:]
            ):
                break
            began = state.under_way(frame)
            state, frame = self._called(code, state, line), inner
            self._frames[state.number][3] = began
            state.under_way(inner)
            line = trace.tb_lineno
            found.append((state, inner, line))
            trace = trace.tb_next
        return found

    def _ask(self, _number: int, frame: FrameType) -> None:
        """Write down what there is, before the end; a look that is under way does so when it is over."""
        if self.is_over:
            return
        looks = {each.__code__ for each in (Call.follow, Steps._enter, Steps._hear)}
        under_way = map(stack_of, {**innermost_frames(), self._ident(): frame}.values())
        self._is_asked = any(each.f_code in looks for stack in under_way for each in stack)
        if self._is_asked:
            self.most_runs = _EVER  # the next line is looked at, however often it was
        else:
            self._write_cut(frame)

    def _write_cut(self, frame: FrameType) -> None:
        """Write down the steps so far and where each thread stands, this one first."""
        self._is_asked, own = False, self._ident()
        standing: list[list[int]] = []
        for innermost in (
            frame,
            *(each for ident, each in innermost_frames().items() if ident != own),
        ):
            self._take_up(innermost, is_end=True)
            known = [each for each in stack_of(innermost) if number_of(each) in self._running]
            for each in known:
                self._running[number_of(each)].catch_up(each, is_cut=True)
                self._running[number_of(each)].look_at_groups(each)
            for each in known[:1]:
                state = self._running[number_of(each)].innermost(each)
                standing.append([state.number, each.f_lineno or 0, self.time])
        self._write(standing)

    def _take_up(self, innermost: FrameType, *, is_end: bool) -> None:
        """Follow the calls under way that were made too often to be followed.

        Args:
            innermost: the last of them.
            is_end: the recording ends here.
        """
        above: Call | None = None
        line = 0
        for each in reversed(list(stack_of(innermost))):
            state = self._running.get(number_of(each))
            if state is None and above is not None and number_of(each.f_code) in self._passed:
                state = self._called(self._codes[each.f_code], above, line)
                self._running[number_of(each)] = state
                if not is_end:
                    each.f_trace, each.f_trace_lines = state.follow, False
            above, line = (state or above), each.f_lineno or 0

    def _write(self, standing: list[list[int]] | None = None) -> None:
        """Write the whole recording, once; until then there is no file, or only a part of it.

        Args:
            standing: where the threads stand, if this isn't the end.
        """
        self.is_over = self._is_inside = True
        codes = [
            [each.path, each.name, each.first_line, each.locals, each.is_passed]
            for each in self._codes.values()
        ]
        data = {
            "codes": codes,
            "frames": self._frames,
            "steps": list(self._steps),
            "rows": self.table.rows,
            "events": self._events,
            "errors": self._errors,
            "groups": self.groups.rows,
            "keys": self.groups.keys,
            "rounds": [
                [each.number, line, times, each.is_cut]
                for each in self._codes.values()
                for line, times in each.runs.items()
            ],
            "folder": os.getcwd(),
            "standing": standing,
        }
        path = os.path.join(self._folder, "{}.steps".format(os.getpid()))
        # Made first: whoever has asked sees that it has begun.
        descriptor = open_high(path + _UNDER_WAY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            options = (":", ",", False, False, True)  # separators; no order, nothing left out, NaN
            encode = self._makes_json(None, _unknown, as_json, None, *options)
            text = "".join(encode(data, 0)).encode("ascii", "replace")
            while text:
                text = text[os.write(descriptor, text) :]
            os.rename(path + _UNDER_WAY, path)
        except OSError:
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    # ---- the source ----

    def _read(self, code: CodeType, number: int) -> Code:
        names: dict[int, list[str]] = {}
        for _, _, line in code.co_lines() if hasattr(code, "co_lines") else lines_of(code):
            if line is not None and line not in names:
                text = self._text(code.co_filename, line)
                names[line] = list(dict.fromkeys(_NAMES.findall(text)))
        return Code(code, number, names)

    def _text(self, path: str, line: int) -> str:
        if path not in self._sources:
            self._is_inside = True
            try:
                with open(path, "rb") as file:
                    self._sources[path] = file.read().decode("utf-8", "replace").splitlines()
            except OSError:
                self._sources[path] = []
            finally:
                self._is_inside = False
        lines = self._sources[path]
        return lines[line - 1] if 0 < line <= len(lines) else ""


def _word(argument: Any) -> str:
    if type(argument) is bytes:
        argument = argument.decode("utf-8", "replace")
    return argument[:_LONGEST] if type(argument) is str else ""


def _unknown(value: Any) -> str:
    return type(value).__name__
