"""Which of many numbers makes a total, a mean or a largest value wrong; or that none stands out."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace

from whet.core.observations.clue import Clue, Mention, Sureness, TrailStep
from whet.core.value_class import value_class
from whet.evidence.provenance.failure.suspects import Failing, decided, suspects_of, tested_in
from whet.evidence.provenance.failure.way import compared_in
from whet.evidence.provenance.run.recording import CONTAINER, SCALAR, Call, Step, Value
from whet.evidence.provenance.run.source import head
from whet.evidence.provenance.sentences.wording import Wording, cut, spots
from whet.evidence.provenance.trace.contributions import (
    Contribution,
    Contributions,
    Gathered,
    is_near,
    number_in,
)
from whet.evidence.provenance.trace.oddness import Odd, odd_in
from whet.evidence.provenance.trace.records import Record, Records
from whet.evidence.provenance.trace.trail import Hop, Trail
from whet.evidence.provenance.trace.walk import Walk

_MOST_LEAVES, _MOST_SCANNED = 400, 200_000
_FEW = 2
_MOST_KEYS = 2
_LEAST_READ, _MOST_OF = 5, 10
_NUMBERS = re.compile(r"(?<![\w.,'])[-+]?\d+(?:[.,'_]\d+)*")
_FACTORS = (10, 100, 1000, 0.1, 0.01, 0.001)
_CHANCE = 0.001
_OTHERS = frozenset({Mention.OTHERS})
_WHOLE = re.compile(r"^-?0*|[.]|e.*$", re.IGNORECASE)


@value_class
class _Side:
    """One side of a check, taken apart.

    Attributes:
        expr: the side.
        amount: its number.
        leaves: the smallest numbers that it is known to be made of.
    """

    expr: ast.expr
    amount: float
    leaves: tuple[Contribution, ...]


@value_class
class _Found:
    """A contribution that explains a failure.

    Attributes:
        leaf: the contribution; None: it is missing.
        says: how it explains it.
        record: the line of a file that it came from; None: not known.
        made: the line that made its number; None: not known.
        spot: where to look: the last test for a record that was left out, the caller of what ran
            once more; None: where the number went in.
        is_exact: what it says is the whole difference, hardly by chance.
        is_misread: its record says otherwise: the line that made the number is to be looked at.
        mentions: what ``says`` tells.
    """

    leaf: Contribution | None
    says: str
    record: Record | None
    made: Hop | None = None
    spot: Step | None = None
    is_exact: bool = False
    is_misread: bool = False
    mentions: frozenset[Mention] = frozenset()


@dataclass(slots=True)
class Totals(Wording):
    """Tells which part of a total is the wrong one.

    Attributes:
        walk: goes back through the run.
        records: the files that were read.
        record_of: returns the record that the value of a trail was read from.
        plain: what is said of numbers of which no part stands out, by what the program calls them.
    """

    walk: Walk
    records: Records
    record_of: Callable[[Trail], Record | None]
    plain: dict[str, TrailStep] = field(init=False, default_factory=dict[str, TrailStep])

    def clues(self, failing: Failing) -> Iterator[Clue]:
        """Yield what is wrong with the numbers that a check compares, or that an operation can't take."""
        failing = decided(failing, self.sources, self.walk)
        node, step = tested_in(failing, self.sources)
        for sides in compared_in(node):
            yield from self._of_keys(sides, failing.call, step)
            yield from self._of_numbers(sides, failing.call, step)
            return
        for each in suspects_of(failing, self.walk, self.recording, self.sources):
            if each.flaw is not None and not each.key and number_in(each.value) is not None:
                yield from self._of_numbers([each.expr], failing.call, step)
                return

    @property
    def contributions(self) -> Contributions:
        """What takes numbers apart."""
        return Contributions(self.recording, self.sources, self.walk)

    # ---- containers over the same keys ----

    def _of_keys(self, sides: Sequence[ast.expr], call: Call, step: Step) -> Iterator[Clue]:
        """Yield which parts differ, where two containers are compared."""
        held = [(each, self._container(each, call, step)) for each in sides]
        known = [(each, value) for each, value in held if value is not None]
        if len(known) != _FEW:
            return
        (one, own), (other, wanted) = known
        keys = [key for key, _ in self.recording.parts(own) if key in wanted.parts]
        unlike = [key for key in keys if not self._is_same(own, wanted, key)]
        if len(keys) < _FEW or not 0 < len(unlike) <= _MOST_KEYS or len(unlike) == len(keys):
            return
        for key in unlike:
            mine, theirs = self.recording.part(own, key), self.recording.part(wanted, key)
            if mine is None or theirs is None:
                continue
            head = (
                f"`{self.said(one, call)}` and `{self.said(other, call)}` have {len(keys)} keys in"
                f" common at {self.at(call.code.path, step.line)}, and differ under {cut(key)}:"
                f" {cut(mine.words)} and {cut(theirs.words)}"
            )
            yield self._of_key(head, own, key, step, number_in(theirs))

    def _of_key(self, head: str, own: Value, key: str, step: Step, wanted: float | None) -> Clue:
        gathered = self.contributions.of_part(own, key, step)
        amount = number_in(self.recording.part(own, key))
        if gathered is not None and amount is not None:
            leaves = tuple(self.contributions.leaves(gathered))
            found = None if wanted is None else self._explained(leaves, wanted - amount)
            found = found or self._odd(leaves)
            if found is not None:
                return self._clue(head, found, len(leaves), gathered)
        trail = self.walk.part(own, key, step, None)
        last = trail.hops[-1] if trail.hops else None
        record = self.record_of(trail) if trail.hops else None
        of = "" if record is None else f", for {self.record(record)}"
        path, line = (last.path, last.line) if last else (step.frame.code.path, step.line)
        from_there = f". That comes from {self.place(last)}{of}" if last else ""
        clue = self.clue(f"{head}{from_there}", path, line, Sureness.POSSIBLE)
        if record is None:
            return clue
        advice = f"Check {self.record_place(record)}."
        return replace(clue, record=self.record(record), records=spots(record), next_step=advice)

    def _container(self, expr: ast.expr, call: Call, step: Step) -> Value | None:
        for each in self.walk.now.gone_through(expr):
            value = self.walk.now.value(each, call, step)
            if value is not None and value.kind == CONTAINER:
                return value
        return None

    def _is_same(self, own: Value, wanted: Value, key: str) -> bool:
        one, other = self.recording.part(own, key), self.recording.part(wanted, key)
        if one is None or other is None or one.is_same(other):
            return True
        numbers = number_in(one), number_in(other)
        if numbers[0] is not None and numbers[1] is not None:
            return is_near(numbers[0], numbers[1])
        return (one.words, one.size) == (other.words, other.size) and one.kind == CONTAINER

    # ---- numbers ----

    def _of_numbers(self, sides: Sequence[ast.expr], call: Call, step: Step) -> Iterator[Clue]:
        taken = [(each, self._side(each, call, step)) for each in sides]
        made = [(each, side) for each, side in taken if side is not None]
        for expr, side in made:
            if not any(isinstance(each, ast.Name | ast.Call) for each in ast.walk(expr)):
                continue  # numbers that the program states: nothing went into them
            amount, gathered = side
            others = [self._number(each, call, step) for each in sides if each is not expr]
            wanted = next((each for each in others if each is not None), None)
            leaves = tuple(self.contributions.leaves(gathered))
            there = self.at(call.code.path, step.line)
            head = f"`{self.said(expr, call)}` is {amount:.12g} at {there}"
            found = None
            if wanted is not None and gathered.is_sum and not is_near(wanted, amount):
                found = self._explained(leaves, wanted - amount)
                head += f", {abs(wanted - amount):.6g} {'less' if wanted > amount else 'more'} than"
                head += f" the {wanted:.12g} that it is compared with"
            found = found or self._odd(leaves)
            if found is not None:
                yield self._clue(head, found, len(leaves), gathered)
            elif len({each.amount for each in leaves}) > _FEW:
                self.plain[self.said(expr, call)] = TrailStep(
                    says=f"put together of {len(leaves)} numbers, of which none stands out",
                    place=self.at(gathered.call.code.path, gathered.line),
                    source=self.line(gathered.call.code.path, gathered.line),
                )

    def _side(self, expr: ast.expr, call: Call, step: Step) -> tuple[float, Gathered] | None:
        gathered = self.contributions.of(expr, call, step)
        return None if gathered is None else (gathered.amount, gathered)

    def _number(self, expr: ast.expr, call: Call, step: Step) -> float | None:
        known = number_in(self.walk.now.value(expr, call, step))
        if known is not None:
            return known
        gathered = self.contributions.of(expr, call, step)
        return None if gathered is None else gathered.amount

    def _clue(self, head: str, found: _Found, count: int, gathered: Gathered) -> Clue:
        path, line = gathered.call.code.path, gathered.line
        steps: list[TrailStep] = []
        if found.leaf is not None:
            path, line = found.leaf.step.frame.code.path, found.leaf.step.line
            source = self.line(path, line)
            steps.append(TrailStep(says="it went in", place=self.at(path, line), source=source))
        if found.made is not None and (found.made.path, found.made.line) != (path, line):
            steps.append(self.step_at(found.made, "it came from here"))
            if found.is_misread:
                path, line = found.made.path, found.made.line
        if found.spot is not None:
            path, line = found.spot.frame.code.path, found.spot.line
        named, advice, of = "", "", ""
        if found.record is not None:
            said = self.record(found.record)
            steps.append(self.record_step(found.record))
            advice = f"Check {self.record_place(found.record)}, then {self.at(path, line)}."
            among = "stands out among" if found.leaf is not None else "isn't among"
            named = f"{said}, which {among} the {count} numbers behind it"
            of = f" for {said}"
        says = f"Of the {count} numbers that it is made of, one stands out{of}: {found.says}"
        if found.leaf is None:
            says = f"The {count} numbers that it is made of lack one{of}: {found.says}"
        sureness = Sureness.SEEN if found.is_exact else Sureness.POSSIBLE
        clue = self.clue(f"{head}. {says}", path, line, sureness, tuple(steps))
        found_at = spots(found.record)
        return replace(
            clue, record=named, records=found_at, next_step=advice, mentions=found.mentions
        )

    # ---- what is missing between two totals ----

    def _explained(self, leaves: Sequence[Contribution], short: float) -> _Found | None:
        """Return the only contribution that accounts for the whole difference between two totals."""
        tries = len(leaves) * (len(_FACTORS) + _FEW)
        is_exact = _is_no_chance(tries, short)
        found = [
            _Found(each, says, None, is_exact=is_exact)
            for each in leaves[:_MOST_LEAVES]
            if (says := _explanation(each.own, short / each.times))
        ]
        if len(found) == 1 and found[0].leaf is not None:
            leaf = found[0].leaf
            # One that is wrong by a factor was read wrong, or is written so.
            is_misread = not is_near(abs(leaf.own), abs(short / leaf.times)) and not is_near(
                2 * abs(leaf.own), abs(short / leaf.times)
            )
            return replace(
                found[0], record=self._record(leaf), made=self._made(leaf), is_misread=is_misread
            )
        return self._repeated(leaves, short) or (None if found else self._misread(leaves, short))

    def _repeated(self, leaves: Sequence[Contribution], short: float) -> _Found | None:
        """Return what the same call put in once more than it should have, where that is the whole difference."""
        groups: dict[tuple[str, ...], list[Contribution]] = {}
        for each in leaves[:_MOST_LEAVES]:
            groups.setdefault(self._given(each.step.frame), []).append(each)
        repeated = [(given, some) for given, some in groups.items() if given and len(some) > 1]
        if len(repeated) != 1 or len(groups) <= _FEW:
            return None
        ((given, some),) = repeated
        if not is_near(sum(each.amount for each in some[1:]), -short, short):
            return None
        again = some[-1].step.frame
        caller = None if again.parent is None else again.parent.step_at(again.began)
        times = "twice" if len(some) == _FEW else f"{len(some)} times"
        says = (
            f"`{again.code.short}` ran {times} with {' and '.join(map(cut, given))}, and once with"
            " each of the others; without the repetition the two would be equal"
        )
        if caller is not None:
            path = caller.frame.code.path
            says += f". {self.place_of(path, caller.line)} called it the last time"
        return _Found(some[-1], says, None, spot=caller)

    def _given(self, call: Call) -> tuple[str, ...]:
        """Return the numbers and texts that a call was given."""
        known = ((name, self.recording.held(call, name, call.began)) for name in sorted(call.given))
        return tuple(
            f"`{name}` {value.words}"
            for name, value in known
            if value is not None and value.kind == SCALAR
        )

    def _misread(self, leaves: Sequence[Contribution], short: float) -> _Found | None:
        """Return the record whose line has the number that would have made two totals equal."""
        read = self._read(leaves)
        every = _times([(leaf.own, record.text) for leaf, record in read])
        found = [
            (leaf, record, said, times * number)
            for leaf, record in read
            for said, number in numbers_of(record.text)
            for times in every
            if is_near(times * number - leaf.own, short / leaf.times, leaf.own)
        ]
        tries = sum(len(list(numbers_of(record.text))) for _, record in read) * len(every)
        if len({leaf.step.begin for leaf, *_ in found}) == 1:
            leaf, record, said, amount = found[0]
            return _Found(
                leaf,
                f"{leaf.own:.12g} was counted; with {_as_read(amount, said)} the two would be equal",
                record, self._made(leaf), is_exact=_is_no_chance(tries, short), is_misread=True,
            )  # fmt: skip
        return None if found else self._missing(leaves[0], read, every, short)

    def _missing(
        self,
        leaf: Contribution,
        read: Sequence[tuple[Contribution, Record]],
        every: Sequence[float],
        short: float,
    ) -> _Found | None:
        """Return the record of which nothing was counted, and whose number is what is missing."""
        used = {(record.path, record.line) for _, record in read}
        others = [
            record
            for path in {record.path for _, record in read}
            for record in self.records.lines_of(path)
            if (record.path, record.line) not in used
        ]
        found = {
            (record, said): None
            for record in others
            for said, number in numbers_of(record.text)
            for times in every
            if is_near(times * number, short)
        }
        if len(found) != 1:
            return None
        ((record, said),) = found
        says = f"with its {said}, which wasn't counted, the two would be equal"
        test = self._last_test(leaf, record)
        if test is not None:
            says += f". The last test for it was {self.place_of(test.frame.code.path, test.line)}"
        is_exact = _is_no_chance(len(others) * len(every), short)
        return _Found(None, says, record, spot=test, is_exact=is_exact)

    def _last_test(self, leaf: Contribution, record: Record) -> Step | None:
        """Return the test that came last before a record was left out, where the others were counted."""
        code = leaf.step.frame.code
        for step in reversed(self.recording.steps):
            if step.frame.code is not code or step.result is not None:
                continue
            test = self.sources[code.path].statement(step.line)
            if not isinstance(test, ast.If) or test.lineno != step.line:
                continue
            held = self._held(step.frame, step.begin, set(step.frame.held))
            if self.records.around(held) == record:
                return step
        return None

    def _read(self, leaves: Sequence[Contribution]) -> list[tuple[Contribution, Record]]:
        """Return contributions with the records that they were made for, as far as those are known."""
        if len(leaves) * self.records.lines > _MOST_SCANNED:
            return []  # each record is looked for in all lines
        known = [(each, self._record(each)) for each in leaves[:_MOST_LEAVES]]
        read = [(each, record) for each, record in known if record is not None]
        times = Counter((record.path, record.line) for _, record in read)
        # What all have in common, such as a heading, is the record of none.
        return [each for each in read if times[each[1].path, each[1].line] <= _FEW]

    # ---- what stands out ----

    def _odd(self, leaves: Sequence[Contribution]) -> _Found | None:
        """Return the contribution that stands out: by its size, its sign, or by what it was made of."""
        known = leaves[:_MOST_LEAVES]
        odd = odd_in([each.own for each in known])
        if odd is not None:
            leaf = known[odd.place]
            inner = self._odd_operand(known, odd.place)
            says = f"it {_stands_out(leaf.own, odd)}"
            return inner or _Found(
                leaf, says, self._record(leaf), self._made(leaf), mentions=_OTHERS
            )
        return self._odd_reading(known)

    def _odd_reading(self, leaves: Sequence[Contribution]) -> _Found | None:
        """Return the contribution that isn't what its record says, as all the others are."""
        read = self._read(leaves)
        if len(read) != len(leaves):
            return None
        for times in _times([(leaf.own, record.text) for leaf, record in read]):
            unlike = [
                place
                for place, (leaf, record) in enumerate(read)
                if not _reads_as(leaf.own, record.text, times)
            ]
            if len(unlike) == 1:
                break
        else:
            return None
        place = unlike[0]
        leaf, record = read[place]
        by = "as it is" if times == 1 else f"times {times:.6g}"
        says = f"{leaf.own:.12g} was counted, where each of the {len(read) - 1} others is a number of its record {by}"
        return _Found(leaf, says, record, self._made(leaf), is_misread=True, mentions=_OTHERS)

    def _odd_operand(self, leaves: Sequence[Contribution], place: int) -> _Found | None:
        """Return the operand for which a contribution stands out."""
        expr = leaves[place].expr
        if expr is None:
            return None
        for operand, _ in self.walk.now.operands(
            ast.Expr(expr), leaves[place].step.frame, leaves[place].step
        ):
            if operand is expr:
                continue
            numbers = [
                number_in(self.walk.now.value(operand, each.step.frame, each.step))
                for each in leaves
                if each.expr is expr
            ]
            known = [each for each in numbers if each is not None]
            if len(known) != len(leaves):
                continue
            odd = odd_in(known)
            if odd is not None and odd.place == place:
                leaf = leaves[place]
                said = self.said(operand, leaf.step.frame)
                trail = self._back(operand, leaf.step)
                made = trail.hops[-1] if trail.hops else None
                says = f"`{said}` {_stands_out(known[place], odd)}"
                return _Found(leaf, says, self._record_on(trail), made, mentions=_OTHERS)
        return None

    def _record(self, leaf: Contribution) -> Record | None:
        """Return the record that a contribution was made for."""
        return self._record_on(self._trail(leaf))

    def _made(self, leaf: Contribution) -> Hop | None:
        trail = self._trail(leaf)
        return trail.hops[-1] if trail.hops else None

    def _trail(self, leaf: Contribution) -> Trail:
        if leaf.holder is not None:
            return self.walk.part(leaf.holder, leaf.key, leaf.step, None)
        return Trail() if leaf.expr is None else self._back(leaf.expr, leaf.step)

    def _back(self, expr: ast.expr, step: Step) -> Trail:
        value = self.walk.now.value(expr, step.frame, step)
        return self.walk.back(expr, step.frame, step, value, None)

    def _record_on(self, trail: Trail) -> Record | None:
        if not trail.hops:
            return None
        found = self.record_of(trail)
        for hop in reversed(trail.hops):
            statement = self.sources[hop.path].statement(hop.line)
            named = {each.id for each in head(statement) if isinstance(each, ast.Name)}
            for names in (named, set(hop.call.held)):
                moment = 0 if hop.step is None else hop.step.begin
                found = found or self.records.around(self._held(hop.call, moment, names))
        return found

    def _held(self, call: Call, moment: int, names: AbstractSet[str]) -> list[Value]:
        """Return what variables held: beside a number, what was read from the same record."""
        held = (self.recording.held(call, each, moment) for each in sorted(names))
        return [each for each in held if each is not None]


