"""Which run tells most about who is to blame, as information by Shannon (1948).

The expected drop of the entropy over the suspects, if a version is run once, is what isn't
known of its outcome less what would not be known of it even if the culprit were known. Along
a stretch of suspects of one class both the chance of a failure and the second term grow by the
same step with each version, so that the best of a stretch is found without trying each. Several
runs at once are chosen one after the other, each as the best on average over the outcomes that
those before it may have.
"""

import math
from collections.abc import Callable, Iterator, Sequence

from whet.core.value_class import value_class
from whet.search.flaky.suspicion import SuspectClass, Suspicion

_TOLD_ENOUGH = 1e-9
"""A run with less information than this (in nats) isn't worth making."""

_NEGLIGIBLE = 1e-12
_MOST_OUTCOMES = 8
"""The number of outcomes of a batch that whet considers, the likeliest."""


@value_class
class _Outcome:
    """What may be known after the runs chosen so far.

    Attributes:
        chance: that it comes to this.
        base: chance of a failure of a version that no suspect reaches, and what stays unknown.
        steps: by how much each suspect of a class changes both.
        heavy: members and steps of the classes that aren't negligible.
        masses: the probability of each class.
    """

    chance: float
    base: tuple[float, float]
    steps: Sequence[tuple[float, float]]
    heavy: Sequence[tuple[int, float, float]]
    masses: Sequence[float]


@value_class
class Question:
    """A version that is worth a run, and how much that tells a second.

    Attributes:
        position: the version.
        worth: expected information for each second.
    """

    position: int
    worth: float


def most_telling(
    suspicion: Suspicion,
    count: int,
    is_askable: Callable[[int], bool],
    seconds: Callable[[int], float],
) -> list[int]:
    """Return up to ``count`` versions whose runs together tell most; one may stand there twice.

    Args:
        suspicion: what is known.
        count: how many runs go at once.
        is_askable: whether a version may be run.
        seconds: how long its run takes.
    """
    chosen: list[int] = []
    masses: list[tuple[float, list[float]]] = [
        (1.0, [each.probability for each in suspicion.classes])
    ]
    while len(chosen) < count:
        outcomes = [_outcome(chance, mass, suspicion.classes) for chance, mass in masses]
        best = _best(suspicion, outcomes, is_askable, seconds)
        if best is None or best.worth * seconds(best.position) <= _TOLD_ENOUGH:
            break
        chosen.append(best.position)
        if len(chosen) < count:
            masses = _after(suspicion, best.position, masses)
    return chosen


def _outcome(chance: float, masses: Sequence[float], classes: Sequence[SuspectClass]) -> _Outcome:
    fails = unknown = 0.0
    steps: list[tuple[float, float]] = []
    for mass, each in zip(masses, classes, strict=True):
        unknown_if_good = _entropy(each.fails_if_good)
        fails += mass * each.fails_if_good
        unknown += mass * unknown_if_good
        share = mass / each.size
        steps.append(
            (
                share * (each.fails_if_bad - each.fails_if_good),
                share * (_entropy(each.fails_if_bad) - unknown_if_good),
            )
        )
    heavy = [
        (each.members, *step)
        for each, step, mass in zip(classes, steps, masses, strict=True)
        if mass > _NEGLIGIBLE
    ]
    return _Outcome(chance, (fails, unknown), steps, heavy, masses)


def _after(
    suspicion: Suspicion, position: int, masses: Sequence[tuple[float, list[float]]]
) -> list[tuple[float, list[float]]]:
    """Return what may be known after one more run; the rates are thought to stay as they are."""
    before = suspicion.classes
    inside = suspicion.cut(position)
    classes = suspicion.classes
    found: list[tuple[float, list[float]]] = []
    for chance, mass in masses:
        spread = _spread(mass, before, classes)
        fails = [
            each.fails_if_bad if each.members & inside else each.fails_if_good for each in classes
        ]
        for likely in (fails, [1 - each for each in fails]):
            weights = [one * two for one, two in zip(spread, likely, strict=True)]
            total = math.fsum(weights)
            if chance * total > _NEGLIGIBLE:
                found.append((chance * total, [each / total for each in weights]))
    found.sort(key=lambda each: -each[0])
    return found[:_MOST_OUTCOMES]


