"""Where a name on a line got its value: from a line before, a loop, a caller, a default, or from outside."""

import ast

from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import Call, Recording, Step, Value
from whet.evidence.provenance.run.source import (
    Comprehension,
    Sources,
    default_of,
    is_parameter,
    names_in,
    other_binding,
)
from whet.evidence.provenance.trace.arguments import Arguments, Given
from whet.evidence.provenance.trace.moments import Moments
from whet.evidence.provenance.trace.trail import is_written_so


@value_class(eq=False)
class Bound:
    """A line bound the name.

    Attributes:
        expr: to what.
        is_element: to an element of that.
        call, step: the line.
        is_own: it is a line of the function that uses the name.
    """

    expr: ast.expr
    is_element: bool
    call: Call
    step: Step
    is_own: bool = False


@value_class(eq=False)
class Gone:
    """A comprehension goes through this for it."""

    expr: ast.expr
    call: Call
    step: Step


@value_class(eq=False)
class Default:
    """The call took the default of its parameter."""

    expr: ast.expr
    call: Call


class Names:
    """The names of one recording."""

    def __init__(
        self, recording: Recording, sources: Sources, now: Moments, arguments: Arguments
    ) -> None:
        """Make it ready."""
        self._all = recording
        self._sources = sources
        self._now = now
        self._arguments = arguments

    def source(
        self,
        name: str,
        call: Call,
        step: Step,
        target: Value | None,
        skipped: list[tuple[ast.expr, Step]],
    ) -> Bound | Gone | Given | Default | None:
        """Return where a name got its value; None: not known.

        Args:
            name: the name.
            call: the call that uses it.
            step: the line that does.
            target: its value; None: not known.
            skipped: takes the tests that led past a line that binds it.
        """
        source = self._sources[call.code.path]
        own = source.node_of(call.code)
        generators = own.generators if isinstance(own, Comprehension) else []
        for generator in generators:
            if name in names_in(generator.target):
                is_outer = generator is generators[0]
                made = self._now.maker(call) if is_outer else (call, step)
                return None if made is None else Gone(generator.iter, *made)
        for before in self._now.steps_before(call, step):
            test = other_binding(source, name, before.line)
            if test is not None:
                skipped.append((test, before))
            found = self._now.binding(name, call, before)
            if found is not None:
                # Otherwise it was bound once more in a round that wasn't recorded.
                is_kept = self._now.is_kept(name, call, before, step)
                return Bound(*found, call, before, is_own=True) if is_kept else None
        if is_parameter(name, own):
            return self._parameter(name, call, target)
        return self._elsewhere(name, call, step, target)

    def _parameter(self, name: str, call: Call, target: Value | None) -> Given | Default | None:
        node = self._sources[call.code.path].node_of(call.code)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        given = self._arguments.given(name, call)
        if given is not None or call.parent is None:
            return given
        default = default_of(node, name)
        if default is not None and (target is None or is_written_so(default, target)):
            return Default(default, call)
        return self._arguments.passed_on(call, target)

    def _elsewhere(
        self, name: str, call: Call, step: Step, target: Value | None
    ) -> Bound | Given | Default | None:
        """Return where a name of the module, or of the enclosing function, was bound."""
        bound = self._now.bound_elsewhere(name, call, step)
        if bound is not None:
            expr, is_element, before = bound
            return Bound(expr, is_element, before.frame, before)
        for other in reversed(self._all.calls):
            node = self._sources[other.code.path].node_of(other.code)
            is_around = call.code.name.startswith(f"{other.code.name}.<locals>.")
            if is_around and is_parameter(name, node):
                return self._parameter(name, other, target)
        return None
