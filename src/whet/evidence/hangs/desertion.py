"""A call that waits for what nobody does any more: all that would have done it have ended."""

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from whet.core.observations.clue import Clue, Sureness, TrailStep
from whet.core.text.quantity import shown_count
from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import CONTROL_FLOW
from whet.evidence.provenance.run.control import Control, is_in
from whet.evidence.provenance.run.recording import SCALAR, Call, Raised, Step, Value
from whet.evidence.provenance.run.source import head
from whet.evidence.provenance.sentences.wording import Wording, cut
from whet.evidence.provenance.trace.moments import Moments
from whet.evidence.provenance.trace.records import Record, Records

_WHY = "whet recorded each step of a run until its time was up"
_ASKING = {"empty", "full", "is_set", "locked", "qsize"}
"""These methods of queues, events and locks change nothing."""
_MUTUAL = {"Barrier"}
"""Whoever waits at such a thing serves the others by that."""
_IN_TURNS = {"Condition"}
"""Whoever has waited at such a thing may have to serve the next one."""
_FULL = {"put"}
"""What waits there has given too much for anyone to say that it waits for too much."""
_MOST_ENDS, _MOST_CALLS, _MOST_BEHIND = 3, 2000, 8
_PAIR = 2
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_Try = ast.Try | ast.With | ast.AsyncWith


@value_class
class _Wait:
    """A call that waits at an object.

    Attributes:
        call: the call.
        line: where.
        said: what the program calls the object.
        method: the object's method that does not return.
        value: the object.
    """

    call: Call
    line: int
    said: str
    method: str
    value: Value


@value_class
class _End:
    """How the outermost call of a thread or of a task came to its end.

    Attributes:
        call: the call.
        line: its last one.
        moment: when.
        error: what it caught before, or died of; None: nothing.
        caught: the line that caught it; 0: it has died of it.
    """

    call: Call
    line: int
    moment: int
    error: Raised | None = None
    caught: int = 0


