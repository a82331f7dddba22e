"""The last steps of a program before its failure, as the agent recorded them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from whet.core.text.record import as_record, decoded, item_at, items_of, row, rows, text, whole
from whet.core.value_class import value_class

SCALAR, CONTAINER, OBJECT, ARRAY = "scalar", "container", "object", "array"
UNBOUND = -1
_OF_TENSORS = ("torch.", "tensorflow.")
_NUMBER = re.compile(
    r"(?:numpy\.)?(?:u?int|float|complex)\d*\Z|decimal\.Decimal|fractions\.Fraction"
)


@value_class(eq=False)
class Value:
    """A value at one moment; the same object later is another value if it has changed.

    Attributes:
        kind: scalar, container, object, array or other.
        type: its qualified type.
        words: how it is written; of an array its facts.
        number: what tells the object from others; 0: a scalar.
        size: how many parts or characters it has.
        parts: the rows of what it holds, by key or attribute; perhaps not all.
        facts: shape, type of the elements and range of an array.
    """

    kind: str
    type: str
    words: str
    number: int = 0
    size: int = 0
    parts: Mapping[str, int] = field(default_factory=dict[str, int])
    facts: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def is_number(self) -> bool:
        """Whether it is one number."""
        return self.kind == SCALAR and bool(_NUMBER.match(self.type))

    @property
    def as_array(self) -> str:
        """An array by what it holds; a table, which has a type for each column, by its own."""
        held, own = self.facts.get("dtype"), self.type.rpartition(".")[2]
        if held:
            return f"{self.array_name} of {held}"
        return f"{'an' if own[:1] in 'AEIOU' else 'a'} {own}"

    @property
    def array_name(self) -> str:
        """What its library calls an array."""
        return "a tensor" if self.type.startswith(_OF_TENSORS) else "an array"

    @property
    def is_whole(self) -> bool:
        """Whether all its parts are known."""
        return len(self.parts) == self.size

    def is_same(self, other: "Value | None") -> bool:
        """Whether another one is this one, or the same scalar."""
        if other is None or self is other:
            return other is not None
        if self.kind == SCALAR:
            return (self.type, self.words) == (other.type, other.words)
        return bool(self.number) and self.number == other.number


@value_class
class Code:
    """A function.

    Attributes:
        path: its file.
        name: its name with those of its class and of the functions around it.
        first_line: where it begins.
        variables: its own.
        is_passed: some of its calls were not followed.
    """

    path: str
    name: str
    first_line: int
    variables: frozenset[str]
    is_passed: bool = False

    @property
    def short(self) -> str:
        """Its name without its class."""
        return self.name.rpartition(".")[2]

    @property
    def class_name(self) -> str:
        """The name of the class that it makes an object of; empty: it makes none."""
        return self.name.split(".")[-2] if self.short == "__init__" and "." in self.name else ""

    def is_of(self, value: Value | None) -> bool:
        """Whether a value is a function that was made of it, or a method."""
        place = f" ({Path(self.path).name}:{self.first_line})"
        is_function = value is not None and value.type in {"function", "method"}
        return value is not None and is_function and value.words.endswith(place)

    @property
    def is_module(self) -> bool:
        """Whether it is what runs when a file is loaded."""
        return self.name == "<module>"


@dataclass(slots=True, eq=False)
class Step:
    """A line that was run once, or a return.

    Attributes:
        frame: the call that it belongs to.
        line: its number.
        begin, end: moments; end 0: it was under way when the program failed.
        result: what was returned or yielded; None: it is a line.
        has_changed: the variables that it has changed.
        since: the moment since which calls are its own, if that isn't when it began.
    """

    frame: "Call"
    line: int
    begin: int
    end: int
    result: Value | None
    has_changed: frozenset[str]
    since: int = 0

    @property
    def over(self) -> int:
        """The moment after it."""
        return self.end or 1 << 60


@dataclass(slots=True, eq=False)
class Call:
    """A function that was called.

    Attributes:
        parent: the calling call; None: it wasn't followed.
        line: the line that called it.
        began: the moment.
        held: what its variables held, by name: moments and values.
    """

    index: int
    code: Code
    parent: "Call | None"
    line: int
    began: int
    thread: int
    given: frozenset[str]
    held: dict[str, list[tuple[int, Value | None]]] = field(
        default_factory=dict[str, list[tuple[int, Value | None]]]
    )
    steps: list[Step] = field(default_factory=list[Step])

    @property
    def around(self) -> "Iterator[Call]":
        """It, what called it, and so on."""
        at: Call | None = self
        while at is not None:
            yield at
            at = at.parent

    def runs(self, module: Value) -> bool:
        """Whether it is what runs a module."""
        path, names = Path(self.code.path), tuple(module.words.split("."))
        parts = (*path.parts[:-1], path.stem) if path.stem != "__init__" else path.parts[:-1]
        is_of_it = path.suffix == ".py" and parts[-len(names) :] == names
        return self.code.is_module and is_of_it

    def step_at(self, moment: int) -> Step | None:
        """Return the line that was under way at a moment, or the last one before it."""
        found = bisect_right(self.steps, moment, key=lambda step: step.begin)
        while found and self.steps[found - 1].result is not None:
            found -= 1
        return self.steps[found - 1] if found else None

    @property
    def results(self) -> Iterator[Step]:
        """What it has returned and yielded, the last first."""
        return (step for step in reversed(self.steps) if step.result is not None)


@value_class
class Raised:
    """An error that went through a call."""

    moment: int
    call: Call
    line: int
    type: str
    number: int
    arguments: Value


@value_class
class Event:
    """What the program did to files, its folder or its environment."""

    moment: int
    name: str
    words: tuple[str, ...]
    path: str
    line: int
    function: str
    folder: str


@value_class
class ObjectState:
    """The content of an object at a moment, and the steps until then."""

    moment: int
    value: Value
    step: Step | None
    has_changed: bool


@value_class
class Standing:
    """Where a thread stood when a limit was met."""

    call: Call
    line: int
    moment: int


@value_class(eq=False)
class Field:
    """What the members of a group have under one name; empty: they are numbers or texts themselves.

    Attributes:
        name: the name.
        different: how many different values it has.
        values: two of them.
    """

    name: str
    different: int
    values: tuple[Value, ...]


@value_class(kw_only=True, eq=False)
class Grouping:
    """A dict of containers, as a function left it or had it when the program failed.

    Attributes:
        call: the function.
        moment: when.
        name: what the function calls it.
        number: what tells it from other objects.
        keys: how many keys it has.
        items: how many items lie under all of them.
        key: the key with most of them.
        size: how many lie under that.
        largest: what tells the container that holds these from other objects.
        looked_at: how many of these were looked at.
        fields: what those have, each under the same names.
    """

    call: Call
    moment: int
    name: str
    number: int
    keys: int
    items: int
    key: Value
    size: int
    largest: int
    looked_at: int
    fields: tuple[Field, ...]


@value_class
class Times:
    """How often a line was run; not all runs were counted: it may have been more often."""

    times: int
    is_cut: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Recording:
    """All that was written down of one process.

    Attributes:
        groupings: its dicts of containers.
        keys: all keys of large dicts and sets, by what tells these from other objects.
        times: how often each line was run, by its function and its number.
        standing: where its threads stood when a limit was met, which ended the recording; None: it
            is whole.
    """

    values: Sequence[Value]
    calls: Sequence[Call]
    steps: Sequence[Step]
    events: Sequence[Event]
    errors: Sequence[Raised]
    folder: str
    captures: Sequence[tuple[int, Value, Step | None, bool]]
    standing: Sequence[Standing] | None = None
    groupings: Sequence[Grouping] = ()
    keys: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    times: Mapping[tuple[int, int], Times] = field(default_factory=dict[tuple[int, int], Times])

    def times_of(self, code: Code, line: int) -> Times:
        """Return how often a line was run."""
        return self.times.get((id(code), line), Times(0, is_cut=False))

    def part(self, value: Value | None, key: str) -> Value | None:
        """Return what a value held under a key."""
        row = None if value is None else value.parts.get(key)
        return None if row is None else self.values[row]

    def parts(self, value: Value) -> Iterator[tuple[str, Value]]:
        """Yield what a value held."""
        for key, part in value.parts.items():
            yield key, self.values[part]

    def held(self, call: Call, name: str, moment: int) -> Value | None:
        """Return what a variable held at a moment; None: not known."""
        known = call.held.get(name)
        if known is None and name not in call.code.variables:
            known = self._globals.get((call.code.path, name))
        if not known:
            return None
        found = bisect_right(known, moment, key=lambda each: each[0])
        return known[found - 1][1] if found else None

    @cached_property
    def _globals(self) -> dict[tuple[str, str], list[tuple[int, Value | None]]]:
        found: dict[tuple[str, str], list[tuple[int, Value | None]]] = {}
        for call in self.calls:
            for name, held in call.held.items():
                if call.code.is_module or name not in call.code.variables:
                    found.setdefault((call.code.path, name), []).extend(held)
        for held in found.values():
            held.sort(key=lambda each: each[0])
        return found

    @property
    def objects(self) -> Iterator[int]:
        """The numbers of all objects of which something was seen."""
        yield from self._histories

    def history(self, number: int) -> Sequence[ObjectState]:
        """Return what an object held, whenever it was seen to hold something else."""
        return self._histories.get(number, ())

    def first_with(self, holder: Value, key: str, moment: int) -> ObjectState | None:
        """Return when something was first seen to hold what it holds under a key at a moment."""
        seen = [each for each in self.history(holder.number) if each.moment <= moment]
        part = self.part(seen[-1].value, key) if seen else None
        if part is None:
            return None
        while len(seen) > 1:
            former = seen[-2].value
            before = self.part(former, key)
            if before is None or not before.is_same(part) or former.type != holder.type:
                break
            seen.pop()
        return seen[-1]

    @cached_property
    def _histories(self) -> dict[int, list[ObjectState]]:
        found: dict[int, list[ObjectState]] = {}
        inside: dict[int, tuple[Value, ...]] = {}
        for moment, value, step, has_changed in self.captures:
            key = id(value)
            if key not in inside:
                inside[key] = tuple(self._with_parts(value, set()))
            for each in inside[key]:
                if each.size and not each.parts and each.kind in {CONTAINER, OBJECT}:
                    continue  # too deep to be looked into
                known = found.setdefault(each.number, [])
                if not known or known[-1].value is not each:
                    known.append(ObjectState(moment, each, step, has_changed))
        return found

    def _with_parts(self, value: Value, met: set[int]) -> Iterator[Value]:
        if not value.number or id(value) in met:
            return
        met.add(id(value))
        yield value
        for _, part in self.parts(value):
            yield from self._with_parts(part, met)

    def at_line(self, code: Code, line: int) -> Sequence[Step]:
        """Return whenever a line of a function was run."""
        return self._by_line.get((id(code), line), ())

    @cached_property
    def _by_line(self) -> dict[tuple[int, int], list[Step]]:
        found: dict[tuple[int, int], list[Step]] = {}
        for step in self.steps:
            if step.result is None:
                found.setdefault((id(step.frame.code), step.line), []).append(step)
        return found

    def called_in(self, step: Step, moment: int | None = None) -> Sequence[Call]:
        """Return the calls that a line made, in their order."""
        until = step.over if moment is None else moment
        return [
            call
            for call in self._children.get(step.frame.index, ())
            if (step.since or step.begin) <= call.began <= until
        ]

    @cached_property
    def _children(self) -> dict[int, list[Call]]:
        found: dict[int, list[Call]] = {}
        for call in self.calls:
            if call.parent is not None:
                found.setdefault(call.parent.index, []).append(call)
        return found


def read_recording(data: bytes) -> Recording:
    """Return the recording.

    Raises:
        MalformedRecordError: if it isn't what an agent writes.
    """
    told = as_record(decoded(data), "steps")
    values = [_value(each) for each in rows(told.get("rows"), 7)]
    codes = [_code(each) for each in rows(told.get("codes"), 5)]
    calls: list[Call] = []
    captures: list[tuple[int, Value, Step | None, bool]] = []
    for each in items_of(told.get("frames")):
        code, above, line, began, thread, given = row(each, 6)
        held = _held(given, values)
        call = Call(
            len(calls), item_at(codes, code), item_at(calls, above) if whole(above) >= 0 else None,
            whole(line), whole(began), whole(thread), frozenset(held),
        )  # fmt: skip
        calls.append(call)
        for name, value in held.items():
            call.held.setdefault(name, []).append((call.began, value))
    steps = [_step(each, calls, values, captures) for each in rows(told.get("steps"), 7)]
    for call in calls:
        caller = None if call.parent is None else call.parent.step_at(call.began)
        for known in call.held.values():
            moment, value = known[0]
            if moment == call.began and value is not None:
                captures.append((moment, value, caller, caller is not None))
    captures.sort(key=lambda each: each[0])
    for call in calls:
        for known in call.held.values():
            known.sort(key=lambda each: each[0])
    return Recording(
        values=values, calls=calls, steps=steps, captures=captures, folder=text(told, "folder"),
        events=[_event(each) for each in rows(told.get("events"), 5)],
        errors=[_raised(each, calls, values) for each in rows(told.get("errors"), 6)],
        standing=_standing(told.get("standing"), calls),
        groupings=[_grouping(each, calls, values) for each in rows(told.get("groups"), 11)],
        keys={
            whole(number): tuple(map(str, items_of(keys)))
            for number, _, keys in rows(told.get("keys"), 3)
        },
        times={
            (id(item_at(codes, code)), whole(line)): Times(whole(times), bool(is_cut))
            for code, line, times, is_cut in rows(told.get("rounds"), 4)
        },
    )  # fmt: skip


def _grouping(told: Sequence[object], calls: Sequence[Call], values: Sequence[Value]) -> Grouping:
    call, moment, name, number, keys, items, key, size, largest, looked_at, fields = told
    return Grouping(
        call=item_at(calls, call), moment=whole(moment), name=str(name), number=whole(number),
        keys=whole(keys), items=whole(items), key=item_at(values, key), size=whole(size),
        largest=whole(largest), looked_at=whole(looked_at),
        fields=tuple(_field(each, values) for each in items_of(fields)),
    )  # fmt: skip


def _field(told: object, values: Sequence[Value]) -> Field:
    name, different, *some = items_of(told)
    return Field(str(name), whole(different), tuple(item_at(values, each) for each in some))


def _standing(told: object, calls: Sequence[Call]) -> list[Standing] | None:
    if told is None:
        return None
    return [
        Standing(item_at(calls, call), whole(line), whole(moment))
        for call, line, moment in rows(told, 3)
    ]


def _value(told: Sequence[object]) -> Value:
    kind, name, words, number, size, parts, facts = told
    return Value(
        kind=str(kind), type=str(name), words=str(words), number=whole(number),
        size=whole(size),
        parts={str(key): whole(part) for key, part in rows(parts, 2)},
        facts={} if facts is None else as_record(facts, "facts"),
    )  # fmt: skip


def _code(told: Sequence[object]) -> Code:
    path, name, line, variables, is_passed = told
    names = frozenset(map(str, items_of(variables)))
    return Code(str(path), str(name), whole(line), names, bool(is_passed))


def _held(pairs: object, values: Sequence[Value]) -> dict[str, Value | None]:
    return {
        str(name): None if number == UNBOUND else item_at(values, number)
        for name, number in rows(pairs, 2)
    }


def _step(
    told: Sequence[object],
    calls: Sequence[Call],
    values: Sequence[Value],
    captures: list[tuple[int, Value, Step | None, bool]],
) -> Step:
    frame, line, begin, end, reads, writes, result = told
    call = item_at(calls, frame)
    changed = _held(writes, values)
    step = Step(
        call, whole(line), whole(begin), whole(end),
        None if result is None else item_at(values, result), frozenset(changed),
    )  # fmt: skip
    call.steps.append(step)
    for moment, held, has_changed in (
        (step.begin, _held(reads, values), False),
        (step.end, changed, True),
    ):
        for name, value in held.items():
            call.held.setdefault(name, []).append((moment, value))
            if value is not None:
                captures.append((moment, value, step, has_changed))
    if step.result is not None:
        captures.append((step.begin, step.result, step, True))
    return step


def _event(told: Sequence[object]) -> Event:
    moment, name, words, at, folder = told
    path, line, function = row(at, 3)
    return Event(
        whole(moment), str(name), tuple(map(str, items_of(words))), str(path), whole(line),
        str(function), str(folder),
    )  # fmt: skip


def _raised(told: Sequence[object], calls: Sequence[Call], values: Sequence[Value]) -> Raised:
    moment, frame, line, name, number, words = told
    return Raised(
        whole(moment), item_at(calls, frame), whole(line), str(name), whole(number),
        item_at(values, words),
    )  # fmt: skip
