"""A call of a function that is followed, and what its variables were last known to hold.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from whet.agent.site.whet_closer.report_file import variables_of

    from .codes import Code
    from .steps import Steps
else:
    from whet_closer.report_file import variables_of

FEW_CALLS = 20
MOST_LOCALS = 40
_MOST_PASSED = 20_000
"""Once whet has spent its time, it follows the lines of a function as long as that has at most this
number of calls and whet has skipped at most this number of lines; a mark has it go on (`branches.py`)."""
_MOST_LINES = 1_000_000  # before that: of one call
_ANYTHING = (Exception,)


class Call:
    """A call under way."""

    def __init__(self, steps: Steps, number: int, code: Code) -> None:
        self.number = number
        self.code = code
        self._steps = steps
        self._known: dict[str, int] = {}
        self._step: list[Any] | None = None
        self._is_raising = False
        self._inside: list[Call] = []
        self.passed = 0

    def follow(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Follow the function, and the comprehensions in it that have no frame of their own."""
        steps = self._steps
        if steps.is_over:
            return None
        is_known = self.code.calls > FEW_CALLS or self.passed > _MOST_PASSED
        is_known = (steps.is_brief and is_known) or self.passed > _MOST_LINES
        if is_known and self._step is None:
            frame.f_trace_lines = False
            self.code.is_cut = True
        is_alone = event == "line" and not self.code.inside
        if is_alone and self.is_passed_over(frame.f_lineno or 0):
            return self.follow
        if event == "return" and self._is_left_unseen(frame):
            return self.follow
        started = steps.now()
        try:
            at = self if event == "return" else self.innermost(frame)
            if event == "line" and at.is_passed_over(frame.f_lineno or 0):
                return self.follow
            # An error goes through the comprehensions up to the function.
            for each in (*reversed(self._inside), self) if event == "exception" else (at,):
                each.look(frame, event, argument)
        except _ANYTHING:
            if steps.spare is not None:
                raise
            return None
        finally:
            steps.spend(steps.now() - started)
        return self.follow

    def _is_left_unseen(self, frame: FrameType) -> bool:
        """Whether a call is left, for now or for good, with nothing to be looked at."""
        if self._step is not None or self._is_raising or self._inside:
            return False
        is_yield = self.code.is_yield(frame)
        if not is_yield and self.code.calls <= FEW_CALLS:
            return False
        self._steps.pass_over()
        self._steps.left(frame, self, may_go_on=is_yield)
        return True

    def follow_with_spare(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Follow the function, and make room when there is no memory left."""
        spare = self._steps.spare
        try:
            if spare is not None and event == "exception" and argument[0] is MemoryError:
                spare.give_back()
            is_over = self.follow(frame, event, argument) is None
        except MemoryError:
            if spare is not None:
                spare.give_way()
            return self.follow_with_spare
        except _ANYTHING:
            return None
        return None if is_over else self.follow_with_spare

    def is_passed_over(self, line: int) -> bool:
        """Whether a line is looked at no more, and nor is the one before it."""
        is_new = self.code.runs.get(line, 0) < self._steps.most_runs
        if self._step is not None or is_new:
            return False
        self._is_raising = False
        self.passed += 1
        self.code.runs[line] += 1
        return True

    def look(self, frame: FrameType, event: str, argument: Any) -> None:
        """Look at what the line that is over has changed, and at what comes next."""
        steps = self._steps
        if event == "exception":
            self._is_raising = True
            self._end(frame)
            steps.raised(frame, self, argument)
            return
        self._end(frame)
        if event == "line":
            self.begin(frame, frame.f_lineno or 0)
        elif event == "return":
            is_yield = not self._is_raising and self.code.is_yield(frame)
            is_result = not self._is_raising and self.code.is_result(is_yield=is_yield)
            if is_result and self._step is not None:
                step = steps.step(self.number, frame.f_lineno or 0)
                step[6] = steps.table.row_of("", argument)
                step[3] = steps.time
            if not (is_yield and self.code.is_coroutine):  # one that waits is still on its line
                self._step = None
            while self._inside and not is_yield:
                self._inside.pop().close()
            if self.code.calls <= FEW_CALLS:
                self.look_at_groups(frame)
            steps.left(frame, self, may_go_on=is_yield)

    def begin(self, frame: FrameType, line: int, without: Any = ()) -> None:
        """Look at what a line names before it is run, but for what it is yet to set."""
        runs = self.code.runs
        self._is_raising, self._step = False, None
        runs[line] = runs.get(line, 0) + 1
        if runs[line] <= self._steps.most_runs:
            self._step = step = self._steps.step(self.number, line)
            names = [each for each in self.code.names.get(line, ()) if each not in without]
            step[4] = self.looked_at(frame, names)

    def innermost(self, frame: FrameType) -> Call:
        """Return what follows the comprehension under way that has no frame of its own; else this one."""
        if not self.code.inside:
            return self
        inside, known = self.code.inside[frame.f_lasti // 2], self._inside
        while known and known[-1].code.place not in inside:
            known.pop().close()
        for each in inside[len(known) :]:
            known.append(self._steps.entered(frame, each, known[-1] if known else self))
        return known[-1] if known else self

    def catch_up(self, frame: FrameType, *, is_cut: bool = False) -> None:
        """Look at lines under way that were passed over, and at all variables of their function.

        Args:
            frame: its frame.
            is_cut: the recording ends here: look at all that the function names, whatever was known.
        """
        for inner in self._inside:
            inner.catch_up(frame, is_cut=is_cut)
        line, names = frame.f_lineno or 0, self.code.names
        if self._step is None or is_cut or self._step[1] != line:
            self._step = step = self._steps.step(self.number, line)
            named = names.values() if is_cut else [names.get(line, [])]
            every = [
                *sorted(variables_of(frame))[:MOST_LOCALS],
                *(n for each in named for n in each),
            ]
            step[4] = self.looked_at(frame, dict.fromkeys(every))
            if not is_cut:
                self._end(frame)

    def resume(self, frame: FrameType) -> None:
        """Follow the lines of a call again that were passed over."""
        if not frame.f_trace_lines:
            frame.f_trace_lines = True
            line, runs = frame.f_lineno or 0, self.code.runs
            runs[line] = runs.get(line, 0) + 1
            self.catch_up(frame)

    def look_at_groups(self, frame: FrameType) -> None:
        """Look at how many items lie under the keys of what its variables hold."""
        self._steps.groups.look(frame, self.code.number, self.number, self._steps.time)

    def under_way(self, frame: FrameType) -> int:
        """Return when the line under way began; if it was passed over, look at it first."""
        self.catch_up(frame)
        began: int = self._step[2] if self._step is not None else self._steps.time
        return began

    def _end(self, frame: FrameType) -> None:
        step = self._step
        if step is None:
            return
        self._steps.time += 1
        step[3] = self._steps.time
        step[5] += self.looked_at(frame, self.code.names.get(step[1], ()))

    def close(self) -> None:
        """End the line under way, and look at nothing: its variables are gone."""
        if self._step is not None and not self._step[3]:
            self._steps.time += 1
            self._step[3] = self._steps.time

    def looked_at(self, frame: FrameType, names: Any) -> list[Any]:
        """Return the names that hold something else than when they were last looked at."""
        found: list[Any] = []
        if not names:
            return found
        variables, module = variables_of(frame), frame.f_globals
        known, table = self._known, self._steps.table
        for name in names:
            if name in variables:
                value = variables[name]
            elif name in module:
                value = module[name]
            else:
                if known.pop(name, None) is not None:
                    found.append([name, -1])
                continue
            row = table.row_of(name, value)
            if known.get(name) != row:
                known[name] = row
                found.append([name, row])
        return found