def _explanation(amount: float, short: float) -> str:
    """Say how a contribution accounts for a difference; empty: it doesn't."""
    if is_near(-amount, short, amount):
        return f"without its {amount:.12g} the two would be equal"
    if is_near(-2 * amount, short, amount):
        return (
            f"with its {amount:.12g} the other way round, as {-amount:.12g}, the two would be equal"
        )
    for factor in _FACTORS:
        if is_near(amount * (factor - 1), short, amount):
            return (
                f"with {amount * factor:.12g} instead of its {amount:.12g} the two would be equal"
            )
    return ""


def _stands_out(amount: float, odd: Odd) -> str:
    between = f"between {odd.least:.6g} and {odd.most:.6g}"
    if odd.least == odd.most:
        between = f"at {odd.least:.6g}"
    return f"is {amount:.6g}, where all others lie {between}"


def numbers_of(text: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a line as it has them, in each way in which they can be read."""
    for found in _NUMBERS.findall(text):
        plain = found.replace("'", "").replace("_", "")
        ways = {plain.replace(",", ""), plain.replace(".", "").replace(",", "."), plain}
        for way in sorted(ways):
            with suppress(ValueError):
                yield found, float(way)


def _times(read: Sequence[tuple[float, str]]) -> list[float]:
    """Return with what nearly all contributions multiply a number of their records, the likeliest first."""
    counts: Counter[float] = Counter()
    for amount, text in read:
        numbers = {number for _, number in numbers_of(text) if number}
        counts.update({float(f"{amount / number:.9g}") for number in numbers} - {0.0})
    least = max(_LEAST_READ, len(read) * (_MOST_OF - 1) / _MOST_OF)
    known = [each for each in counts.items() if each[1] >= least]
    return [times for times, _ in sorted(known, key=lambda each: (-each[1], each[0] != 1))]


def _reads_as(amount: float, text: str, times: float) -> bool:
    return not amount or any(is_near(times * each, amount) for _, each in numbers_of(text))


def _as_read(amount: float, said: str) -> str:
    return f"its {said}" if f"{amount:.12g}" == said else f"{amount:.12g}, its {said},"


def _is_no_chance(tries: int, short: float) -> bool:
    """Whether a difference has so many digits that this number of tries is unlikely to hit it by chance."""
    return tries * 10.0 ** -_digits(short) < _CHANCE


def _digits(number: float) -> int:
    """Return how many digits tell a number from others."""
    return len(_WHOLE.sub("", f"{number:.9g}").rstrip("0"))
