"""Where the bad value of a failure came from, in sentences that each name the line."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from whet.core.clue import Clue, Placing, Sureness
from whet.evidence.provenance.circumstances import Circumstances, Idle
from whet.evidence.provenance.missing import Dropped, Likewise, Missing, Removed, lookups
from whet.evidence.provenance.recording import OBJECT, SCALAR, Call, Raised, Recording, Value
from whet.evidence.provenance.records import Record, Records
from whet.evidence.provenance.source import Comprehension, Sources
from whet.evidence.provenance.suspects import (
    Failing,
    Position,
    Suspect,
    failing_at,
    failing_in,
    replaced_in,
    shape_of,
    suspects_of,
    tested_in,
)
from whet.evidence.provenance.trail import End, Hop, Trail
from whet.evidence.provenance.walk import Walk

_WHY = "the line that fails is seldom the line that made the bad value"
_SHOWN = 60
_MOST_TRAILS = 2
_MOST_SOURCES = 3
_DECISIVE_RANK = 2
_CLEARLY = 2
_EVER = 1 << 60
_CONTROL_FLOW = {"StopIteration", "StopAsyncIteration", "GeneratorExit", "CancelledError"}


@dataclass(slots=True)
class Origin:
    """Tells where what failed came from."""

    recording: Recording
    sources: Sources
    at: Placing
    position_of: Callable[[str, int], Position | None]
    walk: Walk = field(init=False)
    records: Records = field(init=False)
    missing: Missing = field(init=False)
    around: Circumstances = field(init=False)

    def __post_init__(self) -> None:
        """Make ready what goes through the recording."""
        self.walk = Walk(self.recording, self.sources)
        self.records = Records(self.recording)
        self.missing = Missing(self.recording, self.sources, self.walk, self.records)
        self.around = Circumstances(self.recording, self.sources, self.walk)

    def clues(self) -> list[Clue]:
        """Return what is known of it, the firmest first."""
        failing = failing_in(self.recording, self.sources, self.position_of)
        if failing is None:
            return []
        found = [*self._of_replaced(failing), *self._of(failing)]
        firm = [each for each in found if each.sureness is not Sureness.POSSIBLE]
        return firm or found

    def _of(self, failing: Failing) -> Iterator[Clue]:
        yield from self._of_circumstances(failing)
        yield from self._of_missing(failing)
        yield from self._of_suspects(failing)

    def _of_replaced(self, failing: Failing) -> Iterator[Clue]:
        """Tell of the error that a handler put this one in the place of."""
        error = replaced_in(failing, self.recording, self.sources)
        if error is None:
            return
        path = error.call.code.path
        below = failing_at(error, self.sources, self.position_of)
        deeper = [] if below is None else list(self._of(below))
        more = f". {deeper[0].says}" if deeper else ""
        yield self._clue(
            f"{self._place_of(path, error.line)} raised"
            f" {self._error(error)}, and {self._there(failing)} raised {failing.error.type} in its"
            f" place{more}",
            path, error.line, Sureness.SEEN,
        )  # fmt: skip

    # ---- circumstances ----

    def _of_circumstances(self, failing: Failing) -> Iterator[Clue]:
        moved = self.around.file_moved(failing)
        if moved is not None:
            path, line = moved.event.path, moved.event.line
            does = {
                "os.chdir": f"changed the working folder: `{moved.asked}` is in `{moved.folder}`,"
                " where the program was before",
                "os.rename": f"moved `{moved.asked}` away",
            }.get(moved.event.name, f"removed `{moved.asked}`")
            yield self._clue(f"{self._place_of(path, line)} {does}", path, line, Sureness.SEEN)
        importing = self.around.still_imported(failing)
        if importing is not None:
            path = importing.call.code.path
            yield self._clue(
                f"{self._place_of(path, importing.line)} imports what leads back to this module"
                f" before the module is done: {self._there(failing)} finds it half made",
                path, importing.line, Sureness.SEEN,
            )  # fmt: skip

    # ---- what is missing ----

    def _of_missing(self, failing: Failing) -> Iterator[Clue]:
        node, step = tested_in(failing, self.sources)
        if failing.error.type == "AttributeError":
            yield from self._of_attribute(failing)
            return
        if failing.error.type != "KeyError":
            return
        for holder_expr, key_expr in lookups(node):
            holder = self.walk.now.value(holder_expr, failing.call, step)
            key = self.walk.now.value(key_expr, failing.call, step)
            if holder is None or key is None or key.words in holder.parts:
                continue
            said = self._said(holder_expr, failing.call)
            reason = self.missing.reason(holder, key, step)
            yield from self._reason(failing, reason, said, key.words)

    def _of_attribute(self, failing: Failing) -> Iterator[Clue]:
        for node in ast.walk(failing.node):
            if not isinstance(node, ast.Attribute):
                continue
            holder = self.walk.now.value(node.value, failing.call, failing.step)
            if holder is None or holder.kind != OBJECT or node.attr in holder.parts:
                continue
            said = self._said(node.value, failing.call)
            reason = self.missing.removed(holder, node.attr, failing.step)
            if reason is not None:
                yield from self._reason(failing, reason, said, f"`{node.attr}`")
                return
            trail = self.walk.back(node.value, failing.call, failing.step, holder, None)
            kind = holder.type.rpartition(".")[2]
            if trail.hops and trail.end is not End.UNKNOWN:
                last = trail.hops[-1]
                yield self._clue(
                    f"the `{kind}` at {self._there(failing)} was never given `{node.attr}`:"
                    f" {self._end(trail, holder)}",
                    last.path, last.line, Sureness.POSSIBLE,
                )  # fmt: skip

    def _reason(
        self, failing: Failing, reason: Removed | Dropped | Likewise | None, said: str, key: str
    ) -> Iterator[Clue]:
        there = self._there(failing)
        match reason:
            case Removed(step=step):
                path = step.frame.code.path
                yield self._clue(
                    f"`{said}` had {key} until {self.at(path, step.line)} took it out"
                    f" (`{self._line(path, step.line)}`); {there} asks for it afterwards",
                    path, step.line, Sureness.SEEN,
                )  # fmt: skip
            case Dropped(error=error, caught=caught, record=record):
                path = error.call.code.path
                of = f" for {self._record(record)}" if record else ""
                by = f", and {self.at(caught[0].code.path, caught[1])} caught it" if caught else ""
                yield self._clue(
                    f"`{said}` has no {key}: {self._place_of(path, error.line)}"
                    f" raised {self._error(error)}{of}{by}",
                    path, error.line, Sureness.SEEN,
                )  # fmt: skip
            case Likewise(key=other, trail=trail):
                last = trail.hops[-1] if trail.hops else None
                from_there = f", which comes from {self._place(last)}" if last else ""
                path, line = (
                    (last.path, last.line) if last else (failing.call.code.path, failing.error.line)
                )
                yield self._clue(
                    f"{there} asks `{said}` for {key}; it has {other}{from_there}",
                    path, line, Sureness.SEEN if last else Sureness.POSSIBLE,
                )  # fmt: skip
            case None:
                return

    # ---- bad values ----

    def _of_suspects(self, failing: Failing) -> Iterator[Clue]:
        suspects = suspects_of(failing, self.walk, self.recording, self.sources)
        step = tested_in(failing, self.sources)[1]
        if failing.error.type == "AttributeError":
            suspects = [each for each in suspects if each.value.kind != OBJECT]
        for number, suspect in enumerate(suspects[:_MOST_TRAILS]):
            if suspect.key:
                trail = self.walk.part(suspect.holder, suspect.key, step, suspect.flaw)
            else:
                trail = self.walk.back(
                    suspect.expr, failing.call, step, suspect.value, suspect.flaw
                )
            if not trail.hops:
                continue
            self._turn(trail)
            others = [each.rank for each in suspects if each is not suspect]
            is_clear = not others or min(others) - suspect.rank >= _CLEARLY
            is_sure = number == 0 and suspect.rank <= _DECISIVE_RANK and is_clear
            is_firm = is_sure and trail.end is not End.UNKNOWN
            sureness = Sureness.SEEN if is_firm else Sureness.POSSIBLE
            yield self._story(failing, suspect, trail, sureness)

    def _story(self, failing: Failing, suspect: Suspect, trail: Trail, sureness: Sureness) -> Clue:
        said = self._said(suspect.expr, failing.call)
        said += f"[{suspect.key}]" if suspect.key else ""
        what = suspect.says or _shown(suspect.value)
        head = f"`{said}` at {self._there(failing)}" + (f" is {what}" if what else "")
        idle = self.around.idle_loop(trail) if trail.end is End.LITERAL else None
        if idle is not None:
            return self._of_idle(head, idle, trail)
        record = self._record_of(trail)
        of = f", for {self._record(record)}" if record is not None else ""
        made_of = "" if suspect.flaw is not None else self._made_of(trail)
        last = trail.hops[-1]
        set_by = self.around.variable_set(trail, failing)
        changed = (
            f"; {self._place_of(set_by.path, set_by.line)} has set `{set_by.words[0]}`"
            if set_by is not None
            else ""
        )
        return self._clue(
            f"{head}: {self._end(trail, suspect.value)}{of}{made_of}{self._dropped(trail)}{changed}"
            f"{self._through(trail)}",
            last.path, last.line, sureness,
        )  # fmt: skip

    def _turn(self, trail: Trail) -> None:
        """End a trail where the bad value is unlike the others that the same line made before."""
        for position in range(len(trail.hops) - 1, -1, -1):
            hop = trail.hops[position]
            if hop.expr is None or hop.step is None or hop.value is None:
                return
            made = self.walk.now.others(hop.expr, hop.step, hop.value)
            others = {shape_of(each) for each in made}
            if not others:
                return
            if shape_of(hop.value) not in others:
                if position + 1 < len(trail.hops):
                    del trail.hops[position + 1 :]
                    trail.end, trail.expression = End.MADE, hop.expr
                    trail.call, trail.step = hop.call, hop.step
                return

    def _of_idle(self, head: str, idle: Idle, trail: Trail) -> Clue:
        path, said = idle.call.code.path, self._said(idle.expr, idle.call)
        where = f"{head}, as at {self._place(trail.hops[-1])}: the loop at"
        where += f" {self.at(path, idle.line)} went round no time, for"
        if idle.spent is not None:
            spent = idle.spent
            there = spent.frame.code.path
            return self._clue(
                f"{where} `{said}` had come to its end at {self._place_of(there, spent.line)}",
                there, spent.line, Sureness.SEEN,
            )  # fmt: skip
        behind = self.walk.back(idle.expr, idle.call, idle.step, idle.value, None)
        last = behind.hops[-1] if behind.hops else None
        from_there = f", which comes from {self._place(last)}" if last else ""
        return self._clue(
            f"{where} `{said}` had nothing in it{from_there}",
            last.path if last else path, last.line if last else idle.line, Sureness.POSSIBLE,
        )  # fmt: skip

    def _dropped(self, trail: Trail) -> str:
        """Say which error was caught in the call that the value came out of."""
        last = trail.hops[-1].call
        until = self.recording.errors[-1]
        for error in self.recording.errors:
            if (
                error.type not in _CONTROL_FLOW
                and error.number != until.number
                and any(each is last for each in error.call.around)
            ):
                path = error.call.code.path
                return (
                    f"; {self._place_of(path, error.line)} raised"
                    f" {self._error(error)} there, and nobody heard of it"
                )
        return ""

    def _made_of(self, trail: Trail) -> str:
        """Say where what a value was made of came from."""
        expr, call, step = trail.expression, trail.call, trail.step
        if trail.end is not End.MADE or expr is None or call is None or step is None:
            return ""
        found: dict[str, str] = {}
        for operand, value in list(self.walk.now.operands(expr, call, step))[:_MOST_SOURCES]:
            behind = self.walk.back(operand, call, step, value, None)
            said = self._said(operand, call)
            record = None if value is None else self.records.find(value)
            if record is not None:
                found[said] = f"`{said}` for {self._record(record)}"
            elif behind.hops and behind.hops[-1].line != step.line:
                changed = self._changed(value, step.begin)
                found[said] = f"`{said}` from {self._place(behind.hops[-1])}{changed}"
        return f", of {' and '.join(found.values())}" if found else ""

    def _changed(self, value: Value | None, moment: int) -> str:
        """Say which line of another function has changed an object since it was made."""
        if value is None or not value.number:
            return ""
        seen = [each for each in self.recording.history(value.number) if each.moment <= moment]
        own = [each for each in seen if each.value.type == value.type]
        for each in reversed(own[1:]):
            step, first = each.step, own[0].step
            if step is not None and first is not None and each.has_changed:
                if step.result is None and step.frame.code is not first.frame.code:
                    path = step.frame.code.path
                    return f", changed since at {self._place_of(path, step.line)}"
                return ""
        return ""

    def _end(self, trail: Trail, value: Value) -> str:
        last = trail.hops[-1]
        place = self._place(last)
        match trail.end:
            case End.MADE:
                changed = "" if value.kind == "scalar" else self._changed(value, _EVER)
                return f"made at {place}{changed}"
            case End.LITERAL:
                return f"written at {place}"
            case End.DEFAULT:
                return f"the default at {place}"
            case End.INPUT:
                return f"read at {place}"
            case End.ABSENT:
                return f"there is no such key at {place}"
            case End.NO_RETURN:
                code = last.call.code
                return (
                    f"`{code.short}` at {self.at(code.path, code.first_line)} ended after line"
                    f" {last.line} without a `return`"
                )
            case End.UNKNOWN:
                return f"from {place}"

    def _through(self, trail: Trail) -> str:
        """Say through which other functions it came."""
        calls = [trail.hops[-1].call]
        places: list[str] = []
        for hop in reversed(trail.hops[1:-1]):
            if hop.call is not calls[-1]:
                calls.append(hop.call)
                places.append(self.at(hop.path, hop.line))
        return f" (through {', '.join(dict.fromkeys(places))})" if places else ""

    def _record_of(self, trail: Trail) -> Record | None:
        """Return the line of a file that the value was read from, or made for."""
        for hop in reversed(trail.hops):
            if hop.inside is None or hop.value is None:
                continue
            if any(part.is_same(hop.value) for _, part in self.recording.parts(hop.inside)):
                found = self.records.find(hop.inside)
                if found is not None:
                    return found
        if trail.call is None or trail.step is None:
            return None
        named = [trail.expression] if trail.expression is not None else []
        names = [each.id for one in named for each in ast.walk(one) if isinstance(each, ast.Name)]
        for name in (*names, *sorted(trail.call.given)):
            value = self.recording.held(trail.call, name, trail.step.begin)
            found = None if value is None else self._spoilt(value, trail.hops[-1].value)
            if found is not None:
                return found
        return None

    def _spoilt(self, value: Value, bad: Value | None) -> Record | None:
        """Return the line of a record; of many records, of that which reads like the bad value."""
        found = self.records.find(value) if value.kind != SCALAR else None
        if found is not None or bad is None:
            return found
        for _, part in self.recording.parts(value):
            if any(_reads_like(each, bad) for _, each in self.recording.parts(part)):
                found = self.records.find(part)
                if found is not None:
                    return found
        return None

    # ---- words ----

    def _there(self, failing: Failing) -> str:
        return self.at(failing.call.code.path, failing.error.line)

    def _error(self, error: Raised) -> str:
        words = [part.words for _, part in self.recording.parts(error.arguments)]
        return f"{error.type}({_cut(', '.join(words))})"

    def _said(self, expr: ast.AST, call: Call) -> str:
        if isinstance(expr, Comprehension):
            expr = expr.value if isinstance(expr, ast.DictComp) else expr.elt
        return _cut(self.sources[call.code.path].said(expr))

    def _line(self, path: str, line: int) -> str:
        return _cut(self.sources[path].line(line))

    def _place_of(self, path: str, line: int) -> str:
        return f"{self.at(path, line)} (`{self._line(path, line)}`)"

    def _place(self, hop: Hop) -> str:
        place = self.at(hop.path, hop.line)
        return f"{place} (`{_cut(hop.says)}`)" if hop.says else place

    def _record(self, record: Record) -> str:
        return f"{self.at(record.path, record.line)} (`{_cut(record.text)}`)"

    def _clue(self, says: str, path: str, line: int, sureness: Sureness) -> Clue:
        return Clue(says=says, why=_WHY, path=path, line=line, sureness=sureness)


def _reads_like(value: Value, bad: Value) -> bool:
    """Whether a text of a file stands for a bad value."""
    words = value.words.strip("'").strip().casefold()
    if bad.facts.get("nan") or "nan" in bad.words:
        return words in {"nan", "na", "n/a", "null", "inf", "-inf", ""}
    least = bad.facts.get("min")
    return value.kind == SCALAR and words in {bad.words, str(least)} and len(words) > 1


def _shown(value: Value) -> str:
    if value.kind == "array":
        return f"an array of {value.facts.get('dtype')}"
    return _cut(value.words)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
