"""Values that a line put under a key, or into a file, and lost when it put others there."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from whet.core.value_class import value_class
from whet.evidence.provenance.recording import CONTAINER, Call, Event, Recording, Step, Value
from whet.evidence.provenance.source import Sources
from whet.evidence.provenance.suspects import NO_DATA, Failing
from whet.evidence.provenance.walk import Walk

_LEAST_KEYS = 2
_MOST_WRITES, _MOST_LOST = 4_000, 40


@value_class(eq=False)
class Write:
    """A value that was put under a key.

    Attributes:
        holder: the number of the dict.
        key: how the key is written.
        value: what was put there.
        step: the step that did.
        expr: the key in the program.
        at: when that was evaluated, in a comprehension that it made.
    """

    holder: int
    key: str
    value: Value
    step: Step
    expr: ast.expr
    at: Step


@value_class(eq=False)
class Lost:
    """A value that the same line has put another one in the place of.

    Attributes:
        before: it.
        after: what took its place.
        given: what the key was computed from then and now, if that differs; empty: it doesn't.
    """

    before: Write
    after: Write
    given: tuple[str, str] = ("", "")


class Overwritten:
    """Looks for them in one recording."""

    def __init__(self, recording: Recording, sources: Sources, walk: Walk) -> None:
        """Make it ready."""
        self._all = recording
        self._sources = sources
        self._walk = walk

    def values(self, failing: Failing) -> list[Lost]:
        """Return the values that were lost before a failure, each with what took its place."""
        found: list[Lost] = []
        known: dict[tuple[int, str], Write] = {}
        keys: dict[int, set[str]] = {}
        for write in self._writes(failing.error.moment):
            place = write.holder, write.key
            before = known.get(place)
            keys.setdefault(write.holder, set()).add(write.key)
            if before is not None and self._is_lost(before, write):
                found.append(Lost(before, write))
            known[place] = write
        among = [each for each in found if len(keys[each.after.holder]) >= _LEAST_KEYS]
        return [self._with_given(each) for each in among[:_MOST_LOST]]

    def files(self, failing: Failing) -> tuple[Event, Event] | None:
        """Return where one line opened a file a second time that it had written, among others."""
        written: dict[tuple[str, int], dict[str, Event]] = {}
        paths: dict[tuple[str, int], set[str]] = {}
        found: tuple[Event, Event] | None = None
        for event in self._all.events:
            if event.moment > failing.error.moment:
                break
            at = written.setdefault((event.path, event.line), {})
            path = event.words[0] if event.words else ""
            if event.name != "open":
                for each in written.values():
                    each.pop(path, None)  # removed or renamed: it is another file then
                continue
            mode = event.words[1] if event.words[1:] else "r"
            if not mode.startswith("w"):
                for each in written.values():
                    each.pop(path, None)  # what was written was read, or is added to
                continue
            if path in at and found is None:
                found = at[path], event
            at[path] = event
            paths.setdefault((event.path, event.line), set()).add(path)
        is_one_of_many = found and len(paths[found[0].path, found[0].line]) >= _LEAST_KEYS
        return found if is_one_of_many else None

    def _writes(self, until: int) -> Iterator[Write]:
        """Yield what lines and comprehensions put under keys, in their order."""
        count = 0
        for step in self._all.steps:
            if step.begin > until or count > _MOST_WRITES:
                return
            if step.result is not None:
                continue
            statement = self._sources[step.frame.code.path].statement(step.line)
            match statement:
                case ast.Assign(targets=[ast.Subscript() as target], value=value):
                    write = self._write(target, value, step)
                    count += 1
                    if write is not None:
                        yield write
                case (
                    ast.Assign(value=ast.DictComp() as made)
                    | ast.Return(value=ast.DictComp() as made)
                ):
                    for write in self._made(made, step):
                        count += 1
                        yield write
                case _:
                    pass

    def _write(self, target: ast.Subscript, value: ast.expr, step: Step) -> Write | None:
        call, now = step.frame, self._walk.now
        holder = now.value(target.value, call, step)
        if holder is None or holder.kind != CONTAINER or "dict" not in holder.type:
            return None
        over = now.value(target.value, call, replace(step, begin=step.over))
        asked = now.value(target.slice, call, step)
        key = (asked.words if asked is not None else "") or _changed_key(holder, over)
        if not key:
            return None
        held = ast.unparse(target.value)
        if held in ast.unparse(value) or self._is_asked(call, held):
            return None  # what was there goes into what takes its place, or the program asks for it
        made = now.value(value, call, step) or self._all.part(over, key)
        if made is None:
            return None
        return Write(holder.number, key, made, step, target.slice, step)

    def _made(self, made: ast.DictComp, step: Step) -> Iterator[Write]:
        now, code = self._walk.now, step.frame.code
        if self._sources[code.path].node_of(code) is made:
            return  # one of its own rounds
        for inner, at in reversed(list(now.rounds(made, step.frame, step))):
            key, value = now.value(made.key, inner, at), now.value(made.value, inner, at)
            if key is not None and value is not None:
                round_ = replace(at, frame=inner)
                yield Write(-step.begin, key.words, value, step, made.key, round_)

    def _with_given(self, lost: Lost) -> Lost:
        before, after = self._given(lost.before), self._given(lost.after)
        is_other = before and after and before != after
        return Lost(lost.before, lost.after, (before, after)) if is_other else lost

    def _given(self, write: Write) -> str:
        """Return what a key was computed from, as it is written."""
        key, step = write.expr, write.at
        if isinstance(key, ast.Name):
            value = self._walk.now.value(key, step.frame, step)
            behind = self._walk.back(key, step.frame, step, value, None)
            expr, call, at = behind.expression, behind.call, behind.step
            if expr is None or call is None or at is None:
                return ""
            return self._operands(expr, call, at)
        return self._operands(key, step.frame, step)

    def _operands(self, key: ast.expr, call: Call, step: Step) -> str:
        parts = key.elts if isinstance(key, ast.Tuple) else [key]
        if not any(map(_is_computed, parts)):
            return ""
        operands = self._walk.now.operands(key, call, step)
        return ", ".join(
            value.words for _, value in operands if value is not None and value.type not in NO_DATA
        )

    def _is_asked(self, call: Call, held: str) -> bool:
        """Whether the function asks what the dict holds: then it knows of keys that come twice."""
        own = self._sources[call.code.path].node_of(call.code)
        if own is None:
            own = self._sources[call.code.path].tree
        for node in ast.walk(own):
            match node:
                case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[right]):
                    if ast.unparse(right) == held:
                        return True
                case ast.Call(func=ast.Attribute(value=inner, attr="get" | "pop" | "setdefault")):
                    if ast.unparse(inner) == held:
                        return True
                case _:
                    pass
        return False

    def _is_lost(self, before: Write, after: Write) -> bool:
        """Whether the same line has put another value in the place of one that was still there."""
        one, other = before.step, after.step
        if one.line != other.line or one.frame.code is not other.frame.code:
            return False
        if before.value.is_same(after.value) or before.value.words == after.value.words != "":
            return False
        for state in self._all.history(after.holder):
            is_between = one.over < state.moment <= other.begin
            if is_between and state.value.is_whole and after.key not in state.value.parts:
                return False  # it was taken out in between
        return True


def _is_computed(key: ast.expr) -> bool:
    """Whether a key is made of something else: two of these may give one key."""
    match key:
        case ast.Call() | ast.BinOp() | ast.JoinedStr() | ast.Subscript(slice=ast.Slice()):
            return True
        case _:
            return False


def _changed_key(before: Value, after: Value | None) -> str:
    """Return the only key under which a dict holds something else than before; empty: there is none."""
    if after is None:
        return ""
    keys = [key for key, part in after.parts.items() if before.parts.get(key) != part]
    return keys[0] if len(keys) == 1 else ""
