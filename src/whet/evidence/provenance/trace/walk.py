"""From a value back to its origin, through variables, calls, returns and containers.

It follows the recording: a value comes from an operand only if that operand had the same object, the same
scalar or the same flaw at that moment. If none had, the line itself made the value.
"""

import ast
from collections.abc import Sequence

from whet.evidence.provenance.run.recording import (
    ARRAY,
    CONTAINER,
    SCALAR,
    Call,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import (
    Comprehension,
    element_of,
    head,
    is_straight,
)
from whet.evidence.provenance.trace.arguments import Given
from whet.evidence.provenance.trace.given import adds_other, changed_place, gave_part, lone
from whet.evidence.provenance.trace.handovers import handed_over
from whet.evidence.provenance.trace.names import Bound, Default, Gone
from whet.evidence.provenance.trace.queues import put_for
from whet.evidence.provenance.trace.read_back import is_what_was_written, written_for
from whet.evidence.provenance.trace.trail import (
    End,
    Flaw,
    Hop,
    Part,
    Trail,
    index_in,
    is_by_chance,
    is_common,
    is_computed,
    is_made_of,
    is_passed_on,
    words_of,
)
from whet.evidence.provenance.trace.walk_state import WalkState
from whet.host.inspect.stacks import is_user_code

_MOST_HOPS = 40


class Walk(WalkState):
    """Goes back through one recording."""

    def back(
        self, expr: ast.expr, call: Call, step: Step, target: Value | None, flaw: Flaw | None
    ) -> Trail:
        """Return where the value of an expression came from.

        Args:
            expr: the expression.
            call: the call that it is in.
            step: the step that evaluates it.
            target: its value; None: not known.
            flaw: what is wrong with it, which an operand may have too.
        """
        trail = self._begin(flaw)
        self._follow(trail, expr, call, step, target)
        self._leave_package(trail)
        return trail

    def part(self, holder: Value | None, key: str, step: Step, flaw: Flaw | None) -> Trail:
        """Return where a part of something came from."""
        trail = self._begin(flaw)
        self._put(trail, holder, key, step.begin)
        self._leave_package(trail)
        return trail

    def key(self, holder: Value, key: str, step: Step) -> Trail:
        """Return where a key of something came from."""
        trail = self._begin(None)
        self._keyed(trail, holder, key, step.begin)
        return trail

    def _keyed(self, trail: Trail, holder: Value, key: str, moment: int) -> None:
        """Continue where a key was first stored."""
        seen = [each for each in self._all.history(holder.number) if each.moment <= moment]
        # A large dict is recorded with its first and last keys only.
        first = next((each for each in seen if key in each.value.parts), None)
        if first is None or first.step is None:
            return
        writer, frame = first.step, first.step.frame
        if writer.result is not None:
            given, at = self.now.leaving(frame, writer)
        elif (making := self.now.making(frame, writer, first.value)) is not None:
            given, at = making, writer
        else:
            given, at = self.now.key_written(writer, key), writer
        if given is not None:
            self._hop(trail, given, at, None, first.value)
            self._key(trail, given, frame, at, key)

    def _key(self, trail: Trail, expr: ast.expr, call: Call, step: Step, key: str) -> None:
        if isinstance(expr, ast.DictComp):
            made = self.now.round_with(expr, call, step, key)
            if made is not None:
                self._go_on(trail, expr.key, made[1], made[2])
                return
        for each in (expr, *(node for node in ast.walk(expr) if isinstance(node, ast.expr))):
            value = self.now.value(each, call, step)
            if value is None:
                continue
            if value.kind == SCALAR and value.words == key:
                self._follow(trail, each, call, step, value)
                return
            for position, part in self._all.parts(value):
                if part.kind == SCALAR and part.words == key:
                    self._hop(trail, each, step, part, value)
                    self._put(trail, value, position, step.begin)
                    return
        self._finish(trail, End.MADE, expr, call, step, None)

    def _flawed_inside(
        self,
        trail: Trail,
        expr: ast.expr,
        step: Step,
        operands: Sequence[tuple[ast.expr, Value | None]],
        target: Value | None,
    ) -> bool:
        """Continue with the part of an operand that has the flaw; return whether there is one."""
        flaw = target.is_same if target is not None and self._is_a_text else self._is_flawed
        inside = ((value, self.now.flawed_key(value, flaw)) for _, value in operands)
        found = next((each for each in inside if each[1] is not None), None)
        if self._flaw is None or found is None or found[1] is None:
            return False
        self._hop(trail, expr, step, target)
        self._put(trail, found[0], found[1], step.begin)
        if trail.end is End.UNKNOWN:
            self._finish(trail, End.MADE, expr, step.frame, step, target)
        return True

    def _follow(
        self, trail: Trail, expr: ast.expr, call: Call, step: Step, target: Value | None
    ) -> None:
        key = (call.index, step.begin, ast.dump(expr))
        if key in self._met or len(trail.hops) > _MOST_HOPS:
            return
        self._met.add(key)
        match expr:
            case ast.Await(value=inner) | ast.NamedExpr(value=inner) | ast.Starred(value=inner):
                self._follow(trail, inner, call, step, target)
            case ast.Constant():
                self._finish(trail, End.LITERAL, expr, call, step, target)
            case ast.Name(id=name):
                self._name(trail, name, call, step, target)
            case ast.Attribute() | ast.Subscript():
                self._part_of(trail, expr, call, step, target)
            case ast.Call():
                self._call(trail, expr, call, step, target)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                self._comprehension(trail, expr, call, step, target)
            case _:
                self._operands(trail, expr, call, step, target)

    def _leave_package(self, trail: Trail) -> None:
        """Continue with what the program gave to a package, where a way ends inside that."""
        last = trail.hops[-1] if trail.hops else None
        if last is None or self._flaw is None or is_user_code(last.path):
            return
        own = next((each for each in last.call.around if is_user_code(each.code.path)), None)
        asked = (
            own.step_at(trail.step.begin) if own is not None and trail.step is not None else None
        )
        if asked is not None:
            self._handed_over(trail, None, asked, last.value)

    def _go_on(
        self,
        trail: Trail,
        expr: ast.expr,
        step: Step,
        target: Value | None,
        inside: Value | None = None,
    ) -> None:
        self._hop(trail, expr, step, target, inside)
        self._follow(trail, expr, step.frame, step, target)

    # ---- names ----

    def _name(self, trail: Trail, name: str, call: Call, step: Step, target: Value | None) -> None:
        match self._names.source(name, call, step, target, trail.skipped):
            case Gone(expr=expr, call=call, step=step):
                self._element(trail, expr, call, step, target)
            case Bound() as bound:
                self._hop(trail, bound.expr, bound.step, target)
                if bound.is_element:
                    self._element(trail, bound.expr, bound.call, bound.step, target)
                elif bound.is_own:
                    self._bound(trail, bound, target, name)
                else:
                    self._follow(trail, bound.expr, bound.call, bound.step, target)
            case Given() as given:
                self._given(trail, given, target)
            case Default(expr=default, call=call):
                said = self._sources[call.code.path].said(default)
                trail.hops.append(Hop(call, default.lineno, said, target))
                trail.end, trail.expression, trail.call = End.DEFAULT, default, call
            case None:
                return

    def _bound(self, trail: Trail, bound: Bound, target: Value | None, name: str) -> None:
        expr, call, step = bound.expr, bound.call, bound.step
        if isinstance(self._sources[call.code.path].statement(step.line), ast.AugAssign):
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

    # ---- calls ----

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

    def _call(
        self, trail: Trail, expr: ast.Call, call: Call, step: Step, target: Value | None
    ) -> None:
        result = self.now.result_of(expr, call, step, target)
        if result is not None:
            self._returned(trail, result.frame, result)
            return
        match expr:
            case ast.Call(func=ast.Attribute(value=inner, attr="get"), args=[key, *others]):
                holder = self.now.value(inner, call, step)
                held = self.now.item(holder, self.now.value(key, call, step))
                if holder is not None and held is None and holder.is_whole:
                    if others and not isinstance(others[0], ast.Constant):
                        self._follow(trail, others[0], call, step, target)
                        return
                    self._finish(trail, End.ABSENT, expr, call, step, target)
                    return
                if held is not None:
                    self._put(trail, holder, words_of(self.now.value(key, call, step)), step.begin)
                    return
            case _:
                pass
        self._operands(trail, expr, call, step, target)

    def _returned(self, trail: Trail, callee: Call, result: Step) -> None:
        given, at = self.now.leaving(callee, result)
        own = self._sources[callee.code.path].node_of(callee.code)
        if isinstance(own, ast.Lambda):
            given = own.body
        if given is None:
            trail.hops.append(Hop(callee, result.line, "", result.result))
            trail.end, trail.call, trail.step = End.NO_RETURN, callee, result
            return
        self._go_on(trail, given, at, result.result)

    def _comprehension(
        self,
        trail: Trail,
        expr: Comprehension,
        call: Call,
        step: Step,
        target: Value | None,
        key: str = "",
    ) -> None:
        """Continue with the element that has the key, or is the target, or has the flaw."""
        element, rounds = element_of(expr), list(self.now.rounds(expr, call, step))
        if is_straight(expr) and key.isdigit() and int(key) < len(rounds):
            self._go_on(trail, element, rounds[-1 - int(key)][1], target)
            return
        chosen = self.now.chosen_round(expr, rounds, (key, target), self._is_flawed)
        if chosen is not None:
            self._go_on(trail, element, chosen[1], chosen[2] or target)
            return
        source = expr.generators[0].iter
        gone_through = None if rounds else self.now.value(source, call, step)
        if self._is_flawed(gone_through):  # it went through nothing
            self._hop(trail, expr, step, target)
            self._follow(trail, source, call, step, gone_through)
            return
        self._finish(trail, End.MADE, expr, call, step, target)

    # ---- parts of objects and containers ----

    def _part_of(
        self, trail: Trail, expr: ast.Attribute | ast.Subscript, call: Call, step: Step,
        target: Value | None,
    ) -> None:  # fmt: skip
        holder = self.now.value(expr.value, call, step)
        if isinstance(expr, ast.Attribute):
            key = expr.attr
        else:
            key = index_in(holder, words_of(self.now.index(expr.slice, call, step)))
        part = self._all.part(holder, key)
        if holder is None or part is None:
            result = self.now.property_of(expr, step, target)
            if result is not None:
                self._returned(trail, result.frame, result)
                return
            self._operands(trail, expr, call, step, target)
            return
        self._hop(trail, expr, step, part, holder)
        moment = step.over if isinstance(expr.value, ast.Call) else step.begin
        if holder.type == "module" and not self.now.is_written(holder, key, moment):
            self._of_module(trail, holder, key, moment, part)
            return
        self._put(trail, holder, key, moment)

    def _of_module(self, trail: Trail, holder: Value, name: str, moment: int, part: Value) -> None:
        """Continue where the module itself bound a name."""
        for before in reversed(self._all.steps):
            call = before.frame
            if before.begin >= moment or not call.runs(holder):
                continue
            found = self.now.binding(name, call, before)
            if found is not None:
                self._go_on(trail, found[0], before, part)
                return

    def _put(self, trail: Trail, holder: Value | None, key: str, moment: int) -> None:
        """Continue where a part was put into its container, before a moment."""
        found = None if holder is None else self._all.first_with(holder, key, moment)
        part = None if found is None else self._all.part(found.value, key)
        if found is None or found.step is None or part is None or not found.has_changed:
            return
        writer, wanted = found.step, Part(found.value, key, part)
        frame = writer.frame
        packed = self._arguments.packed(found, key)
        if packed is not None:
            self._given(trail, packed, part)
            return
        if writer.result is not None:
            given, at = self.now.leaving(frame, writer)
            if given is not None:
                self._hop(trail, given, at, part, found.value)
                self._inside(trail, given, frame, at, wanted)
            return
        statement = self._sources[frame.code.path].statement(writer.line)
        if adds_other(statement, part, lambda each: self.now.value(each, frame, writer)):
            return  # the part was put there unseen
        expr = None if statement is None else self.now.written(statement, key, part, writer)
        is_added = isinstance(statement, ast.AugAssign) and expr is statement.value
        added = None if expr is None or not is_added else self.now.value(expr, frame, writer)
        if expr is not None and is_added and not self._is_flawed(added):
            self._finish(trail, End.MADE, expr, frame, writer, part)
            return
        is_display = isinstance(expr, ast.Dict | ast.List | ast.Tuple)
        if expr and is_display and self.now.makes(expr, frame, writer, found.value):
            expr = None  # all of it is the holder
        if expr is not None:
            self._go_on(trail, expr, writer, part, found.value)
            return
        self._made_by(trail, statement, writer, wanted)

    def _made_by(self, trail: Trail, statement: ast.stmt | None, step: Step, wanted: Part) -> None:
        """Continue in the statement that made the container of the part."""
        frame, holder, part = step.frame, wanted.holder, wanted.part
        making = self.now.making(frame, step, holder)
        bound = self.now.bound_to(statement, step, holder)
        calls = [each for each in head(statement) if isinstance(each, ast.Call)]
        if making is not None:
            self._hop(trail, making, step, part, holder)
            self._inside(trail, making, frame, step, wanted)
        elif bound is not None:
            value, is_element = bound
            self._hop(trail, value, step, part, holder)
            if is_element:
                self._element(trail, value, frame, step, part, holder)
            else:
                self._inside(trail, value, frame, step, wanted)
        elif calls:  # of several calls any may have made it
            self._hop(trail, calls[0], step, part, holder)
            flawed = lone(
                head(statement), lambda each: self.now.value(each, frame, step), self._flaw
            )
            trail.end = End.MADE if len(calls) == 1 else End.UNKNOWN
            trail.expression, trail.call, trail.step = calls[0], frame, step
            if trail.end is End.UNKNOWN and flawed is not None:
                self._follow(trail, flawed[0], frame, step, flawed[1])

    def _inside(self, trail: Trail, expr: ast.expr, call: Call, step: Step, wanted: Part) -> None:
        """Continue with the target part, where its container was made."""
        expr = expr.value if isinstance(expr, ast.Await) else expr
        match expr:
            case ast.Dict() | ast.List() | ast.Tuple():
                shown = self.now.shown(expr, call, step).get(wanted.key)
                if shown is not None:
                    self._go_on(trail, shown, step, wanted.part, wanted.holder)
                    return
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                element = element_of(expr)
                inner = self.now.round_making(expr, call, step, wanted.holder)
                if inner is not None:
                    self._inside(trail, element, *inner, wanted)
                    return
                self._comprehension(trail, expr, call, step, wanted.part, wanted.key)
                return
            case ast.Call():
                given = self._arguments.kept(wanted, expr, call, step)
                if given is not None:
                    self._given(trail, given, wanted.part)
                    return
                if self._inside_result(trail, expr, call, step, wanted) or self._read_back(
                    trail, expr, step, wanted
                ):
                    return
            case _:
                pass
        if (gave := gave_part(wanted, self._all, step.over)) is not None:
            self._returned(trail, gave.frame, gave)
            return
        self._operands(trail, expr, call, step, wanted.part)

    def _inside_result(
        self, trail: Trail, expr: ast.Call, call: Call, step: Step, wanted: Part
    ) -> bool:
        """Continue in the function that returned the container of a part."""
        for callee in reversed(self.now.callees(expr, call, step)):
            for result in callee.results:
                if self.now.holds(result.result, wanted.holder, wanted.part):
                    made, at = self.now.leaving(callee, result)
                    if made is not None:
                        self._inside(trail, made, callee, at, wanted)
                        return True
        return False

    def _read_back(self, trail: Trail, expr: ast.Call, step: Step, wanted: Part) -> bool:
        """Continue with what the program wrote into the file that a line read a container from."""
        written = written_for(expr, step, self._all, self._sources, self.now)
        part = None if written is None else self._all.part(written.value, wanted.key)
        if written is None or part is None or not is_what_was_written(part, wanted.part, self._all):
            return False
        self._hop(trail, expr, step, wanted.part, wanted.holder)
        self._hop(trail, written.expr, written.step, part, written.value)
        self._put(trail, written.value, wanted.key, written.step.begin)
        if trail.end is End.UNKNOWN:
            self._finish(trail, End.MADE, written.expr, written.step.frame, written.step, part)
        return True

    def _element(
        self,
        trail: Trail,
        expr: ast.expr,
        call: Call,
        step: Step,
        target: Value | None,
        inside: Value | None = None,
    ) -> None:
        """Continue where an element of the iterated object came from."""
        self._hop(trail, expr, step, target, inside)
        for each in expr.elts if isinstance(expr, ast.Tuple | ast.List | ast.Set) else ():
            if is_passed_on(self.now.value(each, call, step), target):
                self._follow(trail, each, call, step, target)
                return
        if not self._kept(trail, expr, step, target):
            self._given_by(trail, expr, step, target)

    def _kept(self, trail: Trail, expr: ast.expr, step: Step, target: Value | None) -> bool:
        """Continue where an element was put into what a loop goes through, if that holds it."""
        call = step.frame
        for each in self.now.gone_through(expr):
            asked = self.now.asked(each, call, step)
            holder = self.now.value(each, call, asked)
            key = self.now.key_of(holder, target, step)
            if holder is not None and key is not None:
                moment = asked.over if isinstance(each, ast.Call) else step.begin
                self._out_of(trail, (each, holder, key), step, target, moment)
                return True
        for each in self.now.gone_through(expr):
            holder = self.now.value(each, call, step)
            if holder is not None and holder.kind == ARRAY and self._is_flawed(holder):
                self._follow(trail, each, call, step, holder)
                return True
        return False

    def _out_of(
        self,
        trail: Trail,
        source: tuple[ast.expr, Value, str],
        step: Step,
        target: Value | None,
        moment: int,
    ) -> None:
        """Continue where a part of what an expression holds was put there, or a key of it."""
        expr, holder, key = source
        part = self._all.part(holder, key)
        if words_of(target) == key and not is_passed_on(part, target):
            self._keyed(trail, holder, key, moment)
        else:
            self._put(trail, *changed_place(self._all, holder, key, target, step.begin), moment)
        if trail.end is End.UNKNOWN:
            self._follow(trail, expr, step.frame, step, holder)

    def _given_by(self, trail: Trail, expr: ast.expr, step: Step, target: Value | None) -> None:
        """Continue in what a loop has asked for its element: a generator, or a library's iterator."""
        call, yielded = step.frame, self.now.yielded(target, step)
        if yielded is not None:
            self._returned(trail, yielded.frame, yielded)
        if yielded is not None or self._handed_over(trail, expr, step, target, is_element=True):
            return
        if isinstance(expr, ast.Call) and self.now.callees(expr, call, step):
            self._follow(trail, expr, call, step, target)
            return
        held = self.now.value(expr, call, step)
        is_held = held is not None and held.kind == CONTAINER
        trail.end, trail.expression = End.UNKNOWN if is_held else End.INPUT, expr
        trail.call, trail.step = call, step

    def _operands(
        self, trail: Trail, expr: ast.expr, call: Call, step: Step, target: Value | None
    ) -> None:
        """Continue with the operand that has the same value or flaw; otherwise this line made it."""
        found = list(self.now.operands(expr, call, step, self._flaw))
        passed = [each for each in found if not is_computed(each[0], expr, target)]
        chosen = next((each for each in passed if is_passed_on(each[1], target)), None)
        if chosen is None and not self._is_a_text:
            chosen = next((each for each in found if self._is_flawed(each[1])), None)
        if chosen is None and target is not None and target.kind == SCALAR and not self._is_a_text:
            parts = [each for each in passed if is_made_of(target, each[1])]
            chosen = parts[0] if len(parts) == 1 else None
        is_call = chosen is None and isinstance(expr, ast.Call | ast.Await)
        given = self.now.given_back(step, target) if is_call else None
        if given is not None:
            self._hop(trail, expr, step, target)
            self._returned(trail, given.frame, given)
        elif chosen is not None:
            self._hop(trail, expr, step, target)
            self._follow(trail, chosen[0], call, step, chosen[1])
        elif not (
            self._flawed_inside(trail, expr, step, found, target)
            or self._passed_on(trail, expr, step, found, target)
        ):
            self._finish(trail, End.MADE, expr, call, step, target)

    def _passed_on(
        self,
        trail: Trail,
        expr: ast.expr,
        step: Step,
        found: Sequence[tuple[ast.expr, Value | None]],
        target: Value | None,
    ) -> bool:
        """Continue with what a call took the value out of, or who gave it to the call."""
        if not isinstance(expr, ast.Call | ast.Await):
            return False
        if (put := put_for(expr, step, target, self._all, self._sources)) is not None:
            self._hop(trail, expr, step, target)
            self._go_on(trail, put[0], put[1], target)
            return True
        written = written_for(expr, step, self._all, self._sources, self.now)
        if written is not None and is_what_was_written(written.value, target, self._all):
            self._hop(trail, expr, step, target)
            self._go_on(trail, written.expr, written.step, written.value)
            return True
        for each, value in found:
            key = None if is_common(target) else self.now.key_of(value, target, step)
            part = self._all.part(value, key or "")
            if value is not None and key is not None and not is_by_chance(expr, target, part):
                self._hop(trail, expr, step, target)
                moment = step.over if isinstance(each, ast.Call) else step.begin
                self._out_of(trail, (each, value, key), step, target, moment)
                return True
        return self._handed_over(trail, expr, step, target)

    def _handed_over(
        self,
        trail: Trail,
        expr: ast.expr | None,
        step: Step,
        target: Value | None,
        *,
        is_element: bool = False,
    ) -> bool:
        """Continue where the program gave a value to the library that a line got it from."""
        found = handed_over(self._all, target, step, self._flaw, is_element=is_element)
        if found is None:
            return False
        if expr is not None:
            self._hop(trail, expr, step, target)
        self._flaw = found.flaw or self._flaw
        if found.holder is not None:
            self._put(trail, found.holder, found.key, found.result.begin)
        if trail.end is End.UNKNOWN:
            self._returned(trail, found.result.frame, found.result)
        return True