def _spread(
    masses: Sequence[float], before: Sequence[SuspectClass], classes: Sequence[SuspectClass]
) -> list[float]:
    """Return the masses of classes that were cut, each part with its share.

    A class that was cut stays the same object, behind its new part.
    """
    by_class = {id(each): mass for each, mass in zip(before, masses, strict=True)}
    found: list[float] = []
    rest: SuspectClass | None = None
    for each in classes:
        mass = by_class.get(id(each))
        if mass is None:
            rest = each
            continue
        if rest is not None:
            found.append(mass * rest.size / (rest.size + each.size))
            mass -= found[-1]
            rest = None
        found.append(mass)
    return found


def _best(
    suspicion: Suspicion,
    outcomes: Sequence[_Outcome],
    is_askable: Callable[[int], bool],
    seconds: Callable[[int], float],
) -> Question | None:
    best: Question | None = None
    for strand, below in enumerate(suspicion.below()):
        for position, worth in _worths(suspicion, strand, below, outcomes, is_askable):
            a_second = worth / seconds(position)
            if best is None or a_second > best.worth:
                best = Question(position, a_second)
    return best


def _worths(
    suspicion: Suspicion,
    strand: int,
    below: int,
    outcomes: Sequence[_Outcome],
    is_askable: Callable[[int], bool],
) -> Iterator[tuple[int, float]]:
    """Yield the versions of a strand that may be the best, each with the information expected."""
    reached = [_moved(each, below) for each in outcomes]
    members = suspicion.strands.members[strand]
    for number, start, length in suspicion.segments(strand):
        each = suspicion.classes[number]
        steps = [outcome.steps[number] for outcome in outcomes]
        wanted = {length}
        if each.probability > _NEGLIGIBLE:
            wanted.add(1)
            for at, step in zip(reached, steps, strict=True):
                wanted.update(_optimum(at, step, length))
        stretch = members[start : start + length]
        for place in _askable_near(wanted, stretch, is_askable):
            worth = 0.0
            for outcome, (fails, unknown), step in zip(outcomes, reached, steps, strict=True):
                told = _entropy(fails + place * step[0]) - unknown - place * step[1]
                worth += outcome.chance * told
            yield stretch[place - 1], worth
        reached = [
            (fails + length * step[0], unknown + length * step[1])
            for (fails, unknown), step in zip(reached, steps, strict=True)
        ]


def _moved(outcome: _Outcome, below: int) -> tuple[float, float]:
    """Return the base of a strand: what those below it add."""
    fails, unknown = outcome.base
    if below:
        for members, more_fails, more_unknown in outcome.heavy:
            count = (members & below).bit_count()
            fails += count * more_fails
            unknown += count * more_unknown
    return fails, unknown


def _optimum(at: tuple[float, float], step: tuple[float, float], length: int) -> Iterator[int]:
    """Yield the places around the best one of a stretch, where the derivative is zero."""
    if abs(step[0]) < _NEGLIGIBLE:
        return
    slope = min(max(step[1] / step[0], -50.0), 50.0)
    place = math.floor((1 / (1 + math.exp(slope)) - at[0]) / step[0])
    for each in (place, place + 1):
        if 1 <= each <= length:
            yield each


def _askable_near(
    wanted: set[int], stretch: Sequence[int], is_askable: Callable[[int], bool]
) -> Iterator[int]:
    """Yield the wanted places of a stretch, instead of those that may not be run the nearest."""
    for place in sorted(wanted):
        if is_askable(stretch[place - 1]):
            yield place
            continue
        for others in (range(place - 1, 0, -1), range(place + 1, len(stretch) + 1)):
            near = next((each for each in others if is_askable(stretch[each - 1])), None)
            if near is not None:
                yield near


def _entropy(chance: float) -> float:
    """Return the entropy of an outcome, in nats."""
    if chance <= 0 or chance >= 1:
        return 0.0
    return -chance * math.log(chance) - (1 - chance) * math.log1p(-chance)
