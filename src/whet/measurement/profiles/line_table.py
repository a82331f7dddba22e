"""Which of the user's own lines cost how much, with all that they call outside the user's code."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace

from whet.core.failure import Frame
from whet.core.observations.profile import CPU_SECONDS, SECONDS, Profile, Stack
from whet.core.value_class import value_class

MOST_LINES = 15

UNSEEN = "unseen"
"""Name of a fact: the time for which the program ran or was ready to run, over the time for which it was
seen to run."""

_LATE_SECONDS = 0.2
"""A process may run on for this long after the last look at what it has used."""


@value_class(kw_only=True)
class LineCost:
    """What one line cost.

    Attributes:
        frame: the line.
        own: in this line and what it calls outside the user's code, in the profile's unit.
        total: also in what it calls of the user's own code.
        waits: seconds for which the main thread stood there without running.
        calls: the function outside the user's code in which most of it is; empty: none.
    """

    frame: Frame
    own: float = 0.0
    total: float = 0.0
    waits: float = 0.0
    calls: str = ""


@value_class(kw_only=True)
class LineTable:
    """The lines of a profile, the most expensive first.

    Attributes:
        lines: the user's own first, then those of libraries that no own line called.
        unit: of their costs.
        total: what all stacks cost together.
        waits: seconds that the main threads waited, anywhere.
        left_out: how many own lines are not among them.
    """

    lines: tuple[LineCost, ...]
    unit: str
    total: float
    waits: float = 0.0
    left_out: int = 0


@value_class(kw_only=True)
class _Sums:
    waits: dict[Frame, float]
    own: dict[Frame, float] = field(default_factory=dict[Frame, float])
    total: dict[Frame, float] = field(default_factory=dict[Frame, float])
    calls: dict[Frame, dict[str, float]] = field(default_factory=dict[Frame, dict[str, float]])


def in_memory(table: LineTable, peak_bytes: int) -> LineTable:
    """Return the lines whose memory can have been in RAM: the others reserved addresses.

    Args:
        table: the lines of a profile of memory.
        peak_bytes: the most that the program had in RAM; 0: that isn't known.
    """
    lines = tuple(each for each in table.lines if not peak_bytes or each.own <= peak_bytes)
    left = sum(each.own for each in table.lines) - sum(each.own for each in lines)
    return replace(table, lines=lines, total=table.total - left)


def lines_of(profile: Profile, most: int = MOST_LINES) -> LineTable:
    """Return the most expensive lines of a profile; of a GPU or of waiting, with each operator or call."""
    if profile.question in {"gpu", "io"}:
        return _operators(profile, most)
    sums = _Sums(waits=waits_by_line(profile, leading_processes(profile)))
    for stack in profile.stacks:
        _add(sums, profile, stack)
    places = sorted(
        {*sums.own, *sums.waits},
        key=lambda each: (
            not each.in_user_code,
            -sums.own.get(each, 0.0) - sums.waits.get(each, 0.0),
            each.path,
            each.line,
        ),
    )
    costs = [
        LineCost(
            frame=each,
            own=sums.own.get(each, 0.0),
            total=sums.total.get(each, 0.0),
            waits=sums.waits.get(each, 0.0),
            calls=_most_of(sums.calls.get(each, {}), sums.own.get(each, 0.0)),
        )
        for each in places
    ]
    return LineTable(
        lines=tuple(costs[:most]),
        unit=profile.unit,
        total=profile.total(profile.unit),
        waits=sum(sums.waits.values()),
        left_out=sum(each.frame.in_user_code for each in costs[most:]),
    )


def _operators(profile: Profile, most: int) -> LineTable:
    """Return a row for each operator, kernel or call in each line of the user's own."""
    own: dict[tuple[Frame, str], float] = {}
    total: dict[Frame, float] = {}
    for stack in profile.stacks:
        cost, frames = stack.number(profile.unit), profile.lines_of(stack)
        place = innermost_own(frames)
        if place is not None and cost:
            called = frames[-1].function if frames[-1] != place else ""
            own[place, called] = own.get((place, called), 0.0) + cost
            for each in {each for each in frames if each.in_user_code}:
                total[each] = total.get(each, 0.0) + cost
    order = sorted(own, key=lambda key: (not key[0].in_user_code, -own[key], key[1]))
    rows = [
        LineCost(frame=place, own=own[place, called], total=total.get(place, 0.0), calls=called)
        for place, called in order
    ]
    return LineTable(
        lines=tuple(rows[:most]),
        unit=profile.unit,
        total=profile.total(profile.unit),
        left_out=sum(each.frame.in_user_code for each in rows[most:]),
    )