@dataclass(slots=True)
class Desertion(Wording):
    """Reports threads and tasks that have ended while another one waits for their work."""

    now: Moments = field(init=False)
    control: Control = field(init=False)
    records: Records = field(init=False)
    _roots: dict[int, list[Call]] = field(init=False)

    def __post_init__(self) -> None:
        """Make ready what looks values up."""
        self.now = Moments(self.recording, self.sources)
        self.control = Control(self.sources)
        self.records = Records(self.recording)
        self._roots = {}
        for call in self.recording.calls:
            self._roots.setdefault(self._root(call).index, []).append(call)

    def clues(self) -> list[Clue]:
        """Return what is known of the first call that waits for nobody."""
        for wait in self._waits():
            ends = self._deserters(wait)
            if ends:
                return [self._clue_of(wait, ends)]
        return []

    # ---- who waits ----

    def _waits(self) -> Iterator[_Wait]:
        """Yield what waits: the threads where they stood, then the tasks in the order of their begin."""
        standing = self.recording.standing or ()
        for each in standing:
            yield from self._waits_at(each.call, each.line, each.moment)
        for root, calls in self._roots.items():
            if self._is_task(self.recording.calls[root]):
                for call in calls:
                    if call.steps and self._end_of(call) is None:
                        last = call.steps[-1]
                        yield from self._waits_at(call, last.line, last.begin)

    def _waits_at(self, call: Call, line: int, moment: int) -> Iterator[_Wait]:
        source = self.sources[call.code.path]
        statement = source.statement(line)
        at = Step(call, line, moment, 0, None, frozenset())
        if any(self._end_of(each) is None for each in self.recording.called_in(at)):
            return  # what it has called waits
        for node in _methods(head(statement)):
            value = self.now.value(node.value, call, at)
            if value is not None and value.number and value.type != "module":
                yield _Wait(call, line, source.said(node.value), node.attr, value)

    # ---- who has ended ----

    def _deserters(self, wait: _Wait) -> list[_End]:
        """Return how all ended that would serve a call; nothing if one of them may still do so."""
        own, ends = self._root(wait.call).index, list[_End]()
        for number, calls in self._roots.items():
            used = set[str]() if number == own else self._used(calls, wait)
            kind = wait.value.type.rpartition(".")[2]
            if not used - ({wait.method} if kind not in _MUTUAL else set()):
                continue
            end = self._end_of(self.recording.calls[number])
            if end is None:
                return []
            if wait.method not in used or kind in _MUTUAL | _IN_TURNS:
                ends.append(end)  # else it has taken as this one would, and given that back
        return sorted(ends, key=lambda each: each.moment)

    def _used(self, calls: Sequence[Call], wait: _Wait) -> set[str]:
        """Return the methods of what a call waits at that a thread or a task has lines with."""
        used = set[str]()
        for call in calls[:_MOST_CALLS]:
            source = self.sources[call.code.path]
            node = source.tree if call.code.is_module else source.node_of(call.code)
            if not isinstance(node, ast.Module | _FUNCTIONS) or not call.steps:
                continue
            last = call.steps[-1]
            for method in _methods(_own(node)):
                if method.attr in _ASKING or method.attr in used:
                    continue
                value = self.now.value(method.value, call, last)
                if value is not None and value.number == wait.value.number:
                    used.add(method.attr)
        return used

    def _root(self, call: Call) -> Call:
        """Return the outermost call of a thread, or of a task."""
        around = list(call.around)
        tasks = [each for each in around if self._is_task(each)]
        return tasks[-1] if tasks else around[-1]

    def _is_task(self, call: Call) -> bool:
        node = self.sources[call.code.path].node_of(call.code)
        return isinstance(node, ast.AsyncFunctionDef)

    def _end_of(self, call: Call) -> _End | None:
        """Return how a call ended; None: it may go on."""
        last = call.steps[-1] if call.steps else None
        if last is None:
            return None
        through = [each for each in self.recording.errors if each.call is call]
        if last.result is not None:
            left = self._left(call, last)
            return self._caught(_End(call, left.line, left.begin), through)
        if through and through[-1].moment >= last.begin and last.end:
            error = through[-1]
            return _End(call, error.line, error.moment, error)
        return None

    def _left(self, call: Call, last: Step) -> Step:
        """Return where a call was left: by a `return` or a `break` that ran what is left to do on the way out."""
        source = self.sources[call.code.path]
        own = source.node_of(call.code)
        ways_out = [each for each in ast.walk(own) if _is_way_out(each, last.line)] if own else []
        for step in reversed(call.steps) if ways_out else ():
            if step.result is None and not any(_is_way_out(each, step.line) for each in ways_out):
                is_jump = isinstance(source.statement(step.line), ast.Return | ast.Break)
                return step if is_jump else last
        return last

    def _caught(self, end: _End, through: Sequence[Raised]) -> _End:
        """Return an end with the error that was caught in the last round before it."""
        own = self.sources[end.call.code.path].node_of(end.call.code)
        lines = [each for each in end.call.steps if each.result is None]
        for error in reversed(through):
            if error.type in CONTROL_FLOW or error.moment > end.moment:
                continue
            later = [each.line for each in lines if each.begin > error.moment]
            for tried in ast.walk(own) if own is not None else ():
                if not isinstance(tried, _Try) or not is_in(tried.body, error.line):
                    continue
                if any(is_in(tried.body, each) for each in later):
                    continue  # it went on after that
                return replace(end, error=error, caught=_catches(tried, later))
            return end
        return end

    # ---- in words ----

    def _clue_of(self, wait: _Wait, ends: Sequence[_End]) -> Clue:
        lines = [(each.call.code.path, each.line) for each in ends]
        first = max(ends, key=lambda each: lines.count((each.call.code.path, each.line)))
        path = wait.call.code.path
        names = " and ".join(sorted({f"`{each.call.code.short}`" for each in ends}))
        have = "has" if len(ends) == 1 else "have"
        count = "both calls" if len(ends) == _PAIR else f"all {shown_count(len(ends), 'call')}"
        many = "" if len(ends) == 1 else f"{count} of "
        last = "the last one " if len(set(lines)) > 1 else ""
        if last:
            first = ends[-1]
        is_early = all(each.error is not None for each in ends) or wait.method in _FULL
        return replace(
            self.clue(
                f"`{wait.call.code.short}` waits at {self.at(path, wait.line)} in `{wait.said}.{wait.method}`,"
                f" and nobody is left that serves `{wait.said}`: {many}{names} {have} ended,"
                f" {last}{self._said_end(first)}",
                first.call.code.path, first.line, Sureness.SEEN if is_early else Sureness.POSSIBLE,
                tuple(self._trail(ends)),
            ),
            why=_WHY,
        )  # fmt: skip

    def _said_end(self, end: _End) -> str:
        path = end.call.code.path
        at = self.at(path, end.line)
        error = "" if end.error is None else f"{self.error(end.error)}"
        if end.error is not None and not end.caught:
            return f"at {at}, of {error} that nobody caught"
        statement = self.sources[path].statement(end.line)
        is_jump = isinstance(statement, ast.Return | ast.Break)
        how = f" (`{self.line(path, end.line)}`)" if is_jump else ""
        if end.error is not None:
            return f"at {at}{how}, after {error}, which {self.at(path, end.caught)} caught"
        return f"at {at}{how}{self._decided(end)}"

    def _decided(self, end: _End) -> str:
        """Say which test led to the end of a call."""
        path = end.call.code.path
        statement = self.sources[path].statement(end.line)
        if isinstance(statement, ast.While):
            test, steps, was = (
                statement.test,
                self.recording.at_line(end.call.code, end.line),
                "false",
            )
            at = [each for each in steps if each.frame is end.call][-1:]
        else:
            found = self.control.decided(end.call, end.line, end.moment)
            if found is None:
                return ""
            test, at, was = found.test, [found.step], "true" if found.was else "false"
        values = [
            f"`{self.said(expr, end.call)}` was {cut(value.words)}"
            for step in at
            for expr, value in self.now.operands(ast.Expr(test), end.call, step)
            if value is not None and value.kind == SCALAR
        ]
        told = f": {' and '.join(values)}" if values else ""
        said = cut(self.sources[path].said(test))
        return f", because `{said}` at {self.at(path, test.lineno)} was {was}{told}"

    def _trail(self, ends: Sequence[_End]) -> Iterator[TrailStep]:
        """Say what ended each, and of which record of a file."""
        for end in ends[:_MOST_ENDS]:
            path = end.call.code.path
            error = "" if end.error is None else f" after {self.error(end.error)}"
            yield TrailStep(
                says=f"`{end.call.code.short}` ended here{error}",
                place=self.at(path, end.line),
                source=self.line(path, end.line),
            )
            begun = self._begun(end.error)
            if begun is None:
                continue
            if begun.call is not end.call:
                yield TrailStep(
                    says=f"raised {begun.type}",
                    place=self.at(begun.call.code.path, begun.line),
                    source=self.line(begun.call.code.path, begun.line),
                )
            record = self._record(begun)
            if record is not None:
                yield TrailStep(
                    says="for this record",
                    place=self.at(record.path, record.line),
                    source=cut(record.text),
                )

    def _begun(self, error: Raised | None) -> Raised | None:
        """Return an error where it came up; numbers are used again, so only what is next to it counts."""
        found = error
        errors = list(self.recording.errors)
        for each in reversed(errors[: errors.index(error) + 1] if error is not None else ()):
            if error is None or each.call.thread != error.call.thread:
                continue
            if (each.number, each.type) != (error.number, error.type):
                break
            found = each
        return found

    def _record(self, error: Raised) -> Record | None:
        """Return the line of a file that the calls were about that an error came up in."""
        for call in error.call.around:
            for name in call.held:
                value = self.recording.held(call, name, error.moment)
                found = None if value is None else self.records.find(value, error.moment)
                if found is not None:
                    return found
        return None


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of the functions in it."""
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, _FUNCTIONS):
            yield each
            yield from _own(each)


def _is_way_out(node: ast.AST, line: int) -> bool:
    """Whether a line is what a statement does when it is left."""
    if isinstance(node, ast.With | ast.AsyncWith):
        return line == node.lineno
    return isinstance(node, ast.Try) and bool(node.finalbody) and is_in(node.finalbody, line)


def _methods(nodes: Iterator[ast.AST]) -> Iterator[ast.Attribute]:
    """Yield what is called as a method, or given away to be called later."""
    for node in nodes:
        if isinstance(node, ast.Call):
            for each in (node.func, *node.args):
                if isinstance(each, ast.Attribute):
                    yield each


def _catches(tried: _Try, later: Collection[int]) -> int:
    """Return the line that has caught an error: of a handler, or of what a `with` has entered."""
    handlers = tried.handlers if isinstance(tried, ast.Try) else []
    for handler in handlers:
        last = handler.end_lineno or handler.lineno
        if any(handler.lineno <= each <= last for each in later):
            return handler.lineno
    return tried.lineno
