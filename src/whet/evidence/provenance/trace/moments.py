"""The values of the parts of a line when it ran: variables, calls, displays, comprehensions."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from whet.evidence.provenance.run.recording import (
    CONTAINER,
    OBJECT,
    SCALAR,
    Call,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import (
    COMPREHENSIONS,
    Comprehension,
    Sources,
    bindings,
    called_name,
    element_of,
    head,
    in_order,
    is_literal,
    is_straight,
    names_in,
)
from whet.evidence.provenance.trace.given import ADDING
from whet.evidence.provenance.trace.trail import (
    SIMPLE,
    Flaw,
    calculated,
    index_in,
    is_common,
    is_passed_on,
    words_of,
)

_NONE = Value(SCALAR, "NoneType", "None")


class Moments:
    """Answers what something was at a step of one recording."""

    def __init__(self, recording: Recording, sources: Sources) -> None:
        """Make it ready."""
        self._all = recording
        self._sources = sources

    def value(self, expr: ast.AST, call: Call, step: Step) -> Value | None:
        """Return what an expression was when a step began; None: not known."""
        every = self._all
        match expr:
            case ast.Constant(value=value):
                size = len(value) if isinstance(value, str | bytes) else 0
                return Value(SCALAR, type(value).__name__, repr(value), size=size)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return Value(SCALAR, type(value).__name__, f"-{value!r}")
            case ast.Name(id=name):
                return every.held(call, name, step.begin)
            case ast.Attribute(value=inner, attr=name):
                holder = self.value(inner, call, step)
                return every.part(holder, name) or self._computed(holder, name, step)
            case ast.Subscript(value=inner, slice=index):
                return self.item(self.value(inner, call, step), self.index(index, call, step))
            case ast.Await(value=inner) | ast.NamedExpr(value=inner) | ast.Starred(value=inner):
                return self.value(inner, call, step)
            case ast.Call():
                return self.called(expr, call, step)
            case _:
                return None

    def maker(self, call: Call) -> tuple[Call, Step] | None:
        """Return the call and the step that have made a comprehension; another one may ask for it."""
        around = call.code.name.rpartition(".<locals>.")[0] or "<module>"
        parent = call.parent
        if parent is not None and (parent.code.name == around or "." not in call.code.name):
            step = parent.step_at(call.began)
            if step is not None and parent.code.path == call.code.path:
                return parent, step
        for other in reversed(self._all.calls[: call.index]):
            if (other.code.path, other.code.name) == (call.code.path, around):
                source = self._sources[call.code.path]
                own = source.statement(call.code.first_line)
                made = [each for each in other.steps if source.statement(each.line) is own]
                return (other, made[-1]) if made else None
        return None

    def outcome(self, expr: ast.expr, step: Step) -> Value | None:
        """Return what an expression was in a step that is over, also where only its use tells."""
        call = step.frame
        found = self.value(expr, call, step)
        if found is not None:
            return found
        statement = self._sources[call.code.path].statement(step.line)
        if isinstance(statement, ast.Return) and statement.value is expr:
            later = (each.result for each in call.steps if each.begin > step.begin)
            return next((each for each in later if each is not None), None)
        for target, value, is_element in bindings(statement):
            if value is expr and not is_element and step.end:
                return self.value(target, call, replace(step, begin=step.end))
        return None

    def others(self, expr: ast.expr, step: Step, made: Value | None) -> Iterator[Value]:
        """Yield what an expression was whenever else its line was run before.

        Args:
            expr: the expression.
            step: the step that is looked at.
            made: what it was then; a variable that was bound to it may stand for it.
        """
        is_inner = step.frame.code.short in COMPREHENSIONS
        bound = [
            name
            for name in sorted(step.has_changed)
            if made is not None and made.is_same(self._all.held(step.frame, name, step.over))
        ]
        for other in self._all.at_line(step.frame.code, step.line):
            if other.end and other.begin < (step.since or step.begin):
                at = replace(other, begin=other.end, since=other.begin) if is_inner else other
                value = self.outcome(expr, at)
                if value is None and bound:
                    value = self._all.held(other.frame, bound[0], other.end)
                if value is not None:
                    yield value

    def index(self, expr: ast.expr, call: Call, step: Step) -> Value | None:
        """Return what an index was, also one that a line calculates of whole numbers: `row[i - 1]`."""
        known = self.value(expr, call, step)
        if known is not None or not isinstance(expr, ast.BinOp):
            return known
        one, other = (self.index(each, call, step) for each in (expr.left, expr.right))
        return calculated(expr.op, one, other)

    def item(self, holder: Value | None, key: Value | None) -> Value | None:
        """Return what something held under a key."""
        if holder is None or key is None:
            return None
        return self._all.part(holder, index_in(holder, key.words))

    def called(self, expr: ast.Call, call: Call, step: Step) -> Value | None:
        """Return what a call gave back."""
        for callee in reversed(self.callees(expr, call, step)):
            for result in callee.results:
                if self._is_yielded(result):
                    return None  # the call itself gave a generator
                return result.result
        match expr:
            case ast.Call(func=ast.Attribute(value=inner, attr="get"), args=[key, *others]):
                holder, asked = self.value(inner, call, step), self.value(key, call, step)
                is_known = holder is not None and asked is not None and holder.is_whole
                found = self.item(holder, asked)
                if found is None and is_known and holder is not None and holder.kind == CONTAINER:
                    return self.value(others[0], call, step) if others else _NONE
                return found
            case _:
                return None

    def result_of(
        self, expr: ast.Call, call: Call, step: Step, target: Value | None
    ) -> Step | None:
        """Return where a call has given back a value; None: it made an object, or isn't known."""
        for callee in reversed(self.callees(expr, call, step)):
            if callee.code.short == "__init__":
                return None
            for result in callee.results:
                if target is None or result.result is None or target.is_same(result.result):
                    return result
        return None

    def callees(self, expr: ast.Call, call: Call, step: Step) -> list[Call]:
        """Return the calls that an expression has made."""
        name = called_name(expr)
        made = self._all.called_in(step) if step.frame is call else ()
        if isinstance(expr.func, ast.Lambda):
            return [e for e in made if self._sources[e.code.path].node_of(e.code) is expr.func]
        found = [each for each in made if each.code.short == name]
        found = found or [each for each in made if each.code.name == f"{name}.__init__"]
        calls = [node for node in self.nodes(call, step) if isinstance(node, ast.Call)]
        alike = in_order(each for each in calls if called_name(each) == name)
        if found:
            is_each = len(found) == len(alike) and expr in alike
            return [found[alike.index(expr)]] if is_each else found
        others = {called_name(node) for node in calls if node is not expr}
        # Behind an attribute there is a property, not the function that this line calls.
        others |= {node.attr for node in self.nodes(call, step) if isinstance(node, ast.Attribute)}
        # What is called by another name than its own: a callback, a lambda, an entry of a table.
        others |= set(COMPREHENSIONS)
        named = [each for each in made if not {each.code.short, each.code.class_name} & others]
        lambdas = [each for each in made if each.code.short == "<lambda>"]
        return named or (lambdas if len(lambdas) == len(made) else [])

    def flawed_key(self, value: Value | None, flaw: Flaw) -> str | None:
        """Return the key under which a container holds what has a flaw, or something with it."""
        if value is None or value.kind != CONTAINER:
            return None
        for key, part in self._all.parts(value):
            inside = [each for _, each in self._all.parts(part)] if part.kind == CONTAINER else []
            if any(map(flaw, (part, *inside))):
                return key
        return None

    def is_written(self, holder: Value, key: str, moment: int) -> bool:
        """Whether a line outside of a module has put something into it."""
        found = self._all.first_with(holder, key, moment)
        if found is None or found.step is None or not found.has_changed:
            return False
        statement = self._sources[found.step.frame.code.path].statement(found.step.line)
        return not isinstance(statement, ast.Import | ast.ImportFrom)

    def holds(self, value: Value | None, holder: Value, part: Value) -> bool:
        """Whether a value is the holder of a part, or has one of them in it."""
        if value is None or value.is_same(holder):
            return value is not None
        inside = [each for _, each in self._all.parts(value)]
        return any(each.is_same(holder) or each.is_same(part) for each in inside)

    def given_back(self, step: Step, target: Value | None) -> Step | None:
        """Return the call that returned a value during a line, unless the value is a common one."""
        if target is None or is_common(target):
            return None
        for each in reversed(self._all.steps):
            is_during = (step.since or step.begin) < each.begin < step.over
            if is_during and each.frame is not step.frame and target.is_same(each.result):
                return each
        return None

    def steps_before(self, call: Call, step: Step) -> Iterator[Step]:
        """Yield the lines of a call before a step, the last first."""
        is_inner = call.code.short in COMPREHENSIONS
        moment = step.begin if is_inner else step.since or step.begin
        for before in reversed(call.steps):
            if before.begin < moment and before.result is None:
                yield before

    def binding(self, name: str, call: Call, step: Step) -> tuple[ast.expr, bool] | None:
        """Return what a step bound a name to, and whether to an element of it."""
        statement = self._sources[call.code.path].statement(step.line)
        if statement is None:
            return None
        for target, value, is_element in bindings(statement):
            if name in names_in(target):
                is_part = isinstance(target, ast.Tuple | ast.List)
                return value, is_element or is_part
        for node in head(statement):
            if isinstance(node, Comprehension):
                for generator in node.generators:
                    if name in names_in(generator.target) and name not in call.code.variables:
                        return generator.iter, True
        return None

    def bound_elsewhere(
        self, name: str, call: Call, step: Step
    ) -> tuple[ast.expr, bool, Step] | None:
        """Return what a name of the module, or of the function around, was bound to before a step."""
        is_global, moment = name not in call.code.variables, step.since or step.begin
        for before in reversed(self._all.steps):
            other = before.frame
            if before.begin >= moment or before.result is not None or other is call:
                continue
            is_around = call.code.name.startswith(f"{other.code.name}.<locals>.")
            if other.code.path == call.code.path and (
                other.code.is_module if is_global else is_around
            ):
                found = self.binding(name, other, before)
                if found is not None:
                    return *found, before
        return None

    def is_kept(self, name: str, call: Call, bound: Step, used: Step) -> bool:
        """Whether a variable still is what a step has bound it to, when another step uses it."""
        then = self._all.held(call, name, bound.over)
        now = self._all.held(call, name, used.begin)
        return then is None or now is None or then.is_same(now)

    def nodes(self, call: Call, step: Step) -> Iterator[ast.AST]:
        """Yield the nodes of what a step evaluates."""
        source = self._sources[call.code.path]
        own = source.node_of(call.code) if call.code.short in COMPREHENSIONS else None
        if own is not None:
            yield from ast.walk(own)
            return
        statement = source.statement(step.line)
        if statement is not None:
            yield from head(statement)

    def leaving(self, callee: Call, result: Step) -> tuple[ast.expr | None, Step]:
        """Return what a call was left with, and when; a `with` around it is left after it."""
        source = self._sources[callee.code.path]
        at = callee.step_at(result.begin)
        own = source.node_of(callee.code)
        is_none = result.result is None or result.result.words == "None"
        if isinstance(own, Comprehension):
            return own, at or result
        while at is not None:
            statement = source.statement(at.line)
            given = source.given_on(at.line, is_none=is_none)
            if given is not None:
                return given, at
            if not isinstance(statement, ast.With | ast.AsyncWith):
                break
            at = callee.step_at(at.begin - 1)
        return source.given_on(result.line, is_none=is_none), result

    def rounds(self, expr: Comprehension, call: Call, step: Step) -> Iterator[tuple[Call, Step]]:
        """Yield where each element was made, the last first; its names are bound there."""
        names = {name for each in expr.generators for name in names_in(each.target)}
        for inner in (call, *reversed(self._all.called_in(step))):
            if self._sources[inner.code.path].node_of(inner.code) is not expr:
                continue
            until = inner.steps[-1].over if inner.steps else 0
            for each in reversed(inner.steps):
                if names & each.has_changed:
                    yield inner, replace(each, begin=each.end, since=each.begin, end=until)
                    until = each.begin - 1

    def chosen_round(
        self,
        expr: Comprehension,
        rounds: Sequence[tuple[Call, Step]],
        wanted: tuple[str, Value | None],
        is_flawed: Callable[[Value | None], bool],
    ) -> tuple[Call, Step, Value | None] | None:
        """Return the round whose element has the wanted key, or is the wanted value, or has the flaw."""
        element, (key, target) = element_of(expr), wanted
        for inner, at in rounds:
            value = self.value(element, inner, at)
            if key and isinstance(expr, ast.DictComp):  # a round may have been left out
                is_other = value and target and not is_passed_on(value, target)
                is_it = not is_other and words_of(self.value(expr.key, inner, at)) == key
            else:
                parts = [each for _, each in self.operands(element, inner, at)]
                known = parts if value is None else [value]
                is_it = any(is_passed_on(each, target) or is_flawed(each) for each in known)
            if is_it:
                return inner, at, value
        return None

    def round_with(
        self, expr: ast.DictComp, call: Call, step: Step, key: str
    ) -> tuple[Call, Step, Value | None] | None:
        """Return where a comprehension has made a key, and what that was."""
        for inner, at in self.rounds(expr, call, step):
            value = self.value(expr.key, inner, at)
            if words_of(value) == key:
                return inner, at, value
        return None

    def round_making(
        self, expr: Comprehension, call: Call, step: Step, holder: Value
    ) -> tuple[Call, Step] | None:
        """Return where a comprehension has made an object."""
        element, rounds = element_of(expr), list(self.rounds(expr, call, step))
        for inner, at in rounds:
            if self.makes(element, inner, at, holder):
                return inner, at
        results = [] if not rounds else [each.result for each in rounds[0][0].results]
        for made in (results or [self.outcome(expr, step)]) if is_straight(expr) else ():
            for key, part in () if made is None else self._all.parts(made):
                if part.number == holder.number and int(key) < len(rounds):
                    return rounds[-1 - int(key)]
        return None

    def making(self, call: Call, step: Step, holder: Value) -> ast.expr | None:
        """Return the part of a line that has made an object, if it isn't the whole of it."""
        given: list[ast.expr] = []
        for node in self.nodes(call, step):
            if isinstance(node, ast.Dict | ast.List | ast.Tuple) and self.makes(
                node, call, step, holder
            ):
                return node
            if isinstance(node, ast.Call) and self.callees(node, call, step):
                given += [*node.args, *(each.value for each in node.keywords)]
        made = [
            each
            for each in given
            if isinstance(each, ast.Call | Comprehension) and not self._has(each, call, step)
        ]
        return made[0] if len(made) == 1 else None

    def bound_to(
        self, statement: ast.stmt | None, step: Step, holder: Value
    ) -> tuple[ast.expr, bool] | None:
        """Return what a step has bound an object to, or what has it as a part; and whether an element of it."""
        at = replace(step, begin=step.over)
        for target, value, is_element in bindings(statement):
            if isinstance(target, ast.Attribute | ast.Subscript):
                now = self.value(target, step.frame, at)
                if now is None or not self.holds(now, holder, holder):
                    continue
            return value, is_element
        return None

    def _computed(self, holder: Value | None, name: str, step: Step) -> Value | None:
        """Return the value of an attribute that is a property; None: it isn't a property."""
        for callee in self._all.called_in(step):
            own = callee.held.get("self") or [(0, None)]
            if callee.code.short == name and holder is not None and holder.is_same(own[0][1]):
                return next((each.result for each in callee.results), None)
        return None

    def property_of(
        self, expr: ast.Attribute | ast.Subscript, step: Step, target: Value | None
    ) -> Step | None:
        """Return where the method behind an attribute or an index returned its value."""
        name = expr.attr if isinstance(expr, ast.Attribute) else "__getitem__"
        for callee in reversed(self._all.called_in(step)):
            if callee.code.short in {name, "__getattr__"}:
                for result in callee.results:
                    if target is None or target.is_same(result.result):
                        return result
        return None

    def _has(self, expr: ast.expr, call: Call, step: Step) -> bool:
        return self.value(expr, call, step) is not None

    def written(self, statement: ast.stmt, key: str, part: Value, step: Step) -> ast.expr | None:
        """Return what a statement puts into something under a key."""
        for target, value, is_element in bindings(statement):
            if isinstance(target, ast.Attribute) and target.attr == key and not is_element:
                return value
            if isinstance(target, ast.Subscript) and not is_element:
                index = self.value(target.slice, step.frame, step)
                if index is None or index.words == key:
                    return value
        for node in head(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                values = [(given, self.value(given, step.frame, step)) for given in node.args]
                same = [given for given, value in values if is_passed_on(value, part)]
                if node.func.attr in ADDING and len(node.args) == 1:
                    same = same or node.args
                if same:
                    return same[-1]
        return None

    def asked(self, expr: ast.expr, call: Call, step: Step) -> Step:
        """Return when a line has called what it goes through: a loop does so in its first round."""
        if isinstance(expr, ast.Call):
            for before in reversed(call.steps):
                is_it = before.line == step.line and before.begin <= step.begin
                if is_it and before.result is None and self.callees(expr, call, before):
                    return before
        return step

    def key_written(self, step: Step, key: str) -> ast.expr | None:
        """Return what a step has put something under as a key; else what it has bound."""
        statement = self._sources[step.frame.code.path].statement(step.line)
        keys: list[ast.expr] = []
        for node in head(statement):
            match node:
                case ast.Subscript(slice=given) | ast.Call(func=ast.Attribute(), args=[given, *_]):
                    keys.append(given)
                case _:
                    pass
        known = [(each, self.value(each, step.frame, step)) for each in keys]
        same = [each for each, value in known if words_of(value) == key]
        bound = [value for _, value, _ in bindings(statement)]
        return next(iter((*same, *keys, *bound)), None)

    def shown(
        self, expr: ast.Dict | ast.List | ast.Tuple, call: Call, step: Step
    ) -> dict[str, ast.expr]:
        """Return what a display puts under which key."""
        if isinstance(expr, ast.Dict):
            pairs = zip(expr.keys, expr.values, strict=True)
            known = [(words_of(self.value(key, call, step)), each) for key, each in pairs if key]
            return {key: each for key, each in known if key}
        if any(isinstance(each, ast.Starred) for each in expr.elts):
            return {}
        return {str(number): each for number, each in enumerate(expr.elts)}

    def makes(self, expr: ast.expr, call: Call, step: Step, holder: Value) -> bool:
        """Whether a display of known parts was that object."""
        if isinstance(expr, ast.Call):
            own = [
                self._all.held(each, "self", each.began) for each in self.callees(expr, call, step)
            ]
            return any(each is not None and each.number == holder.number for each in own)
        if not isinstance(expr, ast.Dict | ast.List | ast.Tuple):
            value = self.value(expr, call, step)
            return value is not None and value.is_same(holder)
        same = 0
        for key, item in self.shown(expr, call, step).items():
            value, part = self.value(item, call, step), self._all.part(holder, key)
            if value is not None:
                if part is None or not value.is_same(part):
                    return False
                same += 1
        return same > 0

    def gone_through(self, expr: ast.expr) -> Iterator[ast.expr]:
        """Yield what a loop goes through, and what that is made of."""
        yield expr
        if isinstance(expr, ast.Call):
            if isinstance(expr.func, ast.Attribute):
                yield expr.func.value
            for given in expr.args:
                yield from self.gone_through(given)

    def key_of(self, holder: Value | None, target: Value | None, step: Step) -> str | None:
        """Return the key under which something holds a value, or the value that has it as a part."""
        if holder is None or target is None or holder.kind not in {CONTAINER, OBJECT}:
            return None
        if target.words in SIMPLE and target.kind == SCALAR:
            key = self._key_in_loop(holder, target, step)
            if key:
                return key
            deep = [
                key
                for key, part in self._all.parts(holder)
                if any(each.is_same(target) for _, each in self._all.parts(part))
            ]
            return deep[-1] if deep else None
        for key, part in self._all.parts(holder):
            if part.is_same(target):
                return key
        for key, part in self._all.parts(holder):
            if any(each.is_same(target) for _, each in self._all.parts(part)):
                return key
            is_key = holder.type not in {"list", "tuple"}  # a number that equals an index isn't one
            if is_key and target.kind == SCALAR and key == target.words:
                return key
        return None

    def _key_in_loop(self, holder: Value, target: Value, step: Step) -> str:
        """Return the key of what a loop has come to: by its other names, else by its round."""
        keys = [words_of(self._all.held(step.frame, each, step.over)) for each in step.has_changed]
        if holder.type in {"list", "tuple"} and holder.is_whole:
            at = [e for e in step.frame.steps if e.line == step.line and e.begin <= step.begin]
            keys.append(str((len(at) - 1) % (holder.size + 1)))
        same = [each for each in keys if is_passed_on(self._all.part(holder, each), target)]
        alone = [key for key, part in self._all.parts(holder) if part.is_same(target)]
        same += alone if len(alone) == 1 and holder.is_whole else []
        return next(iter(same), "")

    def yielded(self, target: Value | None, step: Step) -> Step | None:
        """Return the step that has yielded a value."""
        if target is None:
            return None
        for before in reversed(self._all.steps):
            asked = before.frame.parent  # a comprehension may ask for its function
            is_asked = asked is not None and step.frame in {asked, asked.parent}
            if before.result is None or before.begin > step.over or not is_asked:
                continue
            if not self._is_yielded(before):
                continue
            result = before.result
            if result.is_same(target) or (
                target.words not in SIMPLE
                and any(part.is_same(target) for _, part in self._all.parts(result))
            ):
                return before
        return None

    def _is_yielded(self, result: Step) -> bool:
        statement = self._sources[result.frame.code.path].statement(result.line)
        return statement is not None and any(isinstance(n, ast.Yield) for n in head(statement))

    def operands(
        self, expr: ast.expr | ast.Expr, call: Call, step: Step, flaw: Flaw | None = None
    ) -> Iterator[tuple[ast.expr, Value | None]]:
        """Yield the largest parts of an expression whose value is known, and comprehensions.

        Args:
            expr: the expression.
            call: the call that it is in.
            step: the step that evaluates it.
            flaw: of what a generator has yielded, that with the flaw is wanted; else the last.
        """
        for node in ast.iter_child_nodes(expr):
            inner = node.value if isinstance(node, ast.keyword) else node
            if is_literal(inner) or not isinstance(inner, ast.expr):
                continue
            if isinstance(expr, ast.Call) and inner is expr.func:
                if not isinstance(inner, ast.Attribute):
                    continue
                inner = inner.value
            if isinstance(inner, Comprehension):
                yield inner, self._last_of(inner, step, flaw)
                inner = inner.generators[0].iter
                value = self.value(inner, call, step)
                if value is not None:
                    yield inner, value
                continue
            value = self.value(inner, call, step)
            if value is not None:
                yield inner, value
            else:
                yield from self.operands(inner, call, step, flaw)

    def _last_of(self, expr: Comprehension, step: Step, flaw: Flaw | None) -> Value | None:
        for inner in reversed(self._all.called_in(step)):
            if self._sources[inner.code.path].node_of(inner.code) is expr:
                results = [each.result for each in inner.results if each.result is not None]
                flawed = [each for each in results if flaw is not None and flaw(each)]
                return next(iter(flawed or results), None)
        return None
