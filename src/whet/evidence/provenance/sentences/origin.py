"""Where the bad value of a failure came from, in sentences that each name the line."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from whet.core.observations.clue import Clue, Mention, StepKind, Sureness, TrailStep
from whet.evidence.clues.raised_before import GIVEN_UP
from whet.evidence.provenance.events.circumstances import Circumstances, Idle
from whet.evidence.provenance.events.swallowed import fallbacks_on
from whet.evidence.provenance.failure.suspects import (
    EXIT,
    NO_DATA,
    Failing,
    Position,
    Suspect,
    caught_before,
    decided,
    failing_at,
    failing_in,
    replaced_in,
    suspects_of,
    tested_in,
)
from whet.evidence.provenance.failure.way import Way, way_of
from whet.evidence.provenance.run.control import Control, Decision, filters_of
from whet.evidence.provenance.run.recording import (
    CONTAINER,
    OBJECT,
    SCALAR,
    Call,
    Raised,
    Step,
    Value,
)
from whet.evidence.provenance.run.source import (
    Comprehension,
    changed_in,
    is_beginning,
    is_placeholder,
    varied_in,
)
from whet.evidence.provenance.sentences.circumstance_clues import CircumstanceClues
from whet.evidence.provenance.sentences.groupings import GroupingClues
from whet.evidence.provenance.sentences.happened import Happened
from whet.evidence.provenance.sentences.key_clues import KeyClues
from whet.evidence.provenance.sentences.missing_clues import MissingClues
from whet.evidence.provenance.sentences.near_misses import NearMisses
from whet.evidence.provenance.sentences.tables import TableClues
from whet.evidence.provenance.sentences.totals import Totals
from whet.evidence.provenance.sentences.wording import (
    Because,
    Wording,
    compared_as_texts,
    cut,
    is_container,
    is_path,
    like_another,
    shown,
    spots,
    step_about,
    together,
    upper,
    with_contrast,
    with_record,
)
from whet.evidence.provenance.trace.flaws import is_empty, is_nan, is_none, is_zero, shape_of
from whet.evidence.provenance.trace.records import Record, Records
from whet.evidence.provenance.trace.trail import End, Hop, Trail
from whet.evidence.provenance.trace.walk import Walk
from whet.host.inspect.stacks import is_user_code

_MOST_TRAILS = 2
_BEGINNINGS = (is_empty, is_zero)
"""A start value isn't a bad value: the question is why nothing was added to it."""
_MOST_SOURCES, _MOST_VALUES = 8, 2
_DECISIVE_RANK, _CLEARLY, _NOT_LOST = 2, 2, 99
_EVER = 1 << 60
_NAMED = (ast.Name, ast.Attribute, ast.Subscript)


