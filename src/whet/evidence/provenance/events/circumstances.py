"""What a program changed in its environment before it failed: folder, files, imports, variables."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import Failing
from whet.evidence.provenance.run.recording import Call, Event, Recording, Step, Value
from whet.evidence.provenance.run.source import Sources, bindings, changed_in, names_in
from whet.evidence.provenance.trace.trail import Trail
from whet.evidence.provenance.trace.walk import Walk

_OF_FILES = {"FileNotFoundError", "NotADirectoryError"}
_GONE = {"os.rename", "os.remove", "os.rmdir"}
_VARIABLE = re.compile(r"environ|getenv|putenv")


@value_class
class Moved:
    """Something happened to the requested file or module."""

    event: Event
    asked: str
    folder: str


@value_class
class Importing:
    """A module is still being imported: the line that has led away from it."""

    call: Call
    line: int


@value_class
class Idle:
    """A loop went round no time.

    Attributes:
        line: its line.
        expr: what it goes through.
        step: when it was to begin.
        spent: the earlier step that exhausted it; None: there is none.
    """

    call: Call
    line: int
    expr: ast.expr
    step: Step
    value: Value | None
    spent: Step | None


@value_class
class Added:
    """Something was added to a variable; None: what, isn't known."""

    expr: ast.expr
    step: Step
    value: Value | None


class Circumstances:
    """Looks for them in one recording."""

    def __init__(self, recording: Recording, sources: Sources, walk: Walk) -> None:
        """Make it ready."""
        self._all = recording
        self._sources = sources
        self._walk = walk

    def file_moved(self, failing: Failing) -> Moved | None:
        """Return why a file isn't where it was asked for."""
        if failing.error.type not in _OF_FILES:
            return None
        events = [each for each in self._all.events if each.moment <= failing.error.moment]
        # What another line has opened isn't what this one asks for.
        steps = (call.step_at(failing.error.moment) for call in failing.call.around)
        here = {(each.frame.code.path, each.line) for each in steps if each is not None}
        asks = (each for each in reversed(events) if (each.path, each.line) in here)
        asked = next((each.words[0] for each in asks if each.name == "open"), "")
        folder = self._all.folder
        for event in reversed(events) if asked else ():
            if event.name == "os.chdir":
                folder = event.folder
                if not Path(asked).is_absolute() and Path(folder, asked).exists():
                    return Moved(event, asked, folder)
            if event.name in _GONE and _is_of(Path(folder, asked), event.words[0], folder):
                return Moved(event, asked, folder)
        return None

    def still_imported(self, failing: Failing) -> Importing | None:
        """Return the import that has led away from the module that isn't done yet and lacks a name."""
        if failing.error.type != "AttributeError":
            return None  # it has what was asked for: that it isn't done yet isn't why
        for node in ast.walk(failing.node):
            value = None
            if isinstance(node, ast.Attribute):
                value = self._walk.now.value(node.value, failing.call, failing.step)
            if value is None or value.type != "module":
                continue
            for call in failing.call.around:
                step = call.step_at(failing.error.moment)
                # What runs first is the program: an import of its file is another module.
                if step is not None and call.parent is not None and call.runs(value):
                    return Importing(call, step.line)
        return None

    def variable_set(self, trail: Trail, moment: int) -> Event | None:
        """Return what has set the variable of the environment that a value was read from."""
        for hop in trail.hops:
            line = self._sources[hop.path].line(hop.line)
            if not _VARIABLE.search(line + hop.says):
                continue
            for event in reversed(self._all.events):
                is_set = event.name in {"os.putenv", "os.unsetenv"}
                if is_set and event.moment < moment and event.words[0] in line:
                    return event
        return None

    def idle_loop(self, trail: Trail) -> Idle | None:
        """Return the loop that was to change a value and went round no time."""
        if not trail.hops:
            return None
        last = trail.hops[-1]
        source = self._sources[last.path]
        names = {
            name
            for target, _, _ in bindings(source.statement(last.line))
            for name in names_in(target)
        }
        own = source.node_of(last.call.code) or (source.tree if last.call.code.is_module else None)
        for loop in _loops(own, names):
            if loop.lineno <= last.line:
                continue
            inside = range(loop.body[0].lineno, (loop.end_lineno or loop.lineno) + 1)
            if any(step.line in inside for step in last.call.steps):
                return None  # it may have changed nothing for reasons of its own
            for step in last.call.steps:
                if step.line == loop.lineno and step.result is None:
                    value = self._walk.now.value(loop.iter, last.call, step)
                    spent = self._spent(value, step)
                    return Idle(last.call, loop.lineno, loop.iter, step, value, spent)
        return None

    def added(self, expr: ast.expr, failing: Failing, last: Step) -> list[Added]:
        """Return what lines have added to a variable or an attribute before it failed."""
        holder = None
        if isinstance(expr, ast.Attribute):
            holder = self._walk.now.value(expr.value, failing.call, failing.step)
        found: list[Added] = []
        for step in self._all.steps:
            statement = self._sources[step.frame.code.path].statement(step.line)
            if step.result is not None or not isinstance(statement, ast.AugAssign):
                continue
            match expr, statement.target:
                case ast.Name(id=one), ast.Name(id=other):
                    is_it = one == other and step.frame is last.frame
                case ast.Attribute(attr=one), ast.Attribute(value=inner, attr=other):
                    own = self._walk.now.value(inner, step.frame, step)
                    is_it = one == other and own is not None and own.is_same(holder)
                case _:
                    is_it = False
            value = self._walk.now.value(statement.value, step.frame, step) if is_it else None
            if is_it:
                found.append(Added(statement.value, step, value))
        return found

    def _spent(self, value: Value | None, step: Step) -> Step | None:
        """Return the line during which an iterator came to its end."""
        if value is None or value.words != "over":
            return None
        for each in self._all.history(value.number):
            if each.value.words == "over" and each.moment <= step.begin:
                return each.step if each.has_changed else None
        return None


def _loops(own: ast.AST | None, names: set[str]) -> Iterator[ast.For]:
    """Yield the loops that change one of these variables."""
    for node in ast.walk(own) if own is not None else ():
        if isinstance(node, ast.For) and any(
            name in names
            for each in ast.walk(node)
            if isinstance(each, ast.stmt) and each is not node
            for target in (*(target for target, _, _ in bindings(each)), *changed_in(each))
            for name in names_in(target)
        ):
            yield node


def _is_of(wanted: Path, gone: str, folder: str) -> bool:
    """Whether a path is what was taken away, or is below it."""
    path = Path(os.path.normpath(Path(folder, gone)))
    wanted = Path(os.path.normpath(wanted))
    return path == wanted or path in wanted.parents
