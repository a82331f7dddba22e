"""From a value back through the variables and parameters that held it."""

import ast
from functools import partial

from whet.evidence.provenance.run.recording import Call, Step, Value
from whet.evidence.provenance.run.source import (
    Comprehension,
    default_of,
    is_parameter,
    names_in,
    other_binding,
)
from whet.evidence.provenance.trace.arguments import Given
from whet.evidence.provenance.trace.trail import End, Hop, Trail, is_written_so
from whet.evidence.provenance.trace.walk_state import WalkState


class NameWalk(WalkState):
    """Goes back from a name to what was bound to it."""

    def _name(self, trail: Trail, name: str, call: Call, step: Step, target: Value | None) -> None:
        own = self._sources[call.code.path].node_of(call.code)
        if isinstance(own, Comprehension):
            for generator in own.generators:
                if name in names_in(generator.target):
                    outer = generator is own.generators[0]
                    made = self.now.maker(call) if outer else (call, step)
                    if made is not None:
                        self._element(trail, generator.iter, *made, target)
                    return
        for before in self.now.steps_before(call, step):
            test = other_binding(self._sources[call.code.path], name, before.line)
            if test is not None:
                trail.skipped.append((test, before))
            found = self.now.binding(name, call, before)
            if found is None:
                continue
            expr, is_element = found
            # Otherwise it was bound once more in a round that wasn't recorded.
            if self.now.is_kept(name, call, before, step):
                self._hop(trail, expr, before, target)
                follow = self._element if is_element else partial(self._bound, name=name)
                follow(trail, expr, call, before, target)
            return
        if is_parameter(name, own):
            self._parameter(trail, name, call, target)
            return
        self._elsewhere(trail, name, call, step, target)

    def _bound(
        self,
        trail: Trail,
        expr: ast.expr,
        call: Call,
        step: Step,
        target: Value | None,
        *,
        name: str,
    ) -> None:
        statement = self._sources[call.code.path].statement(step.line)
        if isinstance(statement, ast.AugAssign):
            added = self.now.value(expr, call, step)
            before = self._all.held(call, name, step.begin)
            if before is not None and self._is_flawed(before) and not self._is_flawed(added):
                self._name(trail, name, call, step, before)
                return
            if added is not None and not self._is_flawed(added):
                self._finish(trail, End.MADE, expr, call, step, target)
                return
            target = added
        self._follow(trail, expr, call, step, target)

    def _parameter(self, trail: Trail, name: str, call: Call, target: Value | None) -> None:
        node = self._sources[call.code.path].node_of(call.code)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        given = self._arguments.given(name, call)
        if given is None and call.parent is not None:
            default = default_of(node, name)
            if default is not None and (target is None or is_written_so(default, target)):
                said = self._sources[call.code.path].said(default)
                trail.hops.append(Hop(call, default.lineno, said, target))
                trail.end, trail.expression, trail.call = End.DEFAULT, default, call
                return
            given = self._arguments.passed_on(call, target)
        if given is not None:
            self._given(trail, given, target)

    def _given(self, trail: Trail, given: Given, target: Value | None) -> None:
        """Continue with what was given for a parameter, or with the part of it that was."""
        holder = self.now.value(given.expr, given.call, given.step) if given.key else None
        self._hop(trail, given.expr, given.step, target, holder)
        if holder is None:
            self._follow(trail, given.expr, given.call, given.step, target)
            return
        self._put(trail, holder, given.key, given.step.begin)
        if trail.end is End.UNKNOWN:
            self._follow(trail, given.expr, given.call, given.step, holder)

    def _elsewhere(
        self, trail: Trail, name: str, call: Call, step: Step, target: Value | None
    ) -> None:
        """Continue where a name of the module, or of the enclosing function, was bound."""
        bound = self.now.bound_elsewhere(name, call, step)
        if bound is not None:
            expr, is_element, before = bound
            self._hop(trail, expr, before, target)
            follow = self._element if is_element else self._follow
            follow(trail, expr, before.frame, before, target)
            return
        for other in reversed(self._all.calls):
            node = self._sources[other.code.path].node_of(other.code)
            is_around = call.code.name.startswith(f"{other.code.name}.<locals>.")
            if is_around and is_parameter(name, node):
                self._parameter(trail, name, other, target)
                return