@dataclass(slots=True)
class Origin(Wording):
    """Tells where what failed came from.

    Attributes:
        is_telling: what it tells is what is wrong with a value, and not only where it came from.
        fallbacks: where errors came up whose handlers gave what the bad value was made of.
    """

    position_of: Callable[[str, int], Position | None]
    walk: Walk = field(init=False)
    records: Records = field(init=False)
    missing: MissingClues = field(init=False)
    around: Circumstances = field(init=False)
    events: CircumstanceClues = field(init=False)
    control: Control = field(init=False)
    happened: Happened = field(init=False)
    keys: KeyClues = field(init=False)
    totals: Totals = field(init=False)
    tables: TableClues = field(init=False)
    groupings: GroupingClues = field(init=False)
    is_telling: bool = field(init=False, default=False)
    fallbacks: set[tuple[str, int]] = field(init=False, default_factory=set[tuple[str, int]])

    def __post_init__(self) -> None:
        """Make ready what goes through the recording."""
        self.walk = Walk(self.recording, self.sources)
        self.records = Records(self.recording)
        self.around = Circumstances(self.recording, self.sources, self.walk)
        self.events = CircumstanceClues(
            self.recording, self.sources, self.at, self.walk, self.around
        )
        self.control = Control(self.sources)
        self.missing = MissingClues(
            self.recording, self.sources, self.at, self.walk, self.records, self.control, self._test
        )
        self.happened = Happened(self.recording, self.sources, self.at, self.walk, self.control)
        self.keys = KeyClues(self.recording, self.sources, self.at, self.walk)
        self.groupings = GroupingClues(self.recording, self.sources, self.at, self.walk)
        self.tables = TableClues(self.recording, self.sources, self.at, self.walk, self.records)
        self.totals = Totals(
            self.recording, self.sources, self.at, self.walk, self.records, self._record_of
        )

    def clues(self) -> list[Clue]:
        """Return the clues about it, the firmest first."""
        failing = failing_in(self.recording, self.sources, self.position_of)
        if failing is None:
            return []
        others = [
            *self.tables.clues(failing),
            *self._of_replaced(failing),
            *self.events.handed_on(failing, self._of_error),
            *self.events.clues(failing),
            *self.missing.clues(failing),
            *self.events.swallowed(failing),
            *self.keys.twins(failing),
            *self.missing.defaults(failing),
            *self.happened.spent(failing),
            *self.happened.in_place(failing),
            *self.happened.again(failing),
            *self.groupings.clues(failing),
        ]
        self.is_telling = bool(others)
        totals = list(self.totals.clues(failing))
        self.is_telling = self.is_telling or bool(totals)
        found = [*others, *totals, *self._of_suspects(failing)]
        found += [] if self.is_telling else self.events.half_done(failing)
        misses = NearMisses(self.recording, self.sources, self.at, self.walk, self._record_of)
        found = [*misses.clues(failing, found), *found]
        found += self.groupings.on_the_way(failing, found)
        every = self.keys.with_lost(failing, found, self.happened.spread(failing))
        return [with_contrast(with_record(each), self.records) for each in every]

    def way(self) -> Way | None:
        """Return the lines that the bad value has come by; None: what failed was not followed."""
        failing = failing_in(self.recording, self.sources, self.position_of)
        return None if failing is None else way_of(failing, self.recording, self.sources, self.walk)

    def _of(self, failing: Failing) -> Iterator[Clue]:
        yield from self.events.clues(failing)
        yield from self.missing.clues(failing)
        yield from self._of_suspects(failing)

    def _of_replaced(self, failing: Failing) -> Iterator[Clue]:
        """Report the error that a handler replaced with this one, or for which it ended the program."""
        replaced = replaced_in(failing, self.recording, self.sources)
        for error in [replaced] if replaced else caught_before(failing, self.recording):
            path = error.call.code.path
            statement = self.sources[path].statement(error.line)
            # One that the program itself raises says what it found wrong, and not why.
            is_why = not isinstance(statement, ast.Raise) and error.type not in GIVEN_UP
            is_lost = replaced is not None and is_why and is_user_code(path)
            deeper = self._of_error(error)
            more = f". {upper(deeper[0].says)}" if deeper else ""
            then = f"raised {failing.error.type} in its place"
            if failing.error.type == EXIT:
                then = "ended the program" if replaced else "ended the program later"
            clue = self.clue(
                f"{self.place_of(path, error.line)} raised {self.error(error)}, and"
                f" {self.there(failing)} {then}{more}",
                path, error.line, Sureness.SEEN if is_lost else Sureness.POSSIBLE,
            )  # fmt: skip
            yield replace(clue, alike=deeper[0].alike if deeper else frozenset[str]())

    def _of_error(self, error: Raised) -> list[Clue]:
        """Return the clues about an error that isn't the failure itself."""
        below = failing_at(error, self.sources, self.position_of)
        return [] if below is None else list(self._of(below))

    # ---- bad values ----

    def _of_suspects(self, failing: Failing) -> Iterator[Clue]:
        failing = decided(failing, self.sources, self.walk)
        suspects = suspects_of(failing, self.walk, self.recording, self.sources)
        step = tested_in(failing, self.sources)[1]
        if failing.error.type == "AttributeError":
            suspects = [each for each in suspects if each.value.kind != OBJECT]
        lost = _NOT_LOST
        for number, suspect in enumerate(suspects[:_MOST_TRAILS]):
            if suspect.key:
                trail = self.walk.part(suspect.holder, suspect.key, step, suspect.flaw)
            else:
                trail = self.walk.back(
                    suspect.expr, failing.call, step, suspect.value, suspect.flaw
                )
            lost = lost if trail.hops else min(lost, suspect.rank)
            if not trail.hops or suspect.rank - lost >= _CLEARLY:
                continue  # where the likelier one came from is not known
            self.fallbacks |= fallbacks_on(trail, self.recording, self.sources)
            self._turn(trail)
            trail = self._of_zeros(failing, suspect, trail)
            others = [each.rank for each in suspects if each is not suspect]
            is_clear = not others or min(others) - suspect.rank >= _CLEARLY
            is_sure = number == 0 and suspect.rank <= _DECISIVE_RANK and is_clear
            is_one_of_many, record = self._end_in_record(trail, suspect)
            is_firm = (
                is_sure
                and self.is_origin(trail)
                and not self.walk.is_changed(trail, suspect.flaw)
                and not (suspect.flaw in _BEGINNINGS and is_beginning(trail.expression))
                and not is_placeholder(
                    self.sources[trail.hops[-1].path].statement(trail.hops[-1].line)
                )
                and not self.happened.divides_by_zero(trail)
                and not (suspect.flaw is is_none and self.happened.is_from_outside(trail))
            )
            sureness = Sureness.SEEN if is_firm else Sureness.POSSIBLE
            record = record or (None if is_one_of_many else self.records.line_held(trail))
            trail.end_where_cut(suspect.value, is_read=record is not None)
            story = self._story(failing, suspect, trail, sureness, record)
            if suspect.flaw is is_nan:
                story = self._of_infinite(story, trail)
            self.is_telling = self.is_telling or suspect.flaw is not None
            is_new = story.line != failing.error.line or story.path != failing.call.code.path
            yield from self.missing.absent(trail)
            if self.happened.is_from_outside(trail):
                yield from self.events.dropped(failing)
            if is_new or story.trail:
                yield story

    def _end_in_record(self, trail: Trail, suspect: Suspect) -> tuple[bool, Record | None]:
        """Return whether a value is one of many that made another, and the record it was read from."""
        is_one_of_many = suspect.flaw is None and self.totals.contributions.is_one_of_many(trail)
        record = None if is_one_of_many else self._record_of(trail)
        if trail.end is End.INPUT and record is None:
            trail.end = End.UNKNOWN  # it may be a file or anything else that is gone through
        return is_one_of_many, record

    def _story(
        self, failing: Failing, suspect: Suspect, trail: Trail, sureness: Sureness,
        record: Record | None,
    ) -> Clue:  # fmt: skip
        said = self.said(suspect.expr, failing.call)
        said += f"{suspect.above}[{suspect.key}]" if suspect.key else ""
        what = suspect.says or shown(suspect.value)
        # Of a `raise` what its test had; of a test of several lines, the line of the failure.
        node, step = tested_in(failing, self.sources)
        line = step.line if node is not failing.node else failing.error.line
        there = self.at(failing.call.code.path, line)
        head = f"`{said}` is {what} at {there}" if what else f"{there} uses `{said}`"
        is_start = trail.end is End.LITERAL or is_beginning(trail.expression)
        idle = self.around.idle_loop(trail) if is_start else None
        if idle is not None:
            return self._of_idle(head, idle, trail)
        of = f", for {self.record(record)}" if record is not None else ""
        made_of = [] if suspect.flaw is is_none else self._made_of(trail)
        last = trail.hops[-1]
        set_by = self.around.variable_set(trail, failing.error.moment)
        changed = self._changes(trail.end, suspect.value)
        if set_by is not None:
            place, source = self.at(set_by.path, set_by.line), self.line(set_by.path, set_by.line)
            changed.append(TrailStep(says=f"set `{set_by.words[0]}`", place=place, source=source))
        plain = [self.totals.plain[said]] if said in self.totals.plain else []
        filler = self._filler(trail, suspect.value)
        if filler is not None:  # what it began with is the origin of nothing that is in it
            path = filler.frame.code.path
            says = f"{head}. {self.place_of(path, filler.line)} filled it"
            return self.clue(says, path, filler.line, Sureness.POSSIBLE, (*plain, *changed[1:]))
        first = trail.hops[0]
        put = f". {self.place(first)} put it there" if suspect.key and first is not last else ""
        is_later = self.walk.is_changed(trail, suspect.flaw, suspect.value)
        later = ", and became so later" if is_later else ""
        why = self._decided(trail, suspect)
        clue = self.clue(
            f"{head}{put}. {self.end(trail, suspect.value)}{later}{why.words}{of}",
            last.path, last.line, sureness,
            (*self._through(trail), *plain, *changed, *made_of, *self.happened.dropped(trail)),
        )  # fmt: skip
        clue = replace(clue, mentions=why.mentions)
        if record is None:
            return clue
        advice = f"Check {self.record_place(record)}, then {self.place(last)}."
        return replace(clue, next_step=advice, record=self.record(record), records=spots(record))

    def _of_infinite(self, story: Clue, trail: Trail) -> Clue:
        """Return the story of a NaN, up to the infinite number that it was made of if there is one."""
        made = self.happened.made_of_infinite(trail)
        if made is None or trail.call is None:
            return story
        operand, last = self.said(made[0], trail.call), made[1].hops[-1]
        says = f"{story.says}, of `{operand}`, which was infinite already: that was made at"
        return replace(story, says=f"{says} {self.place(last)}", path=last.path, line=last.line)

    def _of_zeros(self, failing: Failing, suspect: Suspect, trail: Trail) -> Trail:
        """Return where the zeros came from that were added to a zero; else the way as it is."""
        if suspect.flaw is not is_zero or not is_beginning(trail.expression):
            return trail
        step = trail.hops[-1].step or failing.step
        added = self.around.added(suspect.expr, failing, step)
        if not added or not all(each.value and is_zero(each.value) for each in added):
            return trail
        expr, at = added[-1].expr, added[-1].step
        zero = self.walk.back(expr, at.frame, at, added[-1].value, suspect.flaw)
        if not zero.hops:
            return trail
        zero.hops.insert(0, Hop(at.frame, at.line, self.line(at.frame.code.path, at.line), None))
        return zero

    def _turn(self, trail: Trail) -> None:
        """End a trail where the bad value is unlike the others that the same line made before."""
        for position in range(len(trail.hops) - 1, -1, -1):
            hop = trail.hops[position]
            if hop.expr is None or hop.step is None or hop.value is None:
                return
            if position == 0 and isinstance(hop.expr, _NAMED):
                return  # the failing line only reads it
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
        path, said = idle.call.code.path, self.said(idle.expr, idle.call)
        where = f"{head}, still as {self.place(trail.hops[-1])} set it: the loop at"
        where += f" {self.at(path, idle.line)} never ran, because"
        if idle.spent is not None:
            spent = idle.spent
            there = spent.frame.code.path
            return self.clue(
                f"{where} {self.place_of(there, spent.line)} had used up `{said}`",
                there, spent.line, Sureness.SEEN,
            )  # fmt: skip
        behind = self.walk.back(idle.expr, idle.call, idle.step, idle.value, None)
        last = behind.hops[-1] if behind.hops else None
        from_there = f", which comes from {self.place(last)}" if last else ""
        yielded = [
            self.control.passed_over(callee)
            for node in ast.walk(idle.expr)
            if isinstance(node, ast.Call)
            for callee in self.walk.now.callees(node, idle.call, idle.step)
        ]
        if behind.expression is not None and behind.step is not None:
            yielded += map(self.control.passed_over, self.recording.called_in(behind.step))
        decision, why = next((each for each in yielded if each is not None), None), Because()
        if decision is not None:
            why = self._test(decision)
        clue = self.clue(
            f"{where} `{said}` was empty{from_there}{why.words}",
            last.path if last else path, last.line if last else idle.line, Sureness.POSSIBLE,
        )  # fmt: skip
        return replace(clue, mentions=why.mentions)

    def _decided(self, trail: Trail, suspect: Suspect) -> Because:
        """Say which test has led to where a value was made, if that tells more than the value."""
        last, step = trail.hops[-1], trail.step
        if step is None:
            return Because()
        collected = self.sources[last.path].statement(last.line)
        if suspect.flaw is None and isinstance(collected, ast.AugAssign):
            ended = self.control.broke_off(last.call, last.line)
            if ended is not None:
                why = self._test(ended)
                return why._replace(words=f". Its loop ended{why.words}")
        if last.call.code.is_module:
            return Because()
        if suspect.flaw is is_empty:
            decision = self._left_out(trail) or self.control.passed_over(last.call)
        elif trail.end in {End.LITERAL, End.NO_RETURN} or suspect.flaw is None:
            decision = self.control.decided(last.call, last.line, step.begin)
            if decision is None and trail.end is End.NO_RETURN:
                decision = self.control.not_left(last.call)
        else:
            return Because()
        if decision is None and trail.skipped and suspect.flaw is None:
            test, at = trail.skipped[0]
            decision = Decision(test, at, was=False)
        return Because() if decision is None else self._test(decision)

    def _left_out(self, trail: Trail) -> Decision | None:
        """Return the test with which a comprehension has left out all."""
        expr, call, step = trail.expression, trail.call, trail.step
        for node in ast.walk(expr) if expr is not None else ():
            if not isinstance(node, Comprehension) or call is None or step is None:
                continue
            rounds = list(self.walk.now.rounds(node, call, step))
            for test in filters_of(node) if rounds else ():
                return Decision(test, rounds[0][1], was=False, times=len(rounds))
        return None

    def _test(self, decision: Decision) -> Because:
        """Say how a test came out, and of what."""
        step, test = decision.step, decision.test
        path, call = step.frame.code.path, step.frame
        values: list[str] = []
        for expr, value in self.walk.now.operands(ast.Expr(test), call, step):
            if value is not None and value.kind == SCALAR and len(values) < _MOST_VALUES:
                behind = self.walk.back(expr, call, step, value, None)
                set_by = self.around.variable_set(behind, step.begin)
                last = behind.hops[-1] if behind.hops else None
                by = ""
                if set_by is not None:
                    by = f" (set at {self.place_of(set_by.path, set_by.line)})"
                elif last is not None and last.call is not call:
                    by = f" (from {self.place(last)})"
                values.append(f"`{self.said(expr, call)}` was {cut(value.words)}{by}")
        with_them = f": {' and '.join(dict.fromkeys(values))}" if values else ""
        times = f" all {decision.times} times" if decision.times > 1 else ""
        then = " the last time" if values and decision.times > 1 else ""
        was = "true" if decision.was else "false"
        texts = compared_as_texts(test, lambda each: self.walk.now.value(each, call, step))
        return Because(
            f", because `{cut(self.sources[path].said(test))}` at"
            f" {self.at(path, test.lineno)} was {was}{times}{with_them}{then}{texts}",
            frozenset({Mention.TEXTS} if texts else ()),
        )

    def _made_of(self, trail: Trail) -> list[TrailStep]:
        """Say where what a value was made of came from."""
        found: dict[tuple[str, ...], list[TrailStep]] = {}
        waiting: list[tuple[Trail, Value | None]] = [(trail, None)]
        while waiting and len(found) < _MOST_SOURCES:
            made, wanted = waiting.pop(0)
            expr, call, step = made.expression, made.call, made.step
            if made.end is not End.MADE or expr is None or call is None or step is None:
                continue
            if self.totals.contributions.is_one_of_many(made):
                continue  # what was added the last time is no more its origin than the others
            whole = ast.Expr(expr) if isinstance(expr, _NAMED) else expr
            varied = set(varied_in(expr))
            is_one_of = isinstance(expr, ast.Tuple | ast.List | ast.Dict) and wanted is not None
            for operand, value in self._parts_of(whole, call, step)[:_MOST_SOURCES]:
                if is_one_of and wanted is not None and not wanted.is_same(value):
                    continue  # the other operands
                if isinstance(operand, ast.Name) and operand.id in varied:
                    continue  # of its last round, whichever made the value
                behind = self.walk.back(operand, call, step, value, None)
                self.fallbacks |= fallbacks_on(behind, self.recording, self.sources)
                said = self.said(operand, call)
                steps = self._source_of(f"`{said}`", behind, value, step)
                places = tuple(f"{each.place} {each.source}" for each in steps)
                if places in found:
                    found[places][0] = like_another(found[places][0], said, value)
                elif steps and not is_path(value):
                    found[places] = steps
                    waiting.append((behind, value))
        return [step for steps in found.values() for step in steps]

    def _parts_of(
        self, expr: ast.expr | ast.Expr, call: Call, step: Step
    ) -> list[tuple[ast.expr, Value | None]]:
        """Return the operands of an expression; for a lookup, the key or the bounds too."""
        found: list[tuple[ast.expr, Value | None]] = []
        for operand, value in self.walk.now.operands(expr, call, step):
            found.append((operand, value))
            found += [
                (node.slice, self.walk.now.value(node.slice, call, step))
                for node in ast.walk(operand)
                if isinstance(node, ast.Subscript) and isinstance(node.slice, _NAMED)
            ]
        slices = (node for node in ast.walk(expr) if isinstance(node, ast.Slice))
        return [*found, *(e for one in slices for e in self.walk.now.operands(one, call, step))]

    def _source_of(
        self, said: str, behind: Trail, value: Value | None, step: Step
    ) -> list[TrailStep]:
        """Say where an operand came from; nothing if that is the line itself."""
        is_one_of_many = isinstance(behind.expression, Comprehension)
        is_one_of_many |= self.totals.contributions.is_one_of_many(behind)
        record = None if is_one_of_many else self.records.read_by(behind)
        if record is None and value and not is_one_of_many and not behind.reckons(value):
            record = self.records.find(value, behind.made_by)
        if value is not None:
            behind.end_where_cut(value, is_read=record is not None)
        found: list[TrailStep] = []
        if behind.hops and behind.hops[-1].line != step.line:
            found += self._changed(said, value, step.begin)
            # What it held where it was made is what it holds now, unless it was changed since.
            last, is_known = behind.hops[-1], behind.end is not End.UNKNOWN and not found
            if self._is_part(value, last.value):
                found.append(self.step_at(last, said, None, StepKind.HOLDER))
            else:
                found.append(self.step_at(last, said, value if is_known else None, StepKind.VALUE))
            found += self._global(behind)
        if record is not None:
            kind = StepKind.FILE if record.is_file else StepKind.RECORD
            found.append(step_about(self.record_step(record), kind, said))
        return found

    def _is_part(self, value: Value | None, holder: Value | None) -> bool:
        """Whether a value lay in the one to which its way led."""
        if value is None or holder is None or not is_container(holder):
            return False
        if value.kind == SCALAR:
            return True
        held = (each.value for each in self.recording.history(holder.number))
        parts = (part for each in held for _, part in self.recording.parts(each))
        return not value.is_same(holder) and any(map(value.is_same, parts))

    def _global(self, trail: Trail) -> list[TrailStep]:
        """Say where the constant of a module was written that a line has made a value with."""
        if trail.expression is None or trail.call is None or trail.step is None:
            return []
        for node in ast.walk(trail.expression):
            if not isinstance(node, ast.Name) or node.id in trail.call.code.variables:
                continue
            value = self.walk.now.value(node, trail.call, trail.step)
            if value is None or value.type in NO_DATA or is_path(value):
                continue
            behind = self.walk.back(node, trail.call, trail.step, value, None)
            if behind.hops and behind.hops[-1].line != trail.step.line:
                return [self.step_at(behind.hops[-1], f"`{node.id}`", value)]
        return []

    def _filler(self, trail: Trail, value: Value) -> Step | None:
        """Return the line that has filled what was made empty; None: it isn't such a value."""
        is_filled = value.kind == CONTAINER and value.size and is_beginning(trail.expression)
        for each in reversed(self.recording.history(value.number)[1:] if is_filled else ()):
            step = each.step
            if step is not None and each.has_changed and step.result is None:
                changed = changed_in(self.sources[step.frame.code.path].statement(step.line))
                if any(
                    value.is_same(self.walk.now.value(part, step.frame, step)) for part in changed
                ):
                    return step
        return None

    def _changes(self, end: End, value: Value) -> list[TrailStep]:
        """Say what has changed a value since it was made."""
        is_made = end is End.UNKNOWN or (end is End.MADE and value.kind != SCALAR)
        return self._changed("it", value, _EVER) if is_made else []

    def _changed(self, said: str, value: Value | None, moment: int) -> list[TrailStep]:
        """Say which line has changed an object since it was made, and in what loop."""
        if value is None or not value.number:
            return []
        seen = [each for each in self.recording.history(value.number) if each.moment <= moment]
        own = [each for each in seen if each.value.type == value.type]
        for each in reversed(own[1:]):
            step, first = each.step, own[0].step
            if step is None or first is None or not each.has_changed or step.result is not None:
                continue
            path, call = step.frame.code.path, step.frame
            statement = self.sources[path].statement(step.line)
            changed = (self.walk.now.value(part, call, step) for part in changed_in(statement))
            is_new = call.code.short == "__init__" or step.line == first.line
            if not is_new and any(value.is_same(part) for part in changed):
                decision = self.control.decided(call, step.line, step.begin)
                why = "" if decision is None else self._test(decision).words
                place, source = self.at(path, step.line), self.line(path, step.line)
                change = TrailStep(says="", place=place, source=source)
                return [step_about(change, StepKind.CHANGE, said, why), *self.happened.loop(step)]
        return []

    def _through(self, trail: Trail) -> list[TrailStep]:
        """Say through which other functions it came, the last one first."""
        calls = [trail.hops[-1].call]
        steps: list[TrailStep] = []
        for hop in reversed(trail.hops[1:-1]):
            if hop.call is not calls[-1]:
                calls.append(hop.call)
                steps.append(self.step_at(hop, "it came through here"))
        return together(list(dict.fromkeys(reversed(steps))))

    def _record_of(self, trail: Trail) -> Record | None:
        """Return the line of a file that the value was read from, or made for."""
        read = self.records.read_by(trail)
        if read is not None or trail.call is None or trail.step is None:
            return read
        named = [trail.expression] if trail.expression is not None else []
        names = [each.id for one in named for each in ast.walk(one) if isinstance(each, ast.Name)]
        names = [each for each in names if each in trail.call.code.variables]
        given = [] if is_beginning(trail.expression) else sorted(trail.call.given)
        for name in (*names, *given):
            value = self.recording.held(trail.call, name, trail.step.begin)
            found = (
                None
                if value is None
                else self.records.spoilt(value, trail.hops[-1].value, trail.made_by)
            )
            if found is not None:
                return found
        return None
