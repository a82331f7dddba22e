"""Which one-token change of the program makes it pass; whet tries each in a clean room."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from whet.core.budget import OutOfTimeError
from whet.core.errors import WhetError
from whet.core.observations.clue import Clue, Placing
from whet.core.outcome import Outcome
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.experiments.changes import MOST_BYTES
from whet.evidence.experiments.single_changes import LESS_LIKELY, RARE
from whet.evidence.experiments.variations import (
    Variation,
    deciding_lines,
    variations_of,
)
from whet.evidence.provenance.way import Way
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.trials.reproduce import Baseline

_MOST_RUNS = 240
_TIMES_FAILURE, _MORE_SECONDS = 15, 6.0
"""The time limit for all runs: this many times the failing run's, plus this much."""
_MOST_PLACES = 60
_MOST_TOLD = 4

Run = Callable[[AgentTasks], tuple[int, Outcome]]
_Place = tuple[str, int]


@value_class(kw_only=True)
class Varied:
    """What small changes have told.

    Attributes:
        likely: lines of which a change that engineers often forget lets the command pass.
        others: lines of which another change does.
    """

    likely: tuple[Clue, ...] = ()
    others: tuple[Clue, ...] = ()


def vary(baseline: Baseline, way: Way, run: Run, at: Placing) -> Varied:
    """Return the lines of which a change of one token, operand or line lets the command pass.

    That ties a line to the failure, and no more: a change may also hide what another line does.

    Args:
        baseline: what fails; a failure that comes only sometimes would go on its own.
        way: the lines that may be wrong.
        run: runs the command contained; returns the trial's number and what it did.
        at: says where a line is.
    """
    if not baseline.reproduction.is_deterministic:
        return Varied()
    # Where no wanted value is stated, to leave something out may only skip the check.
    most = RARE if way.is_exact else LESS_LIKELY
    offered = [each for each in _candidates(way) if each[1].rank <= most]
    candidates = sorted(offered, key=lambda each: each[1].order)[:_MOST_RUNS]
    if not candidates:
        return Varied()
    path = candidates[0][0]
    try:
        control, outcome = run(AgentTasks(edit=(path, text_to_change(path))))
    except WhetError:  # this machine has no such room
        return Varied()
    if baseline.oracle.judge(outcome) is not Verdict.BAD:
        return Varied()
    passing = _passing(baseline, candidates, run)
    likeliest = sorted(passing.items(), key=lambda each: (each[1][0][1].order, -len(each[1])))
    if len(likeliest) > _MOST_TOLD:  # whatever is changed, it passes: only what is likely tells
        least = likeliest[0][1][0][1].rank
        likeliest = [each for each in likeliest if each[1][0][1].rank == least]
    if len(likeliest) > _MOST_TOLD:
        return Varied()
    split: tuple[list[Clue], list[Clue]] = ([], [])
    for place, found in likeliest:
        best = found[0][1]
        split[best.is_offset or best.rank > LESS_LIKELY].append(_clue(place, found, control, at))
    return Varied(likely=tuple(split[0]), others=tuple(split[1]))


def _passing(
    baseline: Baseline, candidates: Sequence[tuple[str, Variation]], run: Run
) -> dict[_Place, list[tuple[int, Variation]]]:
    """Return the changes with which the command passes, by their lines."""
    seconds = baseline.reproduction.wall_seconds
    until = time.monotonic() + seconds * _TIMES_FAILURE + _MORE_SECONDS
    passing: dict[_Place, list[tuple[int, Variation]]] = {}
    for path, variation in candidates:
        if time.monotonic() + seconds > until:
            break
        try:
            number, outcome = run(AgentTasks(edit=(path, variation.text)))
        except OutOfTimeError:
            break
        if baseline.oracle.judge(outcome) is Verdict.GOOD:
            passing.setdefault((path, variation.line), []).append((number, variation))
    return passing


def _clue(place: _Place, found: list[tuple[int, Variation]], control: int, at: Placing) -> Clue:
    path, line = place
    number, best = found[0]
    also = f", as with {len(found) - 1} more changes of that line" if len(found) > 1 else ""
    return Clue(
        says=f"with `{best.new}` instead of `{best.old}` at {at(path, line)} the command passes",
        why=f"trial {number} ran with that change and passed{also}; trial {control} ran without it"
        " and failed",
        path=path,
        line=line,
        trials=(number, control),
        next_step=f"check {at(path, line)}: did you mean `{best.new}` there?",
    )


def _candidates(way: Way) -> Iterator[tuple[str, Variation]]:
    places = [place for place in way.places if place != way.failing][:_MOST_PLACES]
    for path in dict.fromkeys(path for path, _ in places):
        text = text_to_change(path)
        if not path.endswith(".py") or not text:
            continue
        active = way.active.get(path, set())
        fixed = deciding_lines(text, active)
        lines = [line for other, line in places if other == path]
        for each in variations_of(text, lines, fixed, partial(way.kind_of, path)):
            yield path, each


def text_to_change(path: str) -> str:
    """Return a module's text; empty: it can't be read, or is too long to be run with a change."""
    with suppress(OSError, UnicodeDecodeError):
        text = Path(path).read_bytes()
        return text.decode() if len(text) < MOST_BYTES and b"\0" not in text else ""
    return ""
