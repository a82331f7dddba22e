"""Events on the path of a value: how often a loop ran, which error was caught."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from whet.core.observations.clue import Clue, Sureness, TrailStep
from whet.core.text.quantity import shown_count
from whet.evidence.provenance.events.missing import caught
from whet.evidence.provenance.failure.suspects import CONTROL_FLOW, Failing
from whet.evidence.provenance.failure.unlike import spread_in
from whet.evidence.provenance.run.control import Control
from whet.evidence.provenance.run.recording import ARRAY, SCALAR, Call, Step
from whet.evidence.provenance.run.source import called_name, head
from whet.evidence.provenance.sentences.wording import Wording, cut, is_call
from whet.evidence.provenance.trace.flaws import is_infinite, is_nan, is_zero
from whet.evidence.provenance.trace.trail import End, Trail
from whet.evidence.provenance.trace.walk import Walk
from whet.host.inspect.stacks import is_user_code

OVER = "over"
"""How a recording writes an iterator that has nothing left."""

_BACKWARD_AGAIN = "backward through the graph a second time"
_FEW = 2
_CHANGED_IN_PLACE = re.compile(
    r"modified by an inplace operation: \[[\w.]+ \[(?P<shape>[\d, ]*)\]\]"
)
_IN_PLACE = re.compile(r"[a-z]\w*[a-z0-9]_\Z")
_MOST_PLACES = 2
_OF_NOTHING = {
    "ValueError", "IndexError", "StopIteration", "ZeroDivisionError", "AssertionError",
    "StatisticsError",
}  # fmt: skip
"""What operations raise that were given nothing."""


@dataclass(slots=True)
class Happened(Wording):
    """Tells what happened on the way of a value.

    Attributes:
        walk: goes back through the run.
        control: which test led where.
    """

    walk: Walk
    control: Control

    def dropped(self, trail: Trail) -> Iterator[TrailStep]:
        """Say which error was caught in the call that the value came out of."""
        last = trail.hops[-1].call
        until = self.recording.errors[-1]
        for error in self.recording.errors:
            if (
                error.type not in CONTROL_FLOW
                and error.number != until.number
                and any(each is last for each in error.call.around)
            ):
                path, there = error.call.code.path, caught(self.recording, error)
                if there is None or there[0] is not last:
                    continue
                yield TrailStep(
                    says=f"raised {self.error(error)}, caught at"
                    f" {self.at(there[0].code.path, there[1])}",
                    place=self.at(path, error.line),
                    source=self.line(path, error.line),
                )
                return

    def loop(self, step: Step) -> list[TrailStep]:
        """Say how often the outermost loop around a line went round, if a function decided that."""
        call = step.frame
        path = call.code.path
        for loop in islice(self.control.loops(call, step.line), 1):
            at = next((each for each in call.steps if each.line == loop.lineno), None)
            for node in ast.walk(loop.iter):
                made = self.walk.now.callees(node, call, at) if is_call(node) and at else []
                for result in made[-1].results if made else ():
                    given, _ = self.walk.now.leaving(made[-1], result)
                    rounds = sum(each.line == loop.lineno for each in call.steps) - 1
                    counted = self.recording.at_line(call.code, loop.lineno)
                    if len(counted) < self.recording.times_of(call.code, loop.lineno).times:
                        return []  # not all of them were recorded
                    if given is None or result.result is None or result.result.kind != SCALAR:
                        continue
                    over = cut(self.sources[path].said(loop.iter))
                    gave = cut(result.result.words)
                    return [
                        TrailStep(
                            says=f"the loop over `{over}` went round"
                            f" {shown_count(rounds, 'time')}; this gave {gave}",
                            place=self.at(made[-1].code.path, given.lineno),
                            source=self.said(given, made[-1]),
                        )
                    ]
        return []

    def spread(self, failing: Failing) -> list[Clue]:
        """Report the operation that took n numbers and a column of n numbers each with each."""
        found = spread_in(self.recording, self.sources, self.walk, failing.error.moment)
        if found is None:
            return []
        call, line = found.step.frame, found.step.line
        (one, its), (other, others) = found.operands
        return [
            self.clue(
                f"{self.place_of(call.code.path, line)} makes an array of shape {found.made}:"
                f" `{self.said(one, call)}` has shape {its}, `{self.said(other, call)}` has"
                f" {others}, so each number of one meets each of the other",
                call.code.path, line, Sureness.POSSIBLE,
            )
        ]  # fmt: skip

    def spent(self, failing: Failing) -> Iterator[Clue]:
        """Report the line that had used up what the failing operation goes through, or what that was made of."""
        for expr, call, step in self._gone_through(failing):
            value = self.walk.now.value(expr, call, step)
            if value is None or value.words != OVER:
                continue
            states = self.recording.history(value.number)
            first = next((each for each in states if each.value.words == OVER), None)
            if first is None or first is states[0] or first.step is None or not first.has_changed:
                continue
            path, line = first.step.frame.code.path, first.step.line
            is_here = (path, line) == (call.code.path, step.line)
            if first.moment > step.begin or is_here:
                continue
            there = self.at(call.code.path, step.line)
            yield self.clue(
                f"`{self.said(expr, call)}` had nothing left at {there}: {self.place_of(path, line)} had"
                " used it up",
                path, line, Sureness.SEEN,
            )  # fmt: skip
            return

    def in_place(self, failing: Failing) -> list[Clue]:
        """Report the lines that changed in place an array like the one that a backward pass still needed."""
        said = " ".join(part.words for _, part in self.recording.parts(failing.error.arguments))
        told = _CHANGED_IN_PLACE.search(said)
        if told is None:
            return []
        shape = [int(each) for each in told["shape"].split(",") if each.strip()]
        places: dict[tuple[str, int], None] = {}
        for step in self.recording.steps:
            path = step.frame.code.path
            if (
                step.result is not None
                or step.begin > failing.error.moment
                or not is_user_code(path)
            ):
                continue
            for changed in _changed_in_place(self.sources[path].statement(step.line)):
                value = self.walk.now.value(changed, step.frame, step)
                if value is not None and value.kind == ARRAY and value.facts.get("shape") == shape:
                    places[path, step.line] = None
        sureness = Sureness.SEEN if len(places) == 1 else Sureness.POSSIBLE
        shown_shape = "x".join(map(str, shape))
        return [
            replace(
                self.clue(
                    f"{self.place_of(path, line)} changed an array of shape {shown_shape} in place: the"
                    " backward pass needs one of that shape as it was",
                    path, line, sureness,
                ),
                next_step=f"make a new tensor at {self.at(path, line)}: change a `.clone()`, or use `torch.where`",
            )
            for path, line in list(places)[-_MOST_PLACES:]
        ]  # fmt: skip

    def again(self, failing: Failing) -> list[Clue]:
        """Report what was made before a backward pass, and was used for the next one, whose graph is gone."""
        said = " ".join(part.words for _, part in self.recording.parts(failing.error.arguments))
        passes = [each for each in self._backward(failing.error.moment) if _BACKWARD_AGAIN in said]
        if len(passes) < _FEW:
            return []
        before = passes[-2]
        used: dict[str, tuple[Step, Step]] = {}
        for step in self.recording.steps:
            if before.over <= step.begin <= failing.error.moment and step.result is None:
                for expr, made in self._kept_since(before, step):
                    used.setdefault(self.said(expr, step.frame), (made, step))
        found: list[Clue] = []
        for name, (made, step) in used.items():
            path, use = made.frame.code.path, self.place_of(step.frame.code.path, step.line)
            there = self.place_of(before.frame.code.path, before.line)
            clue = self.clue(
                f"`{name}` was made at {self.place_of(path, made.line)}, before the backward pass at"
                f" {there}, and {use} uses it again: the graph behind it is gone by then",
                path, made.line, Sureness.POSSIBLE,
            )  # fmt: skip
            advice = f"compute `{name}` again before each backward pass, or use `{name}.detach()` at {use}"
            found.append(replace(clue, next_step=advice))
        return (
            [replace(each, sureness=Sureness.SEEN) for each in found] if len(found) == 1 else found
        )

    def _backward(self, until: int) -> Iterator[Step]:
        """Yield the lines of the user's that ran a backward pass."""
        for step in self.recording.steps:
            path = step.frame.code.path
            if step.result is None and step.begin <= until and is_user_code(path):
                statement = self.sources[path].statement(step.line)
                if any(
                    is_call(each) and called_name(each) == "backward" for each in head(statement)
                ):
                    yield step

    def _kept_since(self, before: Step, step: Step) -> Iterator[tuple[ast.expr, Step]]:
        """Yield what a line uses that has a graph, and what had bound it before another line."""
        statement = self.sources[step.frame.code.path].statement(step.line)
        for node in head(statement):
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            value = self.walk.now.value(node, step.frame, step)
            has_graph = value is not None and value.kind == ARRAY and value.facts.get("grad")
            if value is None or not has_graph or value.type.endswith("Parameter"):
                continue
            made = self._bound_at(node, step)
            is_before = made is not None and made.begin < before.begin
            if made is not None and is_before and "requires_grad" not in self._line_of(made):
                yield node, made

    def _bound_at(self, node: ast.Name | ast.Attribute, step: Step) -> Step | None:
        """Return the last line before a step that has bound a name, or an attribute."""
        if isinstance(node, ast.Name):
            earlier = (each for each in reversed(step.frame.steps) if each.begin < step.begin)
            return next((each for each in earlier if node.id in each.has_changed), None)
        holder = self.walk.now.value(node.value, step.frame, step)
        first = holder and self.recording.first_with(holder, node.attr, step.begin)
        return first.step if first and first.has_changed else None

    def _line_of(self, step: Step) -> str:
        return self.line(step.frame.code.path, step.line)

    def _gone_through(self, failing: Failing) -> Iterator[tuple[ast.expr, Call, Step]]:
        call, step = failing.call, failing.step
        is_about_nothing = failing.error.type.rpartition(".")[2] in _OF_NOTHING
        if not is_about_nothing or not isinstance(failing.node, ast.expr | ast.stmt):
            return
        whole = ast.Expr(failing.node) if isinstance(failing.node, ast.expr) else failing.node
        for node in ast.walk(whole):
            if isinstance(node, ast.Name | ast.Attribute | ast.Call):
                yield node, call, step
                value = self.walk.now.value(node, call, step)
                if value is None or value.kind == SCALAR or value.size or value.words == OVER:
                    continue
                behind = self.walk.back(node, call, step, value, None)
                made = behind.expression
                if made is None or behind.call is None or behind.step is None:
                    continue
                for inner in ast.walk(made):
                    if isinstance(inner, ast.Name | ast.Attribute):
                        yield inner, behind.call, behind.step

    def divides_by_zero(self, trail: Trail) -> bool:
        """Whether a value was made by a division by zero: why there is a zero is the question then."""
        expr, call, step = trail.expression, trail.call, trail.step
        if not isinstance(expr, ast.BinOp) or not isinstance(expr.op, ast.Div):
            return False
        divisor = (
            None if call is None or step is None else self.walk.now.value(expr.right, call, step)
        )
        if divisor is None:
            return False
        least, most = divisor.facts.get("min"), divisor.facts.get("max")
        if isinstance(least, int | float) and isinstance(most, int | float):
            return least <= 0 <= most
        return is_zero(divisor)

    def made_of_infinite(self, trail: Trail) -> tuple[ast.expr, Trail] | None:
        """Return the infinite number that the operation which made a NaN was given, and its way."""
        expr, call, step = trail.expression, trail.call, trail.step
        if trail.end is not End.MADE or expr is None or call is None or step is None:
            return None
        for operand, value in self.walk.now.operands(expr, call, step):
            if value is not None and is_infinite(value) and not is_nan(value):
                behind = self.walk.back(operand, call, step, value, is_infinite)
                if behind.hops and behind.end is End.MADE:
                    return operand, behind
        return None

    def is_from_outside(self, trail: Trail) -> bool:
        """Whether a value was given by what was not followed: a database, a match, a package.

        Why that had nothing to give is the question then.
        """
        expr, call, step = trail.expression, trail.call, trail.step
        while isinstance(expr, ast.Subscript | ast.Attribute | ast.Await):
            expr = expr.value
        if trail.end is not End.MADE or call is None or step is None:
            return False
        return isinstance(expr, ast.Call) and not self.walk.now.callees(expr, call, step)


def _changed_in_place(statement: ast.stmt | None) -> Iterator[ast.expr]:
    """Yield what a statement changes in place, if it is an array."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AugAssign) else targets
    for target in targets:
        if isinstance(target, ast.Subscript):
            yield target.value
        elif isinstance(statement, ast.AugAssign):
            yield target
    for node in head(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=changed, attr=name)) if _IN_PLACE.match(name):
                yield changed
            case ast.Call(args=[changed, *_], keywords=keywords):
                if any(each.arg == "inplace" for each in keywords):
                    yield changed
            case _:
                pass