def waits_by_line(profile: Profile, pids: AbstractSet[int]) -> dict[Frame, float]:
    """Return how long the main threads of processes stood at each line without running.

    Who runs and who is there are two recordings, which look at slightly different moments. So both
    are summed over a line, with all that it calls in libraries, before they are compared. A machine
    that is too busy for its profiler misses looks: then the kernel's count decides, see `unseen`.
    """
    times = profile.facts.get(UNSEEN, 1.0)
    present: dict[tuple[int, Frame], float] = {}
    for stack in profile.stacks:
        place = innermost_own(profile.lines_of(stack))
        if stack.pid in pids and not stack.thread and place is not None:
            key = (stack.pid, place)
            time = stack.number(SECONDS) - stack.number(CPU_SECONDS) * times
            present[key] = present.get(key, 0.0) + time
    waits: dict[Frame, float] = {}
    for (_, place), time in present.items():
        if time > 0:
            waits[place] = waits.get(place, 0.0) + time
    return waits


def unseen(profile: Profile, cpu_seconds: float, queued_seconds: float) -> float:
    """Return the time for which the leading processes ran or were ready to run, over the time seen; at least 1.

    Args:
        profile: a whole one.
        cpu_seconds: what the kernel counted of all processes.
        queued_seconds: how long the command's main thread was ready to run and had no processor.
    """
    pids, seen = leading_processes(profile), _seen_seconds(profile)
    known = [each.cpu_seconds + _LATE_SECONDS for each in profile.processes if each.pid in pids]
    before = sum(each.busy_before for each in profile.processes if each.pid in pids)
    ran = min(cpu_seconds, sum(known) if known else cpu_seconds) + queued_seconds - before
    return max(ran / seen, 1.0) if seen else 1.0


def unseen_seconds(profile: Profile) -> float:
    """Return for how long the leading processes ran, or were ready to, and weren't seen."""
    return _seen_seconds(profile) * (profile.facts.get(UNSEEN, 1.0) - 1.0)


def _seen_seconds(profile: Profile) -> float:
    pids = leading_processes(profile)
    return sum(each.number(CPU_SECONDS) for each in profile.stacks if each.pid in pids)


def leading_processes(profile: Profile) -> AbstractSet[int]:
    """Return the processes whose waiting is the program's: the ranks of a job, or the first Python."""
    seen = {each.pid for each in profile.stacks}
    ranks = {each.pid for each in profile.processes if each.rank is not None and each.pid in seen}
    children = {each.pid for each in profile.processes if each.parent in ranks}
    if ranks - children:
        return ranks - children
    ordered = [each.pid for each in profile.processes if each.pid in seen]
    ordered += [each.pid for each in profile.stacks]
    return set(ordered[:1])


def _add(sums: _Sums, profile: Profile, stack: Stack) -> None:
    frames = profile.lines_of(stack)
    cost = stack.number(profile.unit)
    place = innermost_own(frames)
    if place is None:
        return
    if cost:
        sums.own[place] = sums.own.get(place, 0.0) + cost
        for each in {each for each in frames if each.in_user_code} or {place}:
            sums.total[each] = sums.total.get(each, 0.0) + cost
        called = frames[-1]
        if called != place:
            calls = sums.calls.setdefault(place, {})
            calls[called.function] = calls.get(called.function, 0.0) + cost


def innermost_own(frames: Sequence[Frame]) -> Frame | None:
    """Return the innermost line of the user's own code; of what has none, the innermost line."""
    own = [each for each in frames if each.in_user_code]
    return own[-1] if own else frames[-1] if frames else None


def _most_of(calls: Mapping[str, float], cost: float) -> str:
    """Return the called function in which more than half of a cost is."""
    name = max(calls, key=lambda each: calls[each], default="")
    return name if name and calls[name] * 2 > cost else ""
