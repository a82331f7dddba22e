"""Which value of a failing line is the bad one."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from whet.core.value_class import value_class
from whet.evidence.provenance.failure.differing import differing_in
from whet.evidence.provenance.failure.unlike import Unlike, may_convert, unlike_in
from whet.evidence.provenance.run.recording import (
    ARRAY,
    CONTAINER,
    Call,
    Raised,
    Recording,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import (
    Comprehension,
    Source,
    Sources,
    called_name,
    element_of,
    head,
    lookups,
)
from whet.evidence.provenance.trace.flaws import (
    AWARE,
    flaw_of,
    named_types,
    odd_of,
    shape_of,
    zone_of,
)
from whet.evidence.provenance.trace.trail import Flaw, OfType
from whet.evidence.provenance.trace.walk import Walk
from whet.host.inspect.stacks import is_user_code

_MOST_STEPS = 10
_ANSWERS = {"bool", "int", "NoneType"}
_PLAIN = {"bool", "int"}
_EXITS = {"exit", "_exit", "SystemExit"}
_TESTS = (ast.Compare, ast.BoolOp)
EXIT = "SystemExit"
CONTROL_FLOW = {"StopIteration", "StopAsyncIteration", "GeneratorExit", "CancelledError"}
_DECISIVE, _UNDECIDED = 0, 4
_DIFFERING = 3
NO_DATA = {"module", "function", "builtin_function_or_method", "method", "type"}
Position = tuple[int, int, int, int]

_SIMPLE = ast.Assert | ast.Assign | ast.Expr | ast.Return | ast.Raise
_FEW_ERRORS = 3
"""Of so few, none is unlike the others."""


@value_class
class Failing:
    """The operation that failed.

    Attributes:
        error: the error as it was raised.
        call: the innermost call that was followed.
        step: the line.
        node: what was being evaluated: the statement, or a part of it.
        is_decided: it is the test that decided, whose answer others have passed on.
        passed_on: files and lines of these.
    """

    error: Raised
    call: Call
    step: Step
    node: ast.AST
    is_decided: bool = False
    passed_on: tuple[tuple[str, int], ...] = ()


@value_class
class Suspect:
    """A value that the failing operation had.

    Attributes:
        expr: where it stands.
        value: what it was.
        says: what is wrong with it; empty: nothing that the value alone shows.
        flaw: that, as a question about other values.
        rank: the lower, the likelier.
        key: it is a part of what is there, under this key; empty: it is all of it.
        holder: what holds it then.
        above: the subscripts that lead from what is there to the holder.
    """

    expr: ast.expr
    value: Value
    says: str
    flaw: Flaw | None
    rank: int
    key: str = ""
    holder: Value | None = None
    above: str = ""


def failing_in(
    recording: Recording, sources: Sources, position_of: Callable[[str, int], Position | None]
) -> Failing | None:
    """Return what failed last; None: it was not followed.

    Args:
        recording: what was recorded.
        sources: the program.
        position_of: where on a line its frame stood in the failure, if it is known.
    """
    if not recording.errors:
        return None
    last = recording.errors[-1]
    first = _innermost(recording, last)
    if first.type == "AssertionError" and not is_user_code(first.call.code.path):
        first = last  # a helper of a package has compared what the user's line has given it
    return failing_at(first, sources, position_of)


def failing_at(
    first: Raised, sources: Sources, position_of: Callable[[str, int], Position | None]
) -> Failing | None:
    """Return the operation with which an error came up."""
    step = first.call.step_at(first.moment)
    source = sources[first.call.code.path]
    statement = source.statement(first.line)
    if step is None or statement is None:
        return None
    position = position_of(first.call.code.path, first.line)
    node = _node_at(statement, position) or _part_for(first.call, sources) or statement
    return Failing(first, first.call, at_error(step, first, statement), node)


def at_error(step: Step, error: Raised, statement: ast.stmt) -> Step:
    """Return a step as it was when an error came up in it: names may have been bound in it.

    A statement of several lines comes back to its first one: what it has called before is its own, too.
    """
    since = step.begin
    lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    for before in reversed(step.frame.steps if isinstance(statement, _SIMPLE) else ()):
        if before.begin <= step.begin and before.result is None:
            if before.line not in lines:
                break
            since = before.begin
    return replace(step, begin=error.moment, since=since)


def _innermost(recording: Recording, last: Raised) -> Raised:
    """Return where an error that has gone through several calls came up."""
    found = last
    for error in reversed(recording.errors):
        if error.number == last.number and error.type == last.type:
            is_inside = any(each is last.call for each in error.call.around)
            found = error if is_inside else found
    return found


def replaced_in(failing: Failing, recording: Recording, sources: Sources) -> Raised | None:
    """Return the error that a `raise` in its handler put another one instead of."""
    source = sources[failing.call.code.path]
    statement = source.statement(failing.error.line)
    handlers = (node for node in ast.walk(source.tree) if isinstance(node, ast.ExceptHandler))
    is_last = isinstance(statement, ast.Raise) or failing.error.type == EXIT
    is_inside = is_last and any(
        each is statement for handler in handlers for each in ast.walk(handler)
    )
    for error in reversed(recording.errors) if is_inside else ():
        if error.call is failing.call and error.number != failing.error.number:
            return _innermost(recording, error)
    return None


def caught_before(failing: Failing, recording: Recording) -> list[Raised]:
    """Return the last error that came up before a program ended itself; first, one unlike all that its function caught."""
    ways = [
        way
        for way in (_ways_of_errors(recording) if failing.error.type == EXIT else ())
        if way[0].type not in CONTROL_FLOW and way[0].number != failing.error.number
    ]
    inner = [way[0] for way in ways if way[-1].call.code is ways[-1][-1].call.code]
    times = Counter((each.call.code.path, each.line) for each in inner)
    rare = [each for each in inner if times[each.call.code.path, each.line] == 1]
    is_odd = len(rare) == 1 and rare[0] is not inner[-1] and len(inner) > _FEW_ERRORS
    return [*rare, inner[-1]] if is_odd else inner[-1:]


def _ways_of_errors(recording: Recording) -> list[list[Raised]]:
    """Return each error with the lines that it went through, the innermost first: a later one may have its number."""
    ways: list[list[Raised]] = []
    for each in recording.errors:
        before = ways[-1][-1] if ways else None
        goes_on = (
            before is not None
            and (before.number, before.type) == (each.number, each.type)
            and before.call is not each.call
            and any(one is each.call for one in before.call.around)
        )
        if goes_on:
            ways[-1].append(each)
        else:
            ways.append([each])
    return ways


def _part_for(call: Call, sources: Sources) -> ast.AST | None:
    """Return the comprehension that a call is the body of."""
    node = sources[call.code.path].node_of(call.code)
    return node if isinstance(node, ast.expr) else None


def _node_at(statement: ast.stmt, position: Position | None) -> ast.AST | None:
    if position is None:
        return None
    for node in ast.walk(statement):
        if isinstance(node, ast.expr):
            at = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
            if at == position:
                return node
    return None


def tested_in(failing: Failing, sources: Sources) -> tuple[ast.AST, Step]:
    """Return what decided for a failure: of a `raise` the test before it, of an `assert` its own."""
    node = failing.node
    if failing.is_decided:
        return node, failing.step
    if isinstance(node, ast.Assert):
        return node.test, failing.step
    source = sources[failing.call.code.path]
    statement = source.statement(failing.error.line)
    if isinstance(statement, ast.Assert) and failing.error.type == "AssertionError":
        return statement.test, failing.step
    if not isinstance(statement, ast.Raise) and failing.error.type != EXIT:
        return node, failing.step
    for step in reversed(failing.call.steps):
        if step.begin >= failing.step.begin or step.result is not None:
            continue
        before = source.statement(step.line)
        if isinstance(before, ast.If | ast.While) and any(
            each is statement for each in ast.walk(before)
        ):
            return before.test, step
    return node, failing.step


def decided(failing: Failing, sources: Sources, walk: Walk) -> Failing:
    """Return what decided for a failure, as if the program had failed there.

    `sys.exit(main())`, `assert is_good(x)` and `if not ok: raise …` only pass an answer on. What the
    answer was made of tells more: the comparison in `return 0 if accuracy >= 0.8 else 1`.
    """
    node, step = _given_code(failing, walk) or tested_in(failing, sources)
    call, passed, followed = failing.call, list(failing.passed_on), dict(walk.passed)
    start = node
    for _ in range(_MOST_STEPS):
        node = _inner(node)
        if isinstance(node, _TESTS):
            break
        if isinstance(node, ast.IfExp):
            node = node.test
            continue
        if isinstance(node, ast.Constant):
            before = _test_before(call, step, node, sources)
            if before is None:
                break
            passed.append((call.code.path, node.lineno))
            node, step = before
            continue
        if not isinstance(node, ast.expr):
            break
        made = _made(node, call, step, walk, is_exit=failing.error.type == EXIT)
        if made is None:
            break
        passed.append((call.code.path, step.line))
        node, call, step = made
    walk.passed = followed
    if node is start or not isinstance(node, _TESTS):
        return failing
    passed.append((failing.call.code.path, failing.error.line))
    error = replace(failing.error, line=step.line)
    return Failing(error, call, step, node, passed_on=tuple(dict.fromkeys(passed)), is_decided=True)


def _given_code(failing: Failing, walk: Walk) -> tuple[ast.expr, Step] | None:
    """Return the exit code with which a program ended itself, if it is no message and not written there."""
    code = _inner(failing.node)
    if failing.error.type != EXIT or not isinstance(code, ast.expr) or code is failing.node:
        return None
    if isinstance(code, (*_TESTS, ast.IfExp)):
        return code, failing.step
    value = walk.now.value(code, failing.call, failing.step)
    is_given = not isinstance(code, ast.Constant) and value is not None and value.type in _ANSWERS
    return (code, failing.step) if is_given else None


def _inner(node: ast.AST) -> ast.AST:
    """Return what an expression turns into an answer of another type, or into its opposite."""
    while True:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner) | ast.NamedExpr(value=inner):
                node = inner
            case ast.Expr(value=inner) | ast.Raise(exc=ast.expr() as inner):
                node = inner
            case ast.Call(args=[inner], keywords=[]) if called_name(node) in _PLAIN | _EXITS:
                node = inner
            case _:
                return node


def _made(
    node: ast.expr, call: Call, step: Step, walk: Walk, *, is_exit: bool
) -> tuple[ast.expr, Call, Step] | None:
    """Return the expression that has made an answer, if it was made elsewhere."""
    value = walk.now.value(node, call, step)
    if value is None or value.type not in (_ANSWERS if is_exit else {"bool"}):
        return None
    for hop in walk.back(node, call, step, value, None).hops:
        expr = None if hop.expr is None else _inner(hop.expr)
        if hop.step is not None and isinstance(expr, (*_TESTS, ast.IfExp, ast.Constant)):
            return expr, hop.call, hop.step
    return None


def _test_before(
    call: Call, step: Step, node: ast.AST, sources: Sources
) -> tuple[ast.expr, Step] | None:
    """Return the test that chose a constant, and when it was made."""
    source = sources[call.code.path]
    statement = source.statement(node.lineno) if isinstance(node, ast.expr) else None
    for each in ast.walk(statement) if statement is not None else ():
        if isinstance(each, ast.IfExp) and node in {each.body, each.orelse}:
            return each.test, step
    for before in reversed(call.steps):
        if before.begin >= step.begin or before.result is not None:
            continue
        head = source.statement(before.line)
        if isinstance(head, ast.If | ast.While) and any(
            each is statement for each in ast.walk(head)
        ):
            return head.test, before
    return None


def suspects_of(
    failing: Failing, walk: Walk, recording: Recording, sources: Sources
) -> list[Suspect]:
    """Return the values that the failing operation had, the likeliest culprit first."""
    node, step = tested_in(failing, sources)
    found: list[Suspect] = []
    words = " ".join(_words_of(failing.error, recording))
    is_division = failing.error.type == "ZeroDivisionError"
    for expr, value in _operands(node, failing.call, step, walk, is_division=is_division):
        made = _elements(expr, failing.call, step, walk) if isinstance(expr, Comprehension) else []
        odd = odd_of([("", each) for each in made], words)
        if odd is not None:
            found.append(Suspect(expr, *odd[1:]))
            continue
        if value is None or value.type in NO_DATA or isinstance(expr, ast.Constant):
            continue
        if isinstance(expr, Comprehension) and flaw_of(value) is None:
            continue  # what its last round gave
        others = list(walk.now.others(expr, step, value))
        found.append(_suspect(expr, value, others, failing.error.type, words))
        found += _odd_parts(expr, value, words, recording)
    results = list(_results(node, failing.call, step, walk, recording, words))
    asked = [each.expr.func for each in results if isinstance(each.expr, ast.Call)]
    found = [each for each in found if not any(inner in asked for inner in ast.walk(each.expr))]
    found += results
    for each in differing_in(node, failing.call, step, walk, recording):
        found.append(
            Suspect(
                each.expr,
                each.value,
                each.says,
                None,
                _DIFFERING,
                each.key,
                each.holder,
                each.above,
            )
        )
    if failing.error.type == "KeyError":
        found += _without(node, failing.call, step, walk)
    arrays = [each for each in found if each.value.kind == ARRAY]
    values = [each.value for each in arrays]
    paths = {each.code.path for each in recording.calls} if arrays else set[str]()
    own = [path for path in paths if is_user_code(path)]
    are_known = not any(may_convert(sources[path].text) for path in own)
    unlike = unlike_in(words, values, recording.values, are_others_known=are_known)
    if unlike is not None:
        arrays = [each for each in arrays if each.value in unlike.apart(values)]
        usual = [_usual(each, unlike, step, walk) for each in arrays]
        found = _unlike(arrays, usual, unlike, sources[failing.call.code.path])
    return sorted(found, key=lambda each: each.rank)


def _without(node: ast.AST, call: Call, step: Step, walk: Walk) -> Iterator[Suspect]:
    """Yield what has no such key, where all others on this line had it."""
    for holder_expr, key_expr in lookups(node):
        holder = walk.now.value(holder_expr, call, step)
        key = walk.now.value(key_expr, call, step)
        if holder is None or key is None or key.words in holder.parts:
            continue
        others = list(walk.now.others(holder_expr, step, holder))
        if others and all(key.words in each.parts for each in others):
            says = f"without {key.words}, which it had {_times(len(others))} before,"
            yield Suspect(holder_expr, holder, says, _lacks(key.words, holder.type), 1)


def _usual(suspect: Suspect, unlike: Unlike, step: Step, walk: Walk) -> str:
    """Say what an array had whenever its line was run before; empty: the same, or not always one."""
    others = list(walk.now.others(suspect.expr, step, suspect.value))
    words = {unlike.words(each) for each in others} - {unlike.words(suspect.value)}
    is_one = len(words) == 1 and all(unlike.words(each) in words for each in others)
    return f"it was {words.pop()} each time before" if is_one else ""


def _unlike(
    arrays: Sequence[Suspect], usual: Sequence[str], unlike: Unlike, source: Source
) -> list[Suspect]:
    """Return the arrays that don't fit together: the odd one, or each one that differs from its neighbor.

    The one that its line had otherwise each time before is odd, too.
    """
    found: list[Suspect] = []
    turned = [each for each in usual if each]
    for each, before in zip(arrays, usual, strict=True):
        own = unlike.of(each.value)
        other = next((one for one in arrays if unlike.of(one.value) != own), None)
        if (other is None and len(arrays) > 1) or unlike.odd not in {"", own}:
            continue
        says, is_odd = unlike.words(each.value), bool(unlike.odd)
        if other is not None:
            beside = f"`{source.said(other.expr)}` is {unlike.words(other.value)}"
            says += f" ({'; '.join(filter(None, (before, beside)))})"
        if len(turned) == 1 and not unlike.odd:
            if not before:
                continue
            is_odd = True
        found.append(
            replace(
                each, says=says,
                flaw=unlike.like(each.value),
                rank=_DECISIVE if is_odd else _UNDECIDED,
            )
        )  # fmt: skip
    return found


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _lacks(key: str, kind: str) -> Flaw:
    return lambda value: value.type == kind and key not in value.parts


def _words_of(error: Raised, recording: Recording) -> Iterator[str]:
    for _, part in recording.parts(error.arguments):
        yield part.words


def _operands(
    node: ast.AST, call: Call, step: Step, walk: Walk, *, is_division: bool
) -> Iterator[tuple[ast.expr, Value | None]]:
    nodes = [node] if isinstance(node, ast.expr) else list(_expressions(node))
    for each in nodes:
        if is_division and isinstance(each, ast.BinOp):
            divisor = walk.now.value(each.right, call, step)
            if divisor is None:  # what it was made of tells: `len(rows)` of no rows
                yield from walk.now.operands(each.right, call, step)
            else:
                yield each.right, divisor
            continue
        if isinstance(each, ast.Name | ast.Attribute | ast.Subscript):
            value = walk.now.value(each, call, step)
            if value is not None:
                yield each, value
                continue
        if isinstance(each, ast.Subscript):
            holder = walk.now.value(each.value, call, step)
            key = walk.now.value(each.slice, call, step)
            if key is not None:
                yield each.slice, key
            else:
                yield from walk.now.operands(each.slice, call, step)
            if holder is not None:
                yield each.value, holder
            else:  # what it was made of tells: `list(names)` of no names
                yield from walk.now.operands(each.value, call, step)
            continue
        yield from walk.now.operands(each, call, step)


def _expressions(statement: ast.AST) -> Iterator[ast.expr]:
    match statement:
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.Expr(value=value):
            yield value
            if isinstance(statement, ast.AugAssign):
                yield statement.target
        case ast.Return(value=value) | ast.AnnAssign(value=value) if value is not None:
            yield value
        case ast.For(iter=value) | ast.If(test=value) | ast.While(test=value):
            yield value
        case ast.Assert(test=value):
            yield value
        case ast.With(items=items):
            yield from (each.context_expr for each in items)
        case ast.stmt():
            yield from (
                each
                for each in head(statement)
                if isinstance(each, ast.Call | ast.Subscript | ast.BinOp | ast.Compare)
            )
        case _:
            return


def _suspect(
    expr: ast.expr, value: Value, others: Sequence[Value], error: str, message: str
) -> Suspect:
    flaw = flaw_of(value)
    own, named = value.type.rpartition(".")[2], named_types(message)
    is_odd = bool(others) and shape_of(value) not in {shape_of(each) for each in others}
    rank = 6
    says, asks = "", None
    if flaw is not None:
        says, asks, rank = flaw[0], flaw[1], flaw[2]
    elif own in named:
        says, asks, rank = f"of type {own}", OfType.of(value), 3
    elif value.kind == ARRAY and error in {"IndexError", "TypeError"}:
        says, asks, rank = value.as_array, OfType.of(value), 5
    if is_odd:
        rank -= 2
        is_kind = value.type not in {each.type for each in others if flaw_of(each)}
        if asks is None and is_kind and "NoneType" not in named:
            says, asks = f"of type {own}", OfType.of(value)
            if zone_of(value):
                says = f"a time {'with' if zone_of(value) == AWARE else 'without'} a zone"
                asks, rank = _of_zone(value), 2
    return Suspect(expr, value, says, asks, rank)


def _of_zone(value: Value) -> Flaw:
    zone = zone_of(value)
    return lambda other: zone_of(other) == zone


def _odd_parts(
    expr: ast.expr, value: Value, message: str, recording: Recording
) -> Iterator[Suspect]:
    """Yield the part of a container that the message is about."""
    parts = list(recording.parts(value)) if value.kind == CONTAINER else []
    found = odd_of(parts, message)
    if found is not None:
        key, part, says, flaw, rank = found
        yield Suspect(expr, part, says, flaw, rank, key, value)


def _elements(expr: Comprehension, call: Call, step: Step, walk: Walk) -> list[Value]:
    """Return the elements that a comprehension has made, as far as they are known."""
    rounds = walk.now.rounds(expr, call, step)
    made = (walk.now.value(element_of(expr), inner, at) for inner, at in rounds)
    return [each for each in made if each is not None]


def _results(
    node: ast.AST, call: Call, step: Step, walk: Walk, recording: Recording, message: str
) -> Iterator[Suspect]:
    """Yield what a function has returned that a call of this line was given: a key to sort by."""
    for made in (each for each in ast.walk(node) if isinstance(each, ast.Call)):
        for given in (*made.args, *(each.value for each in made.keywords)):
            asked = ast.copy_location(ast.Call(given, [], []), given)
            is_function = isinstance(given, ast.Lambda) or any(
                each.code.is_of(walk.now.value(given, call, step))
                for each in recording.called_in(step)
            )
            calls = walk.now.callees(asked, call, step) if is_function else []
            values = [
                each.result for one in calls for each in one.results if each.result is not None
            ]
            found = odd_of([("", each) for each in values], message)
            if found is not None:
                _, value, says, flaw, rank = found
                yield Suspect(asked, value, says, flaw, rank)
