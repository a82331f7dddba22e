"""Clues put together: those of one line are one, and each step is told once."""

from collections.abc import Sequence
from dataclasses import replace

from whet.core.observations.clue import Clue, Mention, Sureness, TrailStep
from whet.workbench.investigate.experiments.varied import Varied
from whet.workbench.investigate.traces.origins import Origins

LEADING = frozenset({Mention.DROPPED, Mention.NEARER})
ORDER = (Sureness.SHOWN, Sureness.SEEN, Sureness.POSSIBLE)


def in_order(clues: Sequence[Clue]) -> list[Clue]:
    """Return the clues, the surest first; of those as sure, what was dropped or stands behind the error."""
    return sorted(clues, key=lambda each: (ORDER.index(each.sureness), not LEADING & each.mentions))


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
        leads = bool(LEADING & each.mentions)
        for number in same:
            one = ways[number]
            firmest = min([each, one], key=lambda any_: ORDER.index(any_.sureness)).sureness
            trials = tuple(dict.fromkeys([*each.trials, *one.trials]))
            is_told = leads or each.sureness is Sureness.SHOWN
            more = () if is_told else (TrailStep(says=each.says),)
            ways[number] = replace(one, sureness=firmest, trials=trials, trail=(*one.trail, *more))
            if is_told:
                trail = each.trail or (one.trail if leads else ())
                joined_clues.append(replace(each, trials=trials, trail=trail))
    return [*joined_clues, *ways]


def on_the_way(clue: Clue, origins: Origins) -> Clue:
    """Return the clue of an error that was dropped, firmer where the bad value came from its handler."""
    if Mention.CAUGHT not in clue.mentions or (clue.path, clue.line) not in origins.fallbacks:
        return clue
    says = f"{clue.says}, and the value that failed comes from what the program did instead"
    return replace(clue, says=says, sureness=Sureness.SEEN)


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


def with_last(clues: Sequence[Clue], last: Sequence[Clue]) -> list[Clue]:
    """Return the clues with the least likely ones, but for those of lines that others point at."""
    places = {(each.path, each.line) for each in clues}
    return [*clues, *(each for each in last if (each.path, each.line) not in places)]


def with_changes(
    varied: Varied, clues: list[Clue], records: list[Clue], *, clues_first: bool
) -> list[Clue]:
    """Return the clues with what the runs with small changes, and those without a record, told.

    Args:
        varied: the lines of which a change lets the command pass; no cause.
        clues: the others, the likeliest first.
        records: the records without which it passes.
        clues_first: the others say what is wrong, and much passes what was checked.
    """
    likely = [_with_way(each, clues) for each in varied.likely]
    places = {(each.path, each.line) for each in records}
    is_other = any(each.record and places.isdisjoint(each.records) for each in clues)
    if is_other and (clues_first or len(records) > 1):
        # A run without a record says more of it than where a value was read.
        clues, records = [*records, *clues], []
    if len(records) == 1 or (records and Mention.TWIN in records[0].mentions):
        likely = [*records, *likely]
        records = []
    leads = varied.is_on_the_way or varied.is_together
    if clues_first and (not leads or _agree_on_a_record([*clues, *records])):
        return [*clues, *likely, *records, *varied.others]
    return [*likely, *clues, *records, *varied.others]


def _agree_on_a_record(clues: Sequence[Clue]) -> bool:
    """Whether a record stands out among others, and a clue of its own tells what passes with it changed."""
    odd = [place for each in clues if Mention.OTHERS in each.mentions for place in each.records]
    # Some tell their file as the command names it.
    return any(
        line == each.line and f"/{path}".endswith(f"/{each.path}")
        for each in clues
        for path, line in odd
        if each.path
    )


def _with_way(change: Clue, clues: Sequence[Clue]) -> Clue:
    """Return a change with the way that another clue tells of the same line; a way to a record stays there."""
    place = change.path, change.line
    ways = (each.trail for each in clues if (each.path, each.line) == place and not each.record)
    return replace(change, trail=change.trail or next(filter(None, ways), ()))
