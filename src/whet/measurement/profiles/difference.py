"""What two profiles of two versions differ in, on the user's own lines."""

from collections.abc import Mapping
from dataclasses import field

from whet.core.failure import Frame
from whet.core.observations.profile import CPU_SECONDS, Profile
from whet.core.value_class import value_class
from whet.measurement.profiles.line_table import innermost_own, leading_processes, waits_by_line

Place = tuple[str, str]
"""File and function: a line moves when the code above it changes, a function keeps its name."""


@value_class(kw_only=True)
class LineDifference:
    """What one function of the user's own costs before and after.

    Attributes:
        path: its file, as it is after; before, if it isn't there any more.
        function: its name.
        line: its most expensive line after; before, if it isn't there any more.
        before: what it cost, in the unit of the profiles, for one run.
        after: what it costs.
        uncertainty: half the width of the 95 % interval of the change that sampling alone leaves
            open; 0: the profiler doesn't sample.
    """

    path: str
    function: str
    line: int
    before: float
    after: float
    uncertainty: float = 0.0

    @property
    def change(self) -> float:
        """By how much it costs more."""
        return self.after - self.before

    @property
    def is_sure(self) -> bool:
        """Whether the change is more than sampling explains."""
        return abs(self.change) > self.uncertainty


@value_class(kw_only=True)
class ProfileDifference:
    """Where two profiles differ.

    Attributes:
        unit: of the costs.
        before: what all of it cost.
        after: what all of it costs.
        lines: the largest change first.
    """

    unit: str
    before: float
    after: float
    lines: tuple[LineDifference, ...]

    @property
    def sure(self) -> tuple[LineDifference, ...]:
        """The changes that are more than sampling explains, the largest first."""
        return tuple(each for each in self.lines if each.is_sure)


@value_class(kw_only=True)
class _Costs:
    by_place: dict[Place, float] = field(default_factory=dict[Place, float])
    by_line: dict[Frame, float] = field(default_factory=dict[Frame, float])

    def add(self, place: Frame, cost: float) -> None:
        """Add to what a line and its function cost."""
        key = (place.path, place.function)
        self.by_place[key] = self.by_place.get(key, 0.0) + cost
        self.by_line[place] = self.by_line.get(place, 0.0) + cost


_SIGMAS = 1.96


def difference(before: Profile, after: Profile, *, with_waits: bool = True) -> ProfileDifference:
    """Return what two profiles of one program differ in, function by function.

    Args:
        before: the first version.
        after: the second one.
        with_waits: time in which the main thread waits counts, too; only for times.
    """
    counts_waits = with_waits and before.unit == CPU_SECONDS
    one, other = _costs(before, waits=counts_waits), _costs(after, waits=counts_waits)
    lines: list[LineDifference] = []
    for path, function in dict.fromkeys([*one.by_place, *other.by_place]):
        place = (path, function)
        costs = other if place in other.by_place else one
        was, now = one.by_place.get(place, 0.0), other.by_place.get(place, 0.0)
        lines.append(
            LineDifference(
                path=path,
                function=function,
                line=_line(costs.by_line, place),
                before=was,
                after=now,
                uncertainty=_uncertainty(before, was, after, now),
            )
        )
    lines.sort(key=lambda each: (-abs(each.change), each.path, each.function))
    return ProfileDifference(
        unit=before.unit,
        before=sum(one.by_place.values()),
        after=sum(other.by_place.values()),
        lines=tuple(lines),
    )


def _costs(profile: Profile, *, waits: bool) -> _Costs:
    costs = _Costs()
    for stack in profile.stacks:
        place = innermost_own(profile.lines_of(stack))
        if place is not None:
            costs.add(place, stack.number(profile.unit))
    if waits:
        for place, seconds in waits_by_line(profile, leading_processes(profile)).items():
            costs.add(place, seconds)
    return costs


def _line(by_line: Mapping[Frame, float], place: Place) -> int:
    lines = {
        each.line: cost for each, cost in by_line.items() if (each.path, each.function) == place
    }
    return max(lines, key=lambda each: lines[each], default=0)


def _uncertainty(before: Profile, was: float, after: Profile, now: float) -> float:
    """Return how far a change of this size may come from when the profilers happened to look.

    The looks at a function are counts, whose variance is their number; one look more, so that
    a function which was seen once on one side alone is no sure change.
    """
    if not before.rate or not after.rate:
        return 0.0
    variance = (was * before.rate + 1) / before.rate**2 + (now * after.rate + 1) / after.rate**2
    return float(_SIGMAS * variance**0.5)
