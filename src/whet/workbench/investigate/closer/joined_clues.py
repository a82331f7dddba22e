"""Clues put together: those of one line are one, and each step is told once."""

from collections.abc import Sequence
from dataclasses import replace

from whet.core.observations.clue import Clue, Sureness, TrailStep

ORDER = (Sureness.SHOWN, Sureness.SEEN, Sureness.POSSIBLE)


def together(clues: Sequence[Clue], traced: Sequence[Clue]) -> list[Clue]:
    """Return all clues; where one points at the line that a value's way leads to, the way is told.

    What was seen there ties the line to the failure, so that the way is as firm as that.
    """
    joined_clues, ways = list[Clue](), list(traced)
    for each in clues:
        same = [n for n, one in enumerate(ways) if (one.path, one.line) == (each.path, each.line)]
        if not same:
            joined_clues.append(each)
            continue
        for number in same:
            one = ways[number]
            firmest = min([each, one], key=lambda any_: ORDER.index(any_.sureness)).sureness
            trials = tuple(dict.fromkeys([*each.trials, *one.trials]))
            more = () if each.sureness is Sureness.SHOWN else (TrailStep(says=each.says),)
            ways[number] = replace(one, sureness=firmest, trials=trials, trail=(*one.trail, *more))
            if each.sureness is Sureness.SHOWN:
                joined_clues.append(replace(each, trials=trials))
    return [*joined_clues, *ways]


def each_once(clues: Sequence[Clue]) -> list[Clue]:
    """Return the clues without those that point at a line that another one points at."""
    by_place: dict[tuple[str, int], Clue] = {}
    for each in clues:
        by_place.setdefault((each.path, each.line) if each.path else (each.says, 0), each)
    return list(by_place.values())


def each_step_once(clues: Sequence[Clue]) -> list[Clue]:
    """Return the clues without the steps that one before them tells already."""
    earlier_steps: set[TrailStep] = set()
    result: list[Clue] = []
    for each in clues:
        steps = [step for step in dict.fromkeys(each.trail) if step not in earlier_steps]
        earlier_steps.update(steps)
        result.append(replace(each, trail=tuple(steps)))
    return result
